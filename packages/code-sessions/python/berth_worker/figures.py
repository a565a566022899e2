"""Figures of matplotlib, where the caller's code has imported it: shown as PNG at the end of the call, then closed."""
import io
import sys


def show_figures(capture):
    pyplot = sys.modules["matplotlib.pyplot"]
    numbers = pyplot.get_fignums()
    if not numbers:
        return
    from berth_worker.display import display

    for number in numbers:
        figure = pyplot.figure(number)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight")
        display([{"image/png": picture.getvalue(), "text/plain": repr(figure)}], True, capture)
    pyplot.close("all")

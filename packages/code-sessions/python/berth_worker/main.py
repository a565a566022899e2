"""Puts the worker together: descriptors first, then the threads, then cells in the main thread for ever."""
import _thread
import builtins
import os
import sys

from berth_worker.capture import Capture
from berth_worker.cells import Cells
from berth_worker.channel import Channel
from berth_worker.descriptors import take_descriptors
from berth_worker.outbox import Outbox


def serve(settings, scan):
    """Never returns."""
    taken = take_descriptors()
    outbox = Outbox(taken.channel, settings["frameBytes"])
    capture = Capture(taken, outbox, settings)
    cells = Cells(settings, capture, outbox, _fresh_main())
    channel = Channel(taken, scan, outbox, cells, settings)

    def left():
        """In a forked child: it has its own memory of the channel, and must never speak on it."""
        taken.forget()
        capture.is_child = True

    os.register_at_fork(after_in_child=left)
    _thread.start_new_thread(capture.pump, ())
    outbox.notify("ready", {"python": sys.version.split()[0]})
    _thread.start_new_thread(channel.read_while_running, ())
    cells.serve(channel)


def _fresh_main():
    """The module that the caller's code lives in: it can be pickled from, and holds nothing of ours."""
    main = type(sys)("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    sys.argv = [""]
    return main

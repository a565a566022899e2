"""What needs somebody at a keyboard, and warnings that say nothing to the caller."""
import _warnings


def refuse_input(prompt="", /):
    raise RuntimeError("input() is not available: nobody sits at this session. Give the value in the code.")


def refuse_breakpoint(*args, **kwargs):
    raise RuntimeError("breakpoint() is not available: nobody sits at this session. Print what you want to see.")


class _Containing:
    """In the place of a compiled pattern: `re` takes longer to import than this file."""

    def __init__(self, text):
        self._text = text

    def match(self, message):
        return self._text in message


def silence():
    """Figures are shown at the end of the call, and the worker's own threads hold no locks that a fork would miss."""
    filters = _warnings.filters
    filters.insert(0, ("ignore", _Containing("non-interactive"), UserWarning, None, 0))
    filters.insert(0, ("ignore", _Containing("is multi-threaded, use of fork"), DeprecationWarning, None, 0))

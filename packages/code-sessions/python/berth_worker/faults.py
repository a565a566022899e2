"""An exception of the caller's code, as a person wants to read it: frames of that code and below, none of ours."""
import sys
import traceback

_MAX_NAME = 1_000
_MAX_MESSAGE = 65_536
_MAX_TRACEBACK = 262_144
_OURS = "<berth_worker"


def describe(error, colours):
    limit = sys.getrecursionlimit()
    if limit < 1_000:
        sys.setrecursionlimit(1_000)
    try:
        told = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
        for one in _chain(told, set()):
            _clean(one)
        text = "".join(told.format())
        if colours:
            text = _coloured(text)
        name = str.__str__(str(type(error).__name__))[:_MAX_NAME]
        return {"name": name, "message": _cut(_message(error), _MAX_MESSAGE), "traceback": _cut(text, _MAX_TRACEBACK)}
    finally:
        sys.setrecursionlimit(limit)


def _message(error):
    try:
        return str.__str__(str(error))
    except Exception as fault:
        return f"<its message cannot be shown: {type(fault).__name__}>"


def _chain(told, seen):
    """It, what it came from, and what it groups."""
    waiting = [told]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())]


def _clean(told):
    if told.stack is None:
        return
    told.stack[:] = [frame for frame in told.stack if not frame.filename.startswith(_OURS)]
    if not told.stack:
        told.stack = None  # no heading over nothing, as with a syntax error


def _cut(text, limit):
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def _coloured(text):
    import re

    place = re.compile(r'^(\s*File )(".*?")(, line )(\d+)(.*)$', re.M)
    text = place.sub("\\1\033[32m\\2\033[0m\\3\033[36m\\4\033[0m\\5", text)
    return re.sub(r"^([A-Za-z_][\w.]*)(?=:|$)(?!.*most recent call)", "\033[1;31m\\1\033[0m", text, flags=re.M)

"""Control frames: one JSON object a line. From the host any JSON; to the host only what is built here."""

import os

# An argument list and an environment at the kernel's own bound fit in; the host checks its side as well.
MAX_LINE_BYTES = 8 * 1024 * 1024


class FrameReader:
    """Cuts what the host sends into lines."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scan = make_scanner()

    def feed(self, chunk: bytes) -> list:
        """The frames that this chunk completes, in order."""
        self._buffer += chunk
        if b"\n" not in chunk:
            if len(self._buffer) > MAX_LINE_BYTES:
                raise ValueError("control frame too long")
            return []
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        return [self._scan(line.decode("utf-8")) for line in lines if line]


def make_scanner():
    """`json.loads` without importing `json`, which costs 12 ms; its own C scanner is there without it."""
    try:
        import _json

        scan = _json.make_scanner(ScanTerms())
        scan('{"a":[1,"\\u00e4",true,null]}', 0)
        return lambda text: scan(text, 0)[0]
    except Exception:  # another interpreter, or a later version that wants more: then the documented way
        import json

        return json.loads


class ScanTerms:
    """What `_json.make_scanner` reads from a JSONDecoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict = {}


def write_frame(text: str) -> None:
    """Wholly, also when the pipe is full; the deadline's signal interrupts even that."""
    view = memoryview(text.encode("ascii") + b"\n")
    while view:
        view = view[os.write(1, view) :]

"""Frames on their way out: JSON-RPC 2.0 messages, one a line.

The pump thread writes, and the main thread once a cell is over. While the caller's code runs, a signal may interrupt the
main thread between any two of its steps, and half a frame would be the end of the session.
"""
import _thread
import os
from _collections import deque
from _json import encode_basestring, make_encoder
from posix import _exit


def _refuse(value):
    raise TypeError(f"{type(value).__name__} is not sent")


_encode = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, True)


class Outbox:
    def __init__(self, channel, frame_bytes):
        self._channel = channel
        self._frame_bytes = frame_bytes
        self._frames = deque()
        self._sending = _thread.allocate_lock()
        #: Set by the capture, which owns the thread that sends.
        self.wake = lambda: None

    def notify(self, method, params):
        """False, and nothing sent, when the frame is over the host's limit."""
        if not self._put({"jsonrpc": "2.0", "method": method, "params": params}):
            return False
        self.wake()
        return True

    def answer(self, call, result):
        self._put_answer(call, result)
        self.wake()

    def answer_now(self, call, result):
        """Past the pump, whose waking takes longer than the rest. Only where signals are held: half a frame must not be left."""
        self._put_answer(call, result)
        self.send()

    def fail(self, call, code, message):
        self._put_failure(call, code, message)
        self.wake()

    def _put_answer(self, call, result):
        if not self._put({"jsonrpc": "2.0", "id": call, "result": result}):
            self._put_failure(call, "TOO_LARGE", "the answer is larger than a frame may be")

    def _put_failure(self, call, code, message):
        error = {"code": -32000, "message": message[:2_000], "data": {"reason": code}}
        self._put({"jsonrpc": "2.0", "id": call, "error": error})

    def _put(self, message):
        # `replace`: a lone surrogate has no UTF-8.
        frame = ("".join(_encode(message, 0)) + "\n").encode("utf-8", "replace")
        if len(frame) > self._frame_bytes:
            return False
        self._frames.append(frame)
        return True

    @property
    def is_empty(self):
        return not self._frames

    def send(self):
        """Blocks while the host does not read; a host that is gone ends the worker."""
        with self._sending:
            while self._frames:
                rest = memoryview(self._frames[0])
                try:
                    while rest:
                        rest = rest[os.write(self._channel, rest) :]
                except BaseException:  # the host is gone; or half a frame has left, and nothing may follow it
                    _exit(0)
                self._frames.popleft()  # only now: `is_empty` says that all has left

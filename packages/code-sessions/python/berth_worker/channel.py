"""What the host says. Read by a thread of its own, so that it is heard while code runs."""
import os
from _signal import SIG_BLOCK, pthread_sigmask, valid_signals
from posix import _exit

_CHUNK = 262_144


class Channel:
    def __init__(self, channel, scan, outbox, cells, settings):
        self._channel = channel
        self._scan = scan
        self._outbox = outbox
        self._cells = cells
        self._settings = settings

    def read(self):
        """Until the host is gone; then so is the worker."""
        pthread_sigmask(SIG_BLOCK, valid_signals())  # they are the main thread's
        held = bytearray()
        try:
            while True:
                chunk = os.read(self._channel, _CHUNK)
                if not chunk:
                    break
                held += chunk
                if b"\n" not in chunk:
                    continue
                *lines, rest = bytes(held).split(b"\n")
                held = bytearray(rest)
                for line in lines:
                    message, _ = self._scan(line.decode(), 0)
                    self._take(message.get("id"), message["method"], message.get("params"))
        finally:
            _exit(0)

    def _take(self, call, method, params):
        if method == "execute":
            self._cells.submit(call, params)
        elif method == "interrupt":
            self._cells.interrupt(params["call"])
        else:
            self._answer(call, method, params)

    def _answer(self, call, method, params):
        try:
            if method == "variables":
                from berth_worker.variables import list_variables

                result = list_variables(self._cells.namespace)
            else:
                from berth_worker.files import answer

                result = answer(self._settings, method, params)
        except BaseException as error:
            self._outbox.fail(call, getattr(error, "reason", "FAILED"), f"{error}" or type(error).__name__)
        else:
            self._outbox.answer(call, result)

"""What the host says.

The main thread reads it while nothing runs: a hand-over to it would cost more than a small cell does. While a cell runs, a
thread of its own does, so that the host is heard then too. That thread sleeps on a set of descriptors which holds the
channel only while a cell runs: neither the begin of a cell nor its end has to wake it, nor what the host says to its answer.
"""
import _thread
from _collections import deque
from _signal import SIG_BLOCK, pthread_sigmask, valid_signals
from posix import _exit, read
from select import EPOLLIN

#: Below what the C library maps and unmaps anew for each read.
_CHUNK = 65_536
#: Exceptions in the main thread since the host was last understood. A handler's cost nothing; a channel that is broken ends it.
_MAX_FAULTS = 1_000


class Channel:
    def __init__(self, taken, scan, outbox, cells, settings):
        self._channel = taken.channel
        self._while_running = taken.while_running
        self._scan = scan
        self._outbox = outbox
        self._cells = cells
        self._settings = settings
        #: One thread reads at a time.
        self._turn = _thread.allocate_lock()
        self._chunks = deque()
        self._messages = deque()
        self._faults = 0
        self._is_handed = False

    def read_while_running(self):
        """The thread."""
        pthread_sigmask(SIG_BLOCK, valid_signals())  # they are the main thread's
        try:
            while True:
                self._while_running.poll()
                with self._turn:
                    # Once more: the cell may have ended in the meantime, and with it this thread's part.
                    if self._while_running.poll(0):
                        self._read()
        finally:
            _exit(0)

    # In the main thread.

    def hand_over(self):
        """To the thread, as a cell begins."""
        self._is_handed = True
        try:
            self._while_running.register(self._channel, EPOLLIN)
        except FileExistsError:
            pass
        except OSError:  # the caller's code has closed it: no interrupt could be heard any more
            _exit(0)

    def take_back(self):
        """From the thread, before the answer leaves: what the host says to that would wake it."""
        if not self._is_handed:
            return
        try:
            self._while_running.unregister(self._channel)
        except OSError:
            pass  # it was not there yet, or not any more
        self._is_handed = False

    def read_until(self, is_enough):
        """Reads here, between cells. What rises comes from a signal handler of the caller's code, and costs nothing of what was said."""
        try:
            self.take_back()
            with self._turn:
                while not is_enough():
                    self._read()
        except Exception:
            self._faults += 1
            if self._faults > _MAX_FAULTS:
                _exit(0)
            raise

    def _read(self):
        """One piece, and what is whole with it. Until the host is gone; then so is the worker."""
        if not (self._chunks and b"\n" in self._chunks[-1]):  # else what rose came between the two
            # No step of Python's between the read and the keeping: a handler that raises there would lose what was read.
            self._chunks.extend(map(read, (self._channel,), (_CHUNK,)))
            if not self._chunks[-1]:
                _exit(0)
        if b"\n" in self._chunks[-1]:
            *lines, rest = b"".join(self._chunks).split(b"\n")
            said, kept = deque(self._messages), deque((rest,))
            for line in lines:
                said.append(self._scan(line.decode(), 0)[0])
            self._messages, self._chunks = said, kept
            self._faults = 0
        while self._messages:
            message = self._messages.popleft()
            self._take(message.get("id"), message["method"], message.get("params"))

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

"""stdout and stderr of everything in this process and below it, in the order in which it came.

Descriptors 1 and 2 are pipes, so that prints, writes of C libraries and of children take the same way. A thread reads
both. When the caller's code turns from one stream to the other, what the first still holds is read before (`turn`):
prints are interleaved exactly. What children write to both at once is in the order in which the pump saw it.
"""
import io
import os
from _codecs import utf_8_decode
from _signal import SIG_BLOCK, pthread_sigmask, valid_signals
from _thread import RLock
from select import POLLIN, poll
from time import sleep

_CHUNK = 65_536
#: A smaller read is followed by a pause, so that many small writes leave as one frame.
_SMALL = 16_384
_PAUSE_MS = 4
#: What comes while no call runs is told with the next one, as far as this.
_LATE_BYTES = 65_536
_MAX_DISPLAYS = 1_000


class Capture:
    def __init__(self, descriptors, outbox, settings):
        self._descriptors = descriptors
        self._outbox = outbox
        self._settings = settings
        self._lock = RLock()
        self._last = 1
        self._call = None
        self._late = []
        self.is_child = False
        outbox.wake = self._wake
        self._reset()

    def _reset(self):
        self._partial = {1: b"", 2: b""}
        self._bytes = {1: 0, 2: 0}
        self._kept = {1: 0, 2: 0}
        self._history = []
        self._spill = None
        self.display_room = self._settings["maxDisplayBytes"]
        self.displays_dropped = 0
        self._displays = 0

    def _wake(self):
        try:
            os.write(self._descriptors.wake_writer, b"\0")
        except OSError:
            pass  # full: it is awake anyway

    def pump(self):
        """The thread: reads, and sends what others have put into the outbox."""
        pthread_sigmask(SIG_BLOCK, valid_signals())  # they are the main thread's
        everything, woken = poll(), poll()
        wake = self._descriptors.wake_reader
        for reader in (wake, *self._descriptors.readers.values()):
            everything.register(reader, POLLIN)
        woken.register(wake, POLLIN)
        while True:
            ready = {number for number, _ in everything.poll()}
            if wake in ready:
                os.read(wake, _CHUNK)
            with self._lock:
                size = self._read_round()
            self._outbox.send()
            if 0 < size < _SMALL:
                woken.poll(_PAUSE_MS)

    def _read_round(self):
        size = 0
        for stream, reader in self._descriptors.readers.items():
            try:
                chunk = os.read(reader, _CHUNK)
            except BlockingIOError:
                continue
            size += len(chunk)
            self._take(stream, chunk)
        return size

    def _drain(self):
        """All that was written before now. Bounded: a child may write on and on."""
        # Asked before it is read: a read that finds nothing makes an exception, and mostly there is nothing. Of its own: a
        # signal handler of the caller's code may come here in the midst of it.
        held = poll()
        for reader in self._descriptors.readers.values():
            held.register(reader, POLLIN)
        for _ in range(64):
            if not held.poll(0) or self._read_round() == 0:
                return

    def _take(self, stream, chunk):
        if self._call is None:
            room = _LATE_BYTES - sum(len(kept) for _, kept in self._late)
            if room > 0:
                self._late.append((stream, chunk[:room]))
            return
        self._bytes[stream] += len(chunk)
        room = self._settings["maxOutputBytes"] - self._kept[1] - self._kept[2]
        kept = chunk[:room]
        self._kept[stream] += len(kept)
        if kept:
            self._tell(stream, self._partial[stream] + kept, False)
        if self._spill is None:
            self._history.append(kept)
        if len(kept) < len(chunk):
            self._spill_over(chunk, len(kept))

    def _tell(self, stream, data, final):
        text, used = utf_8_decode(data, "replace", final)
        self._partial[stream] = data[used:]
        if text:
            self._outbox.notify("output", {"call": self._call, "stream": stream, "text": text})

    def _spill_over(self, chunk, kept):
        if self._spill is None:
            from berth_worker.spill import Spill

            self._spill = Spill(self._settings, self._call)
            for part in self._history:
                self._spill.write(part)
            self._history = []
            chunk = chunk[kept:]
        self._spill.write(chunk)

    def turn(self, stream):
        """The caller's code writes to another stream than before: what the one before holds comes first."""
        self._last = stream
        if self.is_child:
            return
        with self._lock:
            self._drain()

    def begin(self, call):
        """From now on output belongs to this call, also what came before it and was not read yet."""
        self._descriptors.restore()
        with self._lock:
            self._reset()
            self._call = call
            late, self._late = self._late, []
            for stream, chunk in late:
                self._take(stream, chunk)

    def show(self, kind, forms):
        """A display, after the output before it. Dropped and counted when there is no room left."""
        if self.is_child:
            return
        from berth_worker.forms import size_of

        size = size_of(forms, self.display_room)
        with self._lock:
            self._drain()
            told = 0 < size <= self.display_room and self._displays < _MAX_DISPLAYS and self._call is not None
            told = told and self._outbox.notify("display", {"call": self._call, "kind": kind, "data": forms})
            if told:
                self.display_room -= size
                self._displays += 1
            else:
                self.displays_dropped += 1

    def end(self):
        """All output of the call has been told; returns what the outcome says about it."""
        with self._lock:
            self._drain()
            for stream in (1, 2):
                if self._partial[stream]:
                    self._tell(stream, self._partial[stream], True)
            spill = self._spill and self._spill.close()
            said = {"stdoutBytes": self._bytes[1], "stderrBytes": self._bytes[2]}
            said.update(stdoutKept=self._kept[1], stderrKept=self._kept[2])
            said.update(spill=spill, displaysDropped=self.displays_dropped)
            self._call = None
            self._history = []
            return said

    def last_words(self):
        """What was said before the process ends by itself; waits until it has left, if the host listens."""
        if self.is_child:
            return
        with self._lock:
            self._drain()
        for _ in range(50):
            if self._outbox.is_empty:
                return
            sleep(0.004)

    def streams(self):
        """New `sys.stdout` and `sys.stderr`."""
        made = []
        for number, name in ((1, "<stdout>"), (2, "<stderr>")):
            raw = _Writer(number, "wb", closefd=False)
            raw.name, raw.capture = name, self
            # Never an error for text that has no UTF-8; whole lines or not, at once.
            made.append(io.TextIOWrapper(raw, "utf-8", "backslashreplace", newline="\n", write_through=True))
        return made


class _Writer(io.FileIO):
    """Descriptor 1 or 2."""

    def write(self, data):
        number = self.fileno()
        if self.capture._last != number:
            self.capture.turn(number)
        size = os.write(number, data)
        total = len(data)
        while size < total:  # a signal came in between
            size += os.write(number, memoryview(data)[size:])
        return total

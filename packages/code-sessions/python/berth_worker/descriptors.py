"""The channel out of reach of prints: descriptors 0 and 1 are one socket when the worker starts, and never afterwards."""
import os
from select import epoll

# Loops of daemons that close "all" descriptors often stop at 255 or 1023 in the process itself.
_HIGH = 1024


class Descriptors:
    """The private ends. All are close-on-exec; none is 0, 1 or 2."""

    def __init__(self, channel, outputs, inputs, wake):
        self.channel = channel
        #: By stream (1, 2): where our pump reads, and a spare of what the caller's code writes to.
        self.readers, self._writers = outputs, inputs
        self.wake_reader, self.wake_writer = wake
        made = epoll()
        #: What the channel's thread waits for.
        self.while_running = epoll.fromfd(_private(os.dup(made.fileno())))
        made.close()
        self._null = _private(os.open(os.devnull, os.O_RDWR))
        for number in (0, 1, 2):
            os.dup2(self._source(number), number)
        self._places = {number: _place(number) for number in (0, 1, 2)}

    def _source(self, number):
        return self._writers[number] if number else self._null

    def restore(self):
        """Before each cell: 0, 1 and 2 are what they were, whatever the cell before did to them."""
        for number in (0, 1, 2):
            if _place(number) != self._places[number]:
                os.dup2(self._source(number), number)
        for number in (1, 2):
            if not os.get_blocking(number):
                os.set_blocking(number, True)

    def forget(self):
        """In a forked child."""
        own = [self.channel, self.while_running.fileno(), self.wake_reader, self.wake_writer, *self.readers.values()]
        for number in own:
            try:
                os.close(number)
            except OSError:
                pass  # it was closed by the caller's code


def take_descriptors():
    """Duplicates the channel first, then takes it away from where everybody writes."""
    channel = _private(os.dup(0))
    readers, writers = {}, {}
    for stream in (1, 2):
        reader, writer = os.pipe()
        readers[stream], writers[stream] = _private(reader), _private(writer)
        os.set_blocking(readers[stream], False)
    wake_reader, wake_writer = (_private(end) for end in os.pipe())
    os.set_blocking(wake_reader, False)
    os.set_blocking(wake_writer, False)
    return Descriptors(channel, readers, writers, (wake_reader, wake_writer))


_taken = 0


def _private(number):
    """Moves it to a high number where there is room."""
    global _taken
    try:
        import fcntl

        moved = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _HIGH + _taken)
    except (ImportError, OSError, ValueError):
        return number  # the limit of open files is low: it stays where it is, close-on-exec all the same
    _taken += 1
    os.close(number)
    return moved


def _place(number):
    try:
        status = os.fstat(number)
    except OSError:
        return None
    return status.st_dev, status.st_ino

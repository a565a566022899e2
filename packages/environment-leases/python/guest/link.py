"""Bytes carried both ways between two descriptors, with bounded buffers and half-closes."""

import select

import _socket

MAX_BUFFER_BYTES = 65536


class SocketEnd:
    """One end that is a socket."""

    def __init__(self, stream: "_socket.socket") -> None:
        self._stream = stream
        self.descriptor = stream.fileno()
        stream.setblocking(False)

    def read(self, size: int) -> bytes:
        return self._stream.recv(size)

    def write(self, view) -> int:
        return self._stream.send(view)

    def finish(self) -> None:
        """Nothing more will be written."""
        self._stream.shutdown(_socket.SHUT_WR)

    def close(self) -> None:
        self._stream.close()


class Side:
    """One end, what waits to be written to it, and how far it has come."""

    def __init__(self, end) -> None:
        self.end = end
        self.waiting = bytearray()
        self.read_all = False
        self.finished = False


def link(agent, first, second, on_close=None) -> None:
    """Carries until both ways are done, or one end fails."""
    Link(agent, Side(first), Side(second), on_close).arm()


class Link:
    def __init__(self, agent, first: Side, second: Side, on_close) -> None:
        self._agent = agent
        self._sides = (first, second)
        self._on_close = on_close
        self._closed = False

    def arm(self) -> None:
        """Reads from an end only while the other's buffer has room: who does not read holds up its own peer alone."""
        first, second = self._sides
        for side, other in ((first, second), (second, first)):
            events = 0
            if not side.read_all and len(other.waiting) < MAX_BUFFER_BYTES:
                events |= select.POLLIN
            if side.waiting:
                events |= select.POLLOUT
            if events == 0:
                # Even without events poll would report a hang-up again and again.
                self._agent.forget(side.end.descriptor)
            else:
                self._agent.watch(side.end.descriptor, events, self._handler(side, other))

    def _handler(self, side: Side, other: Side):
        return lambda events: self._serve(side, other, events)

    def _serve(self, side: Side, other: Side, events: int) -> None:
        if self._closed:
            return
        try:
            if side.waiting and events & (select.POLLOUT | select.POLLERR | select.POLLHUP):
                self._flush(side)
            if not side.read_all and len(other.waiting) < MAX_BUFFER_BYTES and events & ~select.POLLOUT:
                self._fill(side, other)
            self._finish(side, other)
            self._finish(other, side)
        except BlockingIOError:
            pass
        except OSError:
            self.close()
            return
        if all(each.read_all and each.finished for each in self._sides):
            self.close()
        else:
            self.arm()

    def _flush(self, side: Side) -> None:
        written = side.end.write(side.waiting)
        del side.waiting[:written]

    def _fill(self, side: Side, other: Side) -> None:
        chunk = side.end.read(MAX_BUFFER_BYTES)
        if not chunk:
            side.read_all = True
        other.waiting += chunk

    def _finish(self, side: Side, other: Side) -> None:
        """Passes the end of one side on once all before it was written."""
        if other.read_all and not side.waiting and not side.finished:
            side.finished = True
            side.end.finish()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for side in self._sides:
            self._agent.forget(side.end.descriptor)
            side.end.close()
        if self._on_close is not None:
            self._on_close()

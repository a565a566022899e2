"""A port on the guest's loopback whose connections become connections to the egress proxy's socket."""

import select

import _socket

from dial import connect_unix
from link import SocketEnd, link

MAX_CONNECTIONS = 256


class Forwarder:
    """Listens before any command runs, so that a first connection cannot come too early."""

    def __init__(self, agent, port: int, path: str) -> None:
        self._agent = agent
        self._path = path
        self._connections = 0
        self._listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        self._listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", port))
        self._listener.listen(64)
        self._listener.setblocking(False)
        self._watch()

    def _watch(self) -> None:
        self._agent.watch(self._listener.fileno(), select.POLLIN, lambda _: self._accept())

    def _accept(self) -> None:
        try:
            descriptor, _ = self._listener._accept()
        except OSError:
            return  # it has gone again
        inner = _socket.socket(fileno=descriptor)
        try:
            outer = connect_unix(self._path)
        except OSError:
            inner.close()
            return
        self._connections += 1
        if self._connections >= MAX_CONNECTIONS:
            self._agent.forget(self._listener.fileno())
        link(self._agent, SocketEnd(inner), SocketEnd(outer), self._closed)

    def _closed(self) -> None:
        self._connections -= 1
        if self._connections == MAX_CONNECTIONS - 1:
            self._watch()

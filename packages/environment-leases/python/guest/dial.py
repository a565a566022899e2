"""Streams that the agent connects back to the host, one token each."""

import _socket


def dial(path: str, token: str) -> "_socket.socket":
    """A connected stream; the host knows by the token what it is for."""
    stream = connect_unix(path)
    try:
        stream.sendall(token.encode("ascii"))
    except BaseException:
        stream.close()
        raise
    return stream


def connect_unix(path: str) -> "_socket.socket":
    stream = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        stream.connect(path)
    except BaseException:
        stream.close()
        raise
    return stream


def connect_loopback(port: int) -> "_socket.socket":
    """Does not wait: loopback answers at once, or the queue of whoever listens there is full."""
    stream = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    stream.setblocking(False)
    try:
        stream.connect(("127.0.0.1", port))
    except BlockingIOError:
        pass
    except BaseException:
        stream.close()
        raise
    return stream

"""A shell on a pseudo terminal, carried over one stream."""

import os

from dial import dial
from link import SocketEnd, link


class TerminalEnd:
    """The master's side of a pseudo terminal."""

    def __init__(self, descriptor: int, hang_up) -> None:
        self.descriptor = descriptor
        self._hang_up = hang_up
        os.set_blocking(descriptor, False)

    def read(self, size: int) -> bytes:
        try:
            return os.read(self.descriptor, size)
        except BlockingIOError:
            raise
        except OSError:
            return b""  # EIO: the last process closed its side

    def write(self, view) -> int:
        return os.write(self.descriptor, view)

    def finish(self) -> None:
        """The host's side was closed: as when a modem hangs up."""
        self._hang_up()

    def close(self) -> None:
        os.close(self.descriptor)


class Terminal:
    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid = pid
        self._descriptor = descriptor
        self._open = True

    def resize(self, columns: int, rows: int) -> None:
        if self._open:
            set_size(self._descriptor, columns, rows)

    def closed(self) -> None:
        self._open = False


def open_terminal(agent, frame: dict) -> Terminal:
    """Starts the shell as leader of a session whose terminal is the new one."""
    stream = dial(agent.dial_path, frame["tokens"][0])
    try:
        master, slave = os.openpty()
    except OSError:
        stream.close()
        raise
    try:
        set_size(master, frame["columns"], frame["rows"])
        # Opened by the new session's leader: that is what makes it its controlling terminal.
        actions = [(os.POSIX_SPAWN_OPEN, 0, os.ttyname(slave), os.O_RDWR, 0)]
        actions += [(os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
        env = {**agent.env, **frame["env"]}
        pid = agent.children.start(frame["id"], frame["argv"], env, frame["cwd"], actions)
    except OSError:
        stream.close()
        os.close(master)
        raise
    finally:
        os.close(slave)
    agent.children.own_session(frame["id"])
    terminal = Terminal(pid, master)
    end = TerminalEnd(master, lambda: agent.children.signal(frame["id"], 1, True))
    link(agent, end, SocketEnd(stream), terminal.closed)
    return terminal


def set_size(descriptor: int, columns: int, rows: int) -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

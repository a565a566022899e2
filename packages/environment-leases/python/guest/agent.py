"""The agent's loop: what the host asks, what ends, and what is carried."""

import os
import select
import time

import _signal

from children import Children
from dial import dial
from frames import FrameReader, write_frame

EXIT_DEADLINE = 124


class Agent:
    """One thread, one poll. Nothing waits for code inside, except a full pipe to the host."""

    def __init__(self, first_process: bool) -> None:
        self.children = Children()
        self.links: dict = {}
        self.dial_path = ""
        # What the host gave the agent, commands have too.
        self.env = dict(os.environ)
        self._first_process = first_process
        self._reader = FrameReader()
        self._poll = select.poll()
        self._handlers: dict = {}
        self._terminals: dict = {}
        self._deadline = float("inf")

    def serve(self) -> None:
        wake = self._watch_signals()
        self.watch(0, select.POLLIN, self._read_control)
        self.watch(wake, select.POLLIN, lambda _: self._wake(wake))
        while True:
            for descriptor, events in self._poll.poll():
                handler = self._handlers.get(descriptor)
                if handler is not None:
                    handler(events)

    def watch(self, descriptor: int, events: int, handler) -> None:
        """Calls `handler(events)`; watching again changes both."""
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, events)

    def forget(self, descriptor: int) -> None:
        if self._handlers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def end(self, code: int) -> None:
        """The first process of a pid namespace takes all others with it; elsewhere they are looked for."""
        if not self._first_process:
            self.children.kill_all()
        os._exit(code)

    def _watch_signals(self) -> int:
        wake, woken = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        _signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        _signal.signal(_signal.SIGCHLD, lambda *_: None)
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        if not self._first_process:
            # Inside, the kernel keeps from process 1 every signal that it has no handler for: a handler would be a way to end it.
            _signal.signal(_signal.SIGTERM, lambda *_: self.end(0))
        # The second enforcer: a timer of the kernel, which also fires while a write waits for the host.
        _signal.signal(_signal.SIGALRM, lambda *_: self._look_at_clock())
        return wake

    def _wake(self, wake: int) -> None:
        try:
            os.read(wake, 4096)
        except BlockingIOError:
            pass
        for ident, code, number in self.children.reap():
            write_frame(f'{{"exit":{ident},"code":{number_or_null(code)},"signal":{number_or_null(number)}}}')
            self._terminals.pop(ident, None)

    def _read_control(self, _events: int) -> None:
        chunk = os.read(0, 65536)
        if not chunk:
            self.end(0)  # the host has gone
        for frame in self._reader.feed(chunk):
            self._obey(frame)

    def _obey(self, frame: dict) -> None:
        operation = frame["op"]
        if operation == "signal":
            self.children.signal(frame["id"], frame["signal"], frame["group"])
        elif operation == "deadline":
            self._set_deadline(frame["ms"])
        elif operation == "resize":
            self._resize(frame)
        elif operation == "hello":
            self._hello(frame)
        else:
            self._start(operation, frame)

    def _start(self, operation: str, frame: dict) -> None:
        ident = frame["id"]
        try:
            if operation == "spawn":
                pid = self._spawn(frame)
            elif operation == "terminal":
                pid = self._open_terminal(frame)
            else:
                pid = self._relay(frame)
        except (OSError, ValueError) as error:
            write_frame(f'{{"failed":{ident},"errno":{getattr(error, "errno", None) or 0}}}')
            return
        write_frame(f'{{"started":{ident},"pid":{pid}}}')

    def _hello(self, frame: dict) -> None:
        self.dial_path = frame["dial"]
        self._set_deadline(frame["ms"])
        forward = frame.get("forward")
        if forward is not None:
            from forward import Forwarder

            Forwarder(self, forward["port"], forward["socket"])
        write_frame('{"ready":1}')

    def _set_deadline(self, milliseconds: float) -> None:
        self._deadline = time.monotonic() + milliseconds / 1000
        self._look_at_clock()

    def _look_at_clock(self) -> None:
        """Also called by a SIGALRM that somebody inside sent: only the clock says that it is time."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            self.end(EXIT_DEADLINE)
        # Bounded, for a clock that is slowed down or a machine that slept.
        _signal.setitimer(_signal.ITIMER_REAL, min(max(left, 0.001), 60))

    def _spawn(self, frame: dict) -> int:
        streams = []
        try:
            for token in frame["tokens"]:
                streams.append(dial(self.dial_path, token))
            stream, errors = streams[0].fileno(), streams[1].fileno()
            return self.children.start(
                frame["id"],
                frame["argv"],
                {**self.env, **frame["env"]},
                frame["cwd"],
                [
                    self._standard_input(frame["stdin"], streams),
                    (os.POSIX_SPAWN_DUP2, stream, 1),
                    (os.POSIX_SPAWN_DUP2, errors, 2),
                ],
            )
        finally:
            for each in streams:
                each.close()

    def _standard_input(self, kind: str, streams: list) -> tuple:
        if kind == "none":
            return (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)
        # A stream of its own, when what a program does not read must not cost what it wrote.
        return (os.POSIX_SPAWN_DUP2, streams[2 if kind == "own" else 0].fileno(), 0)

    def _open_terminal(self, frame: dict) -> int:
        from terminal import open_terminal

        terminal = open_terminal(self, frame)
        self._terminals[frame["id"]] = terminal
        return terminal.pid

    def _resize(self, frame: dict) -> None:
        terminal = self._terminals.get(frame["id"])
        if terminal is not None:
            terminal.resize(frame["columns"], frame["rows"])

    def _relay(self, frame: dict) -> int:
        from dial import connect_loopback
        from link import SocketEnd, link

        inner = connect_loopback(frame["port"])
        try:
            outer = dial(self.dial_path, frame["tokens"][0])
        except OSError:
            inner.close()
            raise
        link(self, SocketEnd(inner), SocketEnd(outer))
        return 0


def number_or_null(number) -> str:
    return "null" if number is None else str(number)

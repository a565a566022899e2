"""Runs cells in the main thread, one after another, at most once each."""
import _signal
import _thread
import builtins
import os
import sys
from _collections import deque
from posix import _exit
from time import process_time, sleep

from berth_worker.source import Sources, split

_SIGNAL_S = 0.02
_MAX_SIGNALS = 250


class Cells:
    def __init__(self, settings, capture, outbox, main):
        self._settings = settings
        self._capture = capture
        self._outbox = outbox
        self._main_thread = _thread.get_ident()
        # Not those that end a process which has no handler for them: an idle worker is to go at once.
        self._signals = _signal.valid_signals() - {_signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT}
        self._inbox = deque()
        self._call = None
        self._channel = None
        self._interrupted = None
        self._heard = None
        self._signalled = None
        self._interruptible = False
        self._count = 0
        self._sources = Sources()
        self._handler = self._on_interrupt
        self.namespace = main.__dict__

    # In the thread that reads the channel.

    def submit(self, call, params):
        self._inbox.append((call, params))

    def interrupt(self, call):
        """As Ctrl-C would. A call that has not begun is interrupted when it begins."""
        self._interrupted = call
        if call == self._call:
            self._heard = None
            _thread.start_new_thread(self._signal_until_heard, (call,))

    def _signal_until_heard(self, call):
        """Again and again: a signal between the interpreter's last look and a system call that waits wakes nobody."""
        _signal.pthread_sigmask(_signal.SIG_BLOCK, self._signals)
        for _ in range(_MAX_SIGNALS):
            if self._call != call or self._heard == call:
                return
            self._signalled = call
            _signal.pthread_kill(self._main_thread, _signal.SIGINT)
            sleep(_SIGNAL_S)

    # In the main thread.

    def serve(self, channel):
        """For ever. What may rise between cells comes from signal handlers of the caller's code, and is theirs to see."""
        self._channel = channel
        self._install()
        while True:
            try:
                self._prepare()
                break
            except Exception:  # a damaged site-packages costs that, not the session
                sys.excepthook(*sys.exc_info())
                break
        while True:
            try:
                if not self._inbox:
                    import traceback  # noqa: F401, nobody waits: not to be waited for at the first fault

                channel.read_until(self._inbox.__len__)
                while self._inbox:
                    channel.hand_over()
                    self._run(*self._inbox.popleft())
            except BaseException as error:
                self._hold_signals()
                if self._capture.is_child:
                    _exit(1)
                if self._call is not None:
                    self._finish(self._call, self._failed(error, False))

    def _hold_signals(self):
        """Between cells no handler of the caller's code runs in this thread: it could raise anywhere."""
        while True:
            try:
                _signal.pthread_sigmask(_signal.SIG_BLOCK, self._signals)
                return
            except BaseException:
                continue  # raised by a handler, before they were held

    def _install(self):
        """What the caller's code finds in place of a terminal."""
        from berth_worker.refusals import refuse_breakpoint, refuse_input, silence

        silence()
        os.environ.setdefault("MPLBACKEND", "Agg")
        sys.stdout, sys.stderr = self._capture.streams()
        sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
        builtins.input = refuse_input
        sys.breakpointhook = refuse_breakpoint
        builtins.display = self._display
        os._exit = self._end_process
        _signal.signal(_signal.SIGINT, self._handler)

    def _prepare(self):
        """What every session needs, and none had to wait for until now."""
        import site

        site.main()
        sys.path.insert(0, self._settings["workspace"])

    def _end_process(self, status):
        """`os._exit`, which would take with it what was printed just before."""
        self._capture.last_words()
        _exit(status)

    def _on_interrupt(self, number, frame):
        meant, self._signalled = self._signalled, None
        self._heard = self._call
        if meant is not None and meant != self._call:
            return  # it was for the call before, which was over in the meantime
        if self._interruptible:
            raise KeyboardInterrupt

    def _run(self, call, params):
        before = process_time()
        self._count += 1
        self._call = call
        try:
            self._capture.begin(call)
            try:
                # A signal that was held is handled here, where it cannot interrupt the wrong call.
                _signal.pthread_sigmask(_signal.SIG_UNBLOCK, self._signals)
                answer = {"status": "ok", "result": self._evaluate(params["code"], call), "fault": None}
            except BaseException as error:
                answer = self._failed(error, params["colours"])
            finally:
                self._interruptible = False
        except BaseException as error:  # raised by a signal where the code was already over
            self._interruptible = False
            answer = self._failed(error, False)
        self._hold_signals()
        if self._capture.is_child:
            self._leave(answer["fault"])
        answer["cpuMs"] = (process_time() - before) * 1e3
        self._finish(call, answer)

    def _evaluate(self, code, call):
        name = self._sources.add(code, self._count)
        self._look_around(code)
        self._interruptible = True
        if self._interrupted == call:
            raise KeyboardInterrupt
        body, last = split(code, name)
        if body is not None:
            self._run_code(body)
        value = None if last is None else self._run_code(last)
        result = None if value is None else self._show(value)
        if "matplotlib.pyplot" in sys.modules:
            from berth_worker.figures import show_figures

            show_figures(self._capture)
        self._flush()
        return result

    def _run_code(self, code):
        value = eval(code, self.namespace)
        if not code.co_flags & 0x80:  # CO_COROUTINE: there is an await at the top
            return value
        from berth_worker.awaiting import run

        return run(value)

    def _show(self, value):
        builtins._ = value
        from berth_worker.display import show_result

        return show_result(value, self._capture, self._settings["maxResultChars"])

    def _display(self, *values, raw=False, **_):
        """Shows values in the richest form that they have; `raw` for ready mappings of MIME types."""
        from berth_worker.display import display

        display(values, raw, self._capture)

    def _look_around(self, code):
        """Folders of packages that came meanwhile; streams that the cell before closed."""
        if _signal.getsignal(_signal.SIGINT) is not self._handler:
            _signal.signal(_signal.SIGINT, self._handler)
        if sys.getrecursionlimit() < 200:
            sys.setrecursionlimit(200)
        if getattr(sys.stdout, "closed", True) or getattr(sys.stderr, "closed", True):
            sys.stdout, sys.stderr = self._capture.streams()
        packages = self._settings["packages"]
        # `access` first: where there is nothing, `isdir` makes an exception and drops it.
        if packages not in sys.path and os.access(packages, os.X_OK) and os.path.isdir(packages):
            import site

            site.addsitedir(packages)
        # Not at the first cell, for which the import would be a tenth of its time, unless it may look at itself.
        if self._count > 1 or "inspect" in code:
            self._sources.publish()

    def _flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass  # the caller's own stream

    def _failed(self, error, colours):
        self._flush()
        interrupted = isinstance(error, KeyboardInterrupt) and self._interrupted == self._call
        try:
            from berth_worker.faults import describe

            self._sources.publish()
            fault = describe(error, colours)
        except Exception:  # no memory, or a class that cannot be shown
            name = f"{type(error).__name__}"
            fault = {"name": name, "message": "", "traceback": name}
        return {"status": "interrupted" if interrupted else "error", "result": None, "fault": fault, "cpuMs": 0.0}

    def _finish(self, call, answer):
        for _ in range(10):
            try:
                if self._call is not None:
                    said = self._capture.end()
                    self._call = None
                    answer.update(said)
                self._channel.take_back()
                self._outbox.answer_now(call, answer)
                return
            except BaseException:
                continue  # no memory
        _exit(70)

    def _leave(self, fault):
        """A forked child that came back from its cell."""
        self._flush()
        if fault is not None:
            os.write(2, fault["traceback"].encode("utf-8", "replace"))
        _exit(0 if fault is None else 1)

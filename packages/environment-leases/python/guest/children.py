"""Processes that the agent starts, signals and reaps."""

import os

import _signal

# An ignored signal stays ignored across exec: Python ignores some, and who started the host may have ignored others.
TO_DEFAULT = (
    _signal.SIGHUP,
    _signal.SIGINT,
    _signal.SIGQUIT,
    _signal.SIGPIPE,
    _signal.SIGALRM,
    _signal.SIGTERM,
    _signal.SIGUSR1,
    _signal.SIGUSR2,
    _signal.SIGCHLD,
    _signal.SIGTSTP,
    _signal.SIGTTIN,
    _signal.SIGTTOU,
    _signal.SIGXFSZ,
)


class Children:
    """Who runs, by the host's id."""

    def __init__(self) -> None:
        self._id_of: dict = {}
        self._pid_of: dict = {}
        self._sessions: set = set()

    def start(self, ident: int, argv: list, env: dict, cwd: str, actions: list) -> int:
        """Starts the leader of a session and group of its own. OSError when the program or the folder is not there."""
        os.chdir(cwd)
        try:
            pid = spawn(argv, env, actions)
        finally:
            os.chdir("/")
        self._id_of[pid] = ident
        self._pid_of[ident] = pid
        prefer_for_oom(pid)
        return pid

    def own_session(self, ident: int) -> None:
        """All of its session ends with it: a shell with job control puts each job into a group of its own."""
        self._sessions.add(ident)

    def signal(self, ident: int, number: int, group: bool) -> None:
        """Does nothing for one that has ended. It is not reaped before it leaves this table, so the number is still its own."""
        pid = self._pid_of.get(ident)
        if pid is None:
            return
        try:
            (os.killpg if group else os.kill)(pid, number)
        except OSError:
            pass  # a zombie, or one that changed its user: nothing that we could do

    def reap(self) -> list:
        """Ended leaders as (id, code or None, signal or None). What is left of a leader's group dies with it."""
        ended = []
        while True:
            try:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return ended
            if seen is None:
                return ended
            ident = self._id_of.pop(seen.si_pid, None)
            if ident is not None:
                # Before it is reaped: until then nobody else can get the number of its group.
                self.signal(ident, _signal.SIGKILL, True)
                del self._pid_of[ident]
                if ident in self._sessions:
                    self._sessions.discard(ident)
                    kill_session(seen.si_pid)
            _, status = os.waitpid(seen.si_pid, 0)
            if ident is not None:
                ended.append((ident, *read_status(status)))

    def kill_all(self) -> None:
        """For an agent that is not the first process of a pid namespace: every descendant, also those that left their group."""
        for pid in list(self._id_of):
            try:
                os.killpg(pid, _signal.SIGKILL)
            except OSError:
                pass  # its last member has gone
        for _ in range(1000):
            living = descendants()
            if not living:
                return
            for pid in living:
                try:
                    os.kill(pid, _signal.SIGKILL)
                except OSError:
                    pass  # gone meanwhile
            self.reap()


def read_status(status: int) -> tuple:
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None


def spawn(argv: list, env: dict, actions: list) -> int:
    """As execvpe finds programs: by a path with a slash, else in the PATH of the new environment."""
    name = argv[0]
    if "/" in name:
        return launch(name, argv, env, actions)
    failure: OSError = FileNotFoundError(2, "not found in PATH", name)
    for folder in env.get("PATH", "/usr/bin:/bin").split(":"):
        try:
            return launch(f"{folder or '.'}/{name}", argv, env, actions)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            failure = error
    raise failure


def launch(path: str, argv: list, env: dict, actions: list) -> int:
    return os.posix_spawn(path, argv, env, file_actions=actions, setsid=True, setsigdef=TO_DEFAULT, setsigmask=())


def prefer_for_oom(pid: int) -> None:
    """When memory runs out, the kernel shall take a command and not the agent, with whom everything would end."""
    try:
        handle = os.open(f"/proc/{pid}/oom_score_adj", os.O_WRONLY)
    except OSError:
        return  # no /proc, or it has ended already
    try:
        os.write(handle, b"500")
    except OSError:
        pass  # not permitted here: the kernel then chooses by size alone
    finally:
        os.close(handle)


def kill_session(leader: int) -> None:
    """Kills what /proc lists of a session; a process that was forked meanwhile is seen in the next round."""
    for _ in range(100):
        members = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_member(pid, leader)]
        if not members:
            return
        for pid in members:
            try:
                os.kill(pid, _signal.SIGKILL)
            except OSError:
                pass  # gone meanwhile


def is_member(pid: int, leader: int) -> bool:
    text = read_file(f"/proc/{pid}/stat")
    # The name in parentheses may hold anything, so what counts comes after the last one: state, parent, group, session.
    state, _, _, session, *_ = text[text.rfind(b")") + 2 :].split() or [b"Z", b"", b"", b"0"]
    return pid != leader and state != b"Z" and int(session) == leader


def read_file(path: str) -> bytes:
    """Empty for one that is not there."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(handle, 1 << 20)
    except OSError:
        return b""
    finally:
        os.close(handle)


def descendants() -> list:
    """Children and theirs, as far as /proc tells; orphans are children of the agent, since it asked to reap them."""
    found = []
    queue = [os.getpid()]
    while queue:
        parent = queue.pop()
        born = [int(word) for word in read_file(f"/proc/{parent}/task/{parent}/children").split()]
        found += born
        queue += born
    return found

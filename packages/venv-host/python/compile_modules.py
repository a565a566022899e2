"""Compiles the modules of an environment that is being built, so that none has to be compiled when it is imported.

Nothing of the environment is run or imported: its sources are read and handed to the compiler. They may be anything, so
no link is followed, only regular files are opened, and each is compiled by a process that may die over it.

Run by the interpreter that the environment is made with, isolated. Takes one argument, which compile-modules.ts makes.
Prints lines of JSON: `{"modules": N}` once they are found, and `{"modules": N, "compiled": N, "stopped": WHY or null}`.
"""

import gc
import importlib.util
import json
import marshal
import mmap
import os
import resource
import select
import signal
import struct
import sys
import time

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Not waiting: what was a file a moment ago may be a pipe now.
SOURCE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
CACHE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
MAX_OPEN_FOLDERS = 128
INDEX = struct.Struct("<I")
# 4,096 bytes, which a pipe takes whole and gives in whole indices, to however many readers.
INDICES_AT_ONCE = 1_024


class Folders:
    """Opens folders below a root by their names, one after another: no link is followed anywhere on the way."""

    def __init__(self, root):
        self.root = os.open(root, FOLDER)
        self.known = {}

    def open(self, names):
        if not names:
            return self.root
        found = self.known.get(names)
        if found is None:
            above = self.open(names[:-1])
            if len(self.known) >= MAX_OPEN_FOLDERS:
                self.close_but_above(names)
            found = self.known[names] = os.open(names[-1], FOLDER, dir_fd=above)
        return found

    def close_but_above(self, names):
        for each in [each for each in self.known if names[: len(each)] != each]:
            os.close(self.known.pop(each))


class Modules:
    """What is to be compiled, and where its caches go."""

    def __init__(self, folders, target, limits):
        self.folders = folders
        self.target = target
        self.limits = limits
        self.found = []  # (size, or None for what is no regular file; names of the folder; name), the largest first

    def find(self, starts, ends_at):
        """Gives why it stopped early."""
        waiting = [tuple(start.split("/")) for start in starts]
        while waiting:
            if time.monotonic() >= ends_at:
                return "it took too long to find more"
            names = waiting.pop()
            try:
                with os.scandir(self.folders.open(names)) as entries:
                    waiting += [folder for entry in entries if (folder := self.add(names, entry))]
            except OSError:
                pass  # not there, a link, or closed to this user
            if len(self.found) > self.limits["maxModules"]:
                return "there are more, which are not"
        self.found.sort(key=lambda module: module[0] or 0, reverse=True)
        return None

    def add(self, names, entry):
        """Notes a module; gives a folder to look into."""
        if entry.is_dir(follow_symlinks=False):
            is_wanted = entry.name != "__pycache__" and len(names) < self.limits["maxDepth"]
            return (*names, entry.name) if is_wanted else None
        if entry.name.endswith(".py") and entry.name != ".py":
            is_file = entry.is_file(follow_symlinks=False)
            self.found.append((entry.stat(follow_symlinks=False).st_size if is_file else None, names, entry.name))
        return None

    def compile(self, at):
        """Gives whether the module has its cache now. One that is there already is not believed: a wheel brought it."""
        size, names, name = self.found[at]
        if size is None or size > self.limits["maxSourceBytes"]:
            return False
        folder = self.folders.open(names)
        source = os.open(name, SOURCE, dir_fd=folder)
        try:
            stat = os.fstat(source)
            text = os.read(source, size + 1)
        finally:
            os.close(source)
        if len(text) != stat.st_size:
            return False
        # The path that the file will have, which an import then has not to correct.
        code = compile(text, "/".join((self.target, *names, name)), "exec", dont_inherit=True)
        try:
            os.mkdir("__pycache__", dir_fd=folder)
        except FileExistsError:
            pass
        write_cache(self.folders.open((*names, "__pycache__")), cache_name(name), stat, marshal.dumps(code))
        return True

    def remove_cache(self, at):
        """For what was not compiled: a file of a wheel, or one that a worker died over."""
        _, names, name = self.found[at]
        try:
            os.unlink(cache_name(name), dir_fd=self.folders.open((*names, "__pycache__")))
        except OSError:
            pass  # mostly not there


def cache_name(name):
    return f"{name[: -len('.py')]}.{sys.implementation.cache_tag}.pyc"


def write_cache(folder, name, stat, code):
    """Writes a cache (PEP 552), its head last: one that was cut short has no magic number, and counts for none."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    words = (0, int(stat.st_mtime) & 0xFFFFFFFF, stat.st_size & 0xFFFFFFFF)
    head = importlib.util.MAGIC_NUMBER + struct.pack("<III", *words)
    file = os.open(name, CACHE, stat.st_mode & 0o666, dir_fd=folder)
    try:
        at = 0
        while at < len(code):
            at += os.pwrite(file, memoryview(code)[at:], len(head) + at)
        os.pwrite(file, head, 0)
    finally:
        os.close(file)


class Queue:
    """The indices of all modules, on a pipe from which each worker takes the next one."""

    def __init__(self, count):
        self.reads, self.writes = os.pipe()
        self.left = [range(at, min(at + INDICES_AT_ONCE, count)) for at in range(0, count, INDICES_AT_ONCE)]

    def fill(self):
        """To be called when the pipe can be written to."""
        os.write(self.writes, b"".join(map(INDEX.pack, self.left.pop(0))))
        if not self.left:
            self.end()

    def end(self):
        if self.writes is not None:
            os.close(self.writes)
            self.writes = None

    def take(self):
        """Blocks; None at the end."""
        taken = os.read(self.reads, INDEX.size)
        return INDEX.unpack(taken)[0] if taken else None


class Workers:
    """Processes that compile what is in the queue. One that dies costs the module that it was at."""

    def __init__(self, modules, queue, done):
        self.modules = modules
        self.queue = queue
        self.done = done
        self.living = {}  # by the end of a pipe whose other end only that worker has open

    def run(self, ends_at):
        """Gives why it stopped early."""
        limits = self.modules.limits
        for _ in range(min(limits["maxWorkers"], len(os.sched_getaffinity(0)), len(self.done))):
            self.start()
        deaths = 0
        while self.living:
            writes = [] if self.queue.writes is None else [self.queue.writes]
            ended, writable, _ = select.select([*self.living], writes, [], max(0, ends_at - time.monotonic()))
            if time.monotonic() >= ends_at:
                return "it took too long"
            if writable:
                self.queue.fill()
            for life in ended:
                if self.status(life) == 0:
                    continue
                deaths += 1
                if deaths > limits["maxDeaths"]:
                    return f"the compiler died over {deaths} modules"
                self.start()
        return None

    def start(self):
        life, held = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                self.queue.end()
                self.work()
                status = 0
            finally:
                os._exit(status)
        os.close(held)
        self.living[life] = pid

    def work(self):
        limits = self.modules.limits
        bound_memory(limits["maxMemoryBytes"])
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        while (at := self.queue.take()) is not None:
            # Ends this process when the compiler finds no end.
            signal.setitimer(signal.ITIMER_PROF, limits["maxModuleSeconds"])
            try:
                self.done[at] = self.modules.compile(at)
            except Exception:
                pass  # as installers have it: who imports the module is told what is wrong with it

    def status(self, life):
        os.close(life)
        return os.waitpid(self.living.pop(life), 0)[1]

    def end(self):
        for life, pid in [*self.living.items()]:
            os.kill(pid, signal.SIGKILL)
            self.status(life)


def bound_memory(most):
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard),) * 2)


def main(task):
    limits = task["limits"]
    ends_at = time.monotonic() + limits["maxSeconds"]
    # What is made here has no cycles, and workers are to share what they do not change.
    gc.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    modules = Modules(Folders(task["environment"]), task["target"], limits)
    stopped = modules.find(task["folders"], ends_at)
    count = len(modules.found)
    print(json.dumps({"modules": count}), flush=True)
    compiled = 0
    if count > 0:
        done = mmap.mmap(-1, count)  # shared with workers
        workers = Workers(modules, Queue(count), done)
        try:
            stopped = workers.run(ends_at) or stopped
        finally:
            workers.end()
        for at in range(count):
            if not done[at]:
                modules.remove_cache(at)
        compiled = done[:].count(1)
    print(json.dumps({"modules": count, "compiled": compiled, "stopped": stopped}), flush=True)


main(json.loads(sys.argv[1]))

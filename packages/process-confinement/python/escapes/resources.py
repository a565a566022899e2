"""More than its share, in bounded forms, and processes that outlive it."""

import os
import signal
import sys
import time

from refused import Refused

MIB = 1 << 20
SURPLUS_PROCESSES = 16
SURPLUS_MEMORY = 64 * MIB
SURPLUS_FILE = 8 * MIB
SURVIVOR_SECONDS = 60


def fork_bomb(context):
    wanted = context["limits"]["processes"] + SURPLUS_PROCESSES
    reader, writer = os.pipe()
    children = []
    try:
        while len(children) < wanted:
            child = os.fork()
            if child == 0:
                os.close(writer)
                os.read(reader, 1)  # until the parent ends
                os._exit(0)
            children.append(child)
    finally:
        os.close(writer)
        for child in children:
            os.waitpid(child, 0)


def memory(context):
    """In a child, so that the kernel's answer can be told."""
    child = os.fork()
    if child == 0:
        os._exit(allocate(context["limits"]["memoryBytes"] + SURPLUS_MEMORY))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise Refused("child ended by " + signal.Signals(os.WTERMSIG(status)).name)
    if os.WEXITSTATUS(status) != 0:
        raise MemoryError


def allocate(size):
    try:
        held = []
        for _ in range(size // MIB):
            block = bytearray(MIB)
            block[::4096] = b"x" * 256  # each page is touched
            held.append(block)
    except MemoryError:
        return 1
    return 0


def fill(path, size):
    try:
        with open(path, "wb") as stream:
            for _ in range(size // MIB):
                stream.write(bytes(MIB))
    finally:
        try:
            os.unlink(path)
        except OSError:
            pass  # it could not be made


def fill_tmp(context):
    fill("/tmp/berth-escape-" + context["token"], context["limits"]["tmpBytes"] + SURPLUS_FILE)


def fill_shm(context):
    fill("/dev/shm/berth-escape-" + context["token"], context["limits"]["tmpBytes"] + SURPLUS_FILE)


def fill_disk(context):
    """A limit that is watched ends this program a little later: it stays for a while with what it must not have."""
    path = os.path.join(context["workspace"], "fill")
    with open(path, "wb") as stream:
        for _ in range(2 * context["limits"]["diskBytes"] // MIB):
            stream.write(bytes(MIB))
            stream.flush()
    time.sleep(context["holdSeconds"])
    os.unlink(path)


def flood(context):
    line = b"x" * 1023 + b"\n"
    for _ in range(4 * context["limits"]["outputBytes"] // len(line)):
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def double_fork(context):
    """A daemon of its own session, without a parent and without any descriptor of ours."""
    stay_behind(context, keeps_output=False)


def hold_pipes(context):
    """A process that keeps stdout and stderr open when the command has ended."""
    stay_behind(context, keeps_output=True)


def stay_behind(context, keeps_output):
    reader, writer = os.pipe()  # close-on-exec: its end is the daemon's start
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        nothing = os.open("/dev/null", os.O_RDWR)
        for descriptor in [0] if keeps_output else [0, 1, 2]:
            os.dup2(nothing, descriptor)
        program = "import time; time.sleep(%d)" % SURVIVOR_SECONDS
        os.execv(sys.executable, [sys.executable, "-I", "-c", program, context["token"]])
    os.waitpid(child, 0)
    os.close(writer)
    os.read(reader, 1)


ATTEMPTS = {
    "fork-bomb": fork_bomb,
    "memory": memory,
    "tmp-fill": fill_tmp,
    "shm-fill": fill_shm,
    "disk-fill": fill_disk,
    "output-flood": flood,
    "double-fork": double_fork,
    "held-pipes": hold_pipes,
}

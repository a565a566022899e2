"""Files that the host shares: what is left in them for others to start, and whom they make wait."""

import ctypes
import fcntl
import os
import signal
import stat
import struct

from refused import Refused, first_success
from system_calls import call

SET_USER_ID = stat.S_ISUID | 0o755


def take_lease(context):
    """On a file that is only shown. Whoever opens it to write then waits, on the whole machine, up to 45 seconds (fcntl(2))."""
    path = os.path.join(context["tree"], "measured")
    signal.signal(signal.SIGIO, signal.SIG_IGN)  # the kernel's word that somebody waits
    with open(path, "rb") as stream:
        kinds = [fcntl.F_RDLCK, fcntl.F_WRLCK]
        first_success([lambda kind=kind: fcntl.fcntl(stream, fcntl.F_SETLEASE, kind) for kind in kinds])
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return  # EAGAIN: it would have waited. Another error: this program may not write here, but others may
    raise Refused("nobody waits")


def leave_set_user_id(context):
    """An empty file in the workspace that others would start as its owner. It stays there: the host looks for it."""
    path = os.path.join(context["workspace"], "program")

    with open(path, "wb"):
        pass

    def by_descriptor():
        with open(path, "rb") as stream:
            os.fchmod(stream.fileno(), SET_USER_ID)

    def by_newer_call():
        call("fchmodat2", -100, path.encode(), SET_USER_ID, 0)

    def at_once():
        os.open(path + "-made", os.O_WRONLY | os.O_CREAT | os.O_EXCL, SET_USER_ID)

    def at_once_by_newer_call():
        # struct open_how: flags, mode, resolve
        how = struct.pack("3Q", os.O_WRONLY | os.O_CREAT, SET_USER_ID, 0)
        call("openat2", -100, (path + "-newer").encode(), ctypes.create_string_buffer(how, len(how)), len(how))

    def without_a_name():
        descriptor = os.open(context["workspace"], os.O_WRONLY | os.O_TMPFILE, SET_USER_ID)
        # With a descriptor Python calls linkat(2), which alone follows.
        os.link("/proc/self/fd/%d" % descriptor, path + "-linked", src_dir_fd=descriptor)

    def as_a_node():
        os.mknod(path + "-node", stat.S_IFREG | SET_USER_ID)

    def left(way):
        way()
        if not any(entry.stat(follow_symlinks=False).st_mode & stat.S_ISUID for entry in os.scandir(context["workspace"])):
            raise Refused("no such bit is left")

    made = [at_once, at_once_by_newer_call, without_a_name, as_a_node]
    ways = [lambda: os.chmod(path, SET_USER_ID), by_descriptor, by_newer_call, *made]
    first_success([lambda way=way: left(way) for way in ways])


ATTEMPTS = {"file-lease": take_lease, "set-user-id": leave_set_user_id}

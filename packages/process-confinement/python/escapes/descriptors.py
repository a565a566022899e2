"""Descriptors: inherited from who started it, and of other processes by way of /proc."""

import hashlib
import os
import stat

from refused import Refused


def use_inherited(_):
    """Anything above 2 is somebody else's: this program opens nothing before."""
    for descriptor in range(3, 4096):
        try:
            status = os.fstat(descriptor)
        except OSError:
            continue  # not open
        if stat.S_ISREG(status.st_mode):
            return os.pread(descriptor, 4096, 0)
        return None
    raise Refused("none above 2")


def read_by_proc_fd(context):
    for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
        folder = "/proc/%s/fd" % pid
        try:
            names = os.listdir(folder)
        except OSError:
            continue  # not ours to see, or ended
        for name in names:
            data = content_of("%s/%s" % (folder, name))
            if hashlib.sha256(data).hexdigest() == context["canarySha256"]:
                return data
    raise Refused("not seen")


def content_of(path):
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as stream:
            return stream.read(4096)
    except OSError:
        return b""


ATTEMPTS = {"inherited-descriptor": use_inherited, "proc-descriptor": read_by_proc_fd}

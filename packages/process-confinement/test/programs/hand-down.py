"""Holds more and more in a file without a name, whose holder is never an old process: each is the child of the one before, and ends.

Usage: hand-down.py FOLDER STEP_KIB MOST_MIB SECONDS. Says the MiB that it holds at the end. The orphans come to a process with as many
descriptors as it may have, which takes long to look at.
"""

import ctypes
import os
import resource
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
folder, step, most, seconds = sys.argv[1], int(sys.argv[2]) << 10, int(sys.argv[3]) << 20, float(sys.argv[4])


def hand_down():
    file, held, end = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        if held < most:
            held += os.write(file, bytes(step))
        if os.fork():
            os._exit(0)
    print(held >> 20, flush=True)
    os._exit(0)


ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
if os.fork() == 0:
    hand_down()
try:
    while True:
        os.open("/dev/null", os.O_RDONLY)
except OSError:
    pass
try:
    while True:
        os.wait()
except ChildProcessError:
    pass

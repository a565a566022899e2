"""A process of the host for others to attack: holds a canary in its environment, memory, shared memory and an open file.

    NAME=CANARY python victim.py TOKEN SECRET_FILE NAME

Tells where, then a line for each SIGUSR1. Ends with its input.
"""

import ctypes
import json
import os
import signal
import sys

PR_SET_PTRACER = 0x59616D61
PR_SET_PTRACER_ANY = ctypes.c_ulong(-1)
IPC_PRIVATE, IPC_RMID = 0, 0

libc = ctypes.CDLL(None)
canary = os.environ[sys.argv[3]].encode()
secret = open(sys.argv[2], "rb")
memory = ctypes.create_string_buffer(canary)
shared = libc.shmget(IPC_PRIVATE, len(canary), 0o600)
libc.shmat.restype = ctypes.c_void_p
attached = libc.shmat(shared, None, 0)
ctypes.memmove(attached, canary, len(canary))
# Gone with this process; until then others can attach it.
libc.shmctl(shared, IPC_RMID, None)
# Where only children may be traced (Yama), this one says that anybody may.
libc.prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0)


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


signal.signal(signal.SIGUSR1, lambda *_: say({"signalled": True}))
say({"pid": os.getpid(), "address": ctypes.addressof(memory), "length": len(canary), "sharedMemory": shared})
while os.read(0, 1):
    pass

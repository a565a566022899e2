"""System V shared memory of a host process."""

import ctypes
import os

from system_calls import libc

SHM_RDONLY = 0o10000


def attach(context):
    libc.shmat.restype = ctypes.c_void_p
    ctypes.set_errno(0)
    address = libc.shmat(context["victim"]["sharedMemory"], None, SHM_RDONLY)
    if address is None or address == ctypes.c_void_p(-1).value:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return ctypes.string_at(address, context["victim"]["length"])


ATTEMPTS = {"shared-memory": attach}

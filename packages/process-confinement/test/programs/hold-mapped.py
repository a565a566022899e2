"""Fills a file, maps a part of it, closes it and takes its name away. Usage: hold-mapped.py FOLDER MIB MAPPED_MIB [thread]

With `thread` the first thread ends then: /proc shows nothing of what it had open and mapped."""

import ctypes
import mmap
import os
import sys
import threading

folder, mib, mapped = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
path = f"{folder}/mapped"
with open(path, "wb+") as file:
    for _ in range(mib):
        file.write(bytes(1 << 20))
    file.flush()
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    address = libc.mmap(None, mapped << 20, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
os.unlink(path)


def hold():
    print(address != ctypes.c_void_p(-1).value, flush=True)
    os.read(0, 1)
    os._exit(0)


def first_thread_has_ended():
    with open(f"/proc/{os.getpid()}/task/{os.getpid()}/stat") as stat:
        return ") Z " in stat.read()


def hold_alone():
    while not first_thread_has_ended():
        os.sched_yield()
    hold()


if "thread" in sys.argv:
    threading.Thread(target=hold_alone).start()
    ctypes.CDLL(None).pthread_exit(None)
hold()

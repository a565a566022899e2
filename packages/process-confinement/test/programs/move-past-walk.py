"""Holds more and more in a folder whose walker never sees it: it moves from a folder that is still to be listed to one that was.

Usage: move-past-walk.py FOLDER STEP_MIB MOST_MIB. Says the MiB that it holds each time that a walk has passed.
"""

import ctypes
import os
import struct
import sys

IN_OPEN, IN_ISDIR = 0x20, 0x40000000
PADDING = 16_000  # empty files: while the walker counts them there is time to move

folder, step, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(folder)


def pad(path):
    for number in range(PADDING):
        os.close(os.open(f"{path}/{number}", os.O_CREAT | os.O_WRONLY))


for side in ("one", "other"):
    os.makedirs(f"{side}/padding")
pad(".")
early, late = (name for name in os.listdir(".") if name in ("one", "other"))  # in the order of the walk
pad(f"{early}/padding")
os.mkdir(f"{early}/data")
place, held = early, 0

watch = libc.inotify_init1(os.O_CLOEXEC)
root, early_listed, late_listed = (
    libc.inotify_add_watch(watch, path.encode(), IN_OPEN) for path in (".", f"{early}/padding", f"{late}/padding")
)


def move(to):
    global place
    if place != to:
        os.rename(f"{place}/data", f"{to}/data")
        place = to


def events():
    while True:
        buffer, offset = os.read(watch, 65_536), 0
        while offset < len(buffer):
            descriptor, mask, _, length = struct.unpack_from("iIII", buffer, offset)
            offset += 16 + length
            if mask & IN_ISDIR and length == 0:
                yield descriptor


print(0, flush=True)
passed = False
for descriptor in events():
    if descriptor == root:
        move(late)
        passed = False
    elif descriptor == early_listed:
        move(early)
    elif descriptor == late_listed and place == early and not passed:
        passed = True
        if held < most:
            with open(f"{place}/data/{held}", "wb") as file:
                file.write(bytes(step << 20))
            held += step
        print(held, flush=True)

"""Tells in one frame how it was started, then waits for the end of its input."""
import json
import os
import sys


def read(name):
    with open(f"/proc/self/{name}", "rb") as file:
        return [part.decode() for part in file.read().split(b"\0")[:-1]]


def descriptors():
    folder = os.open("/proc/self/fd", os.O_RDONLY)
    return sorted(int(name) for name in os.listdir(folder) if int(name) != folder and os.path.exists(f"/proc/self/fd/{name}"))


found = {"environ": read("environ"), "argv": read("cmdline"), "cwd": os.getcwd(), "descriptors": descriptors()}
found |= {"pid": os.getpid(), "group": os.getpgrp()}
print(json.dumps(found), flush=True)
sys.stdin.read()

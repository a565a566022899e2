"""
Forks a process that outlives it, says so, and ends when its input ends (or at once: "leave").
Words in argv: "ignore" (the other ignores SIGTERM), "setsid" (it leaves the session), "daemon" (it forks once more, so that its
parent is gone), "quiet" (it lets go of the pipes), "leave".
"""
import os
import signal
import sys
import time

words = sys.argv[1:]
told, tell = os.pipe()
if os.fork() == 0:
    if "ignore" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "setsid" in words:
        os.setsid()
    if "daemon" in words and os.fork() != 0:
        os._exit(0)
    if "quiet" in words:
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
    os.write(tell, b".")
    time.sleep(600)
    os._exit(0)
os.read(told, 1)
print('{"forked":true}', flush=True)
if "leave" not in words:
    sys.stdin.read()

"""Ignores SIGTERM and the end of its input."""
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('{"ready":true}', flush=True)
time.sleep(600)

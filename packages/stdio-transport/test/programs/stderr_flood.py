"""Writes so many bytes to stderr before it answers: without a reader it would block and never answer."""
import os
import sys

size = int(sys.argv[1])
chunk = b"0123456789abcdef" * 4096
left = size
while left > 0:
    left -= os.write(2, chunk[: min(left, len(chunk))])
os.write(1, b'{"flooded":%d}\n' % size)
sys.stdin.read()

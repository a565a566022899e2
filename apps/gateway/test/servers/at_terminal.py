"""Runs a command at a terminal: at_terminal.py MARKER KEYS COMMAND... types KEYS once MARKER was printed."""
import fcntl
import os
import pty
import struct
import sys
import termios

marker, keys, command = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
# A new terminal has no columns, and the dialogue would be one letter wide.
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
seen = b""
typed = False
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:  # Linux ends a terminal with EIO
        break
    if not data:
        break
    seen += data
    if not typed and marker.encode() in seen:
        os.write(terminal, keys.encode())
        typed = True
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

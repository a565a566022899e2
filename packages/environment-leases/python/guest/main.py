"""Guest agent of one leased environment: the first process inside, spoken to by the host over descriptors 0 and 1.

Standard library only, CPython 3.10 to 3.13. Imports cost more than all the rest of a start, hence the C modules in place
of `json`, `socket` and `signal`, and the parts that are loaded when they are first asked for.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from agent import Agent  # noqa: E402
from harden import harden  # noqa: E402


def shake_hands() -> None:
    """Runs nothing before the host said that it lives (`go`): else a sandbox could outlive a host killed during the start."""
    os.write(4, b"r\n")
    answer = b""
    while len(answer) < 3:
        piece = os.read(3, 3 - len(answer))
        if not piece:
            os._exit(125)
        answer += piece
    if answer != b"go\n":
        os._exit(125)
    # Also what this machine's service manager left open above bubblewrap's own: nothing inside may inherit it.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def main() -> None:
    confined = "--handshake" in sys.argv
    if confined:
        shake_hands()
    harden(reap_orphans=not confined)
    Agent(first_process=confined).serve()


main()

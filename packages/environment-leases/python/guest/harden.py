"""What the agent asks of the kernel for itself, without importing all of ctypes (8 ms)."""

import os

PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36


def harden(reap_orphans: bool) -> None:
    """Foreign code of the same user may then not read or write the agent's memory, nor take its descriptors."""
    prctl(PR_SET_DUMPABLE, 0)
    if reap_orphans:
        # Outside a pid namespace, processes that cut themselves loose would otherwise become children of this machine's init.
        prctl(PR_SET_CHILD_SUBREAPER, 1)


def prctl(option: int, value: int) -> bool:
    """False where it cannot be called: an interpreter without ctypes, a system without prctl."""
    try:
        import _ctypes

        address = _ctypes.dlsym(_ctypes.dlopen(None, os.RTLD_NOW), "prctl")
        return _ctypes.call_function(address, (option, value, 0, 0, 0)) == 0
    except (ImportError, OSError, AttributeError, TypeError):
        return False

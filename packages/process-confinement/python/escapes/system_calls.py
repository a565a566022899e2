"""System calls by number, for what Python has no function for."""

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)

# arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h
X86_64 = {
    "clone": 56, "ptrace": 101, "syslog": 103, "chroot": 161, "adjtimex": 159, "mount": 165, "add_key": 248,
    "keyctl": 250, "unshare": 272, "perf_event_open": 298, "name_to_handle_at": 303, "open_by_handle_at": 304,
    "setns": 308, "process_vm_readv": 310, "bpf": 321, "io_uring_setup": 425, "pidfd_open": 434, "clone3": 435,
    "openat2": 437, "fchmodat2": 452,
}
AARCH64 = {
    "clone": 220, "ptrace": 117, "syslog": 116, "chroot": 51, "adjtimex": 171, "mount": 40, "add_key": 217,
    "keyctl": 219, "unshare": 97, "perf_event_open": 241, "name_to_handle_at": 264, "open_by_handle_at": 265,
    "setns": 268, "process_vm_readv": 270, "bpf": 280, "io_uring_setup": 425, "pidfd_open": 434, "clone3": 435,
    "openat2": 437, "fchmodat2": 452,
}
NUMBERS = X86_64 if platform.machine() == "x86_64" else AARCH64


def call(name, *arguments):
    """@raises OSError with the error number of the kernel."""
    ctypes.set_errno(0)
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = libc.syscall(ctypes.c_long(NUMBERS[name]), *wide)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result

"""The kernel's own interfaces: rights, namespaces, mounts, and calls with a history of faults."""

import ctypes
import glob
import os
import signal
import struct

from refused import Refused, first_success
from system_calls import call

CLONE_NEWUSER = 0x10000000
PROCESS_KEYRING = -2
JOIN_SESSION_KEYRING = 1
READ_ALL_OF_KERNEL_LOG = 3
ADJ_TICK = 0x4000
# Offset of `tick` in struct timex on 64 bits, and its size with the reserve at its end.
TICK_OFFSET = 88
TIMEX_BYTES = 208

# Opened to write and closed again; nothing is written. The first few run a program as root of the host; with them, all others.
KERNEL_SETTINGS = [
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/fs/binfmt_misc/register",
    "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper",
]


def open_to_write(paths):
    return first_success([lambda path=path: os.close(os.open(path, os.O_WRONLY)) for path in paths])


def core_pattern(_):
    return open_to_write(KERNEL_SETTINGS + glob.glob("/proc/sys/**/*", recursive=True))


def control_group(_):
    names = ["cgroup.procs", "release_agent", "tasks"]
    return open_to_write([path for name in names for path in glob.glob("/sys/fs/cgroup/**/" + name, recursive=True)])


def other_user(_):
    """By the call, or by a set-user-ID program, which nothing hinders where no_new_privs is not set."""

    def by_program():
        with open("/proc/self/status", encoding="ascii") as stream:
            if "NoNewPrivs:\t1" in stream.read():
                raise Refused("no_new_privs")

    return first_success([lambda: os.setresuid(0, 0, 0), by_program])


def mount_memory(context):
    call("mount", b"none", context["workspace"].encode(), b"tmpfs", 0, None)


def change_root(_):
    call("chroot", b"/")


def unshare_user(_):
    call("unshare", CLONE_NEWUSER)


def clone_user(_):
    def by_clone():
        child = call("clone", CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    def by_clone3():
        # struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls
        arguments = struct.pack("8Q", CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
        child = call("clone3", arguments, len(arguments))
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    return first_success([by_clone, by_clone3])


def join_namespace(_):
    def join(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            call("setns", descriptor, 0)
        finally:
            os.close(descriptor)

    return first_success([lambda path=path: join(path) for path in glob.glob("/proc/[0-9]*/ns/[mnui][nept][tcs]*")])


def keyring(_):
    call("keyctl", JOIN_SESSION_KEYRING, None)
    call("add_key", b"user", b"berth:escape", b"x", 1, PROCESS_KEYRING)


def bpf_map(_):
    array = struct.pack("4I", 2, 4, 4, 1) + bytes(112)
    os.close(call("bpf", 0, array, len(array)))


def io_uring(_):
    os.close(call("io_uring_setup", 1, ctypes.create_string_buffer(120)))


def perf_event(_):
    """A counter of this process's own time, user mode only."""
    attributes = struct.pack("<IIQQQQQ", 1, 128, 0, 0, 0, 0, (1 << 0) | (1 << 5) | (1 << 6)) + bytes(80)
    os.close(call("perf_event_open", attributes, 0, -1, -1, 8))


def kernel_log(_):
    call("syslog", READ_ALL_OF_KERNEL_LOG, ctypes.create_string_buffer(4096), 4096)


def file_handle(context):
    """Opens by number, whatever stands between: with the right to do it, every file of the file system is open."""
    handle = ctypes.create_string_buffer(struct.pack("I", 128) + bytes(132))
    mount = ctypes.c_int()
    folder = os.open(context["workspace"], os.O_RDONLY | os.O_DIRECTORY)
    call("name_to_handle_at", folder, b".", handle, ctypes.byref(mount), 0)
    os.close(call("open_by_handle_at", folder, handle, os.O_RDONLY))


def clock(_):
    """Sets the length of a tick to what it is: needs the right to set the clock, and changes nothing."""
    now = ctypes.create_string_buffer(TIMEX_BYTES)
    call("adjtimex", now)
    struct.pack_into("I", now, 0, ADJ_TICK)
    if struct.unpack_from("q", now, TICK_OFFSET)[0] != 10_000:
        raise Refused("the tick is not the usual one; left alone")
    call("adjtimex", now)


ATTEMPTS = {
    "core-pattern": core_pattern,
    "control-group": control_group,
    "other-user": other_user,
    "mount": mount_memory,
    "chroot": change_root,
    "unshare": unshare_user,
    "clone": clone_user,
    "join-namespace": join_namespace,
    "keyring": keyring,
    "bpf": bpf_map,
    "io-uring": io_uring,
    "perf-event": perf_event,
    "kernel-log": kernel_log,
    "file-handle": file_handle,
    "clock": clock,
}

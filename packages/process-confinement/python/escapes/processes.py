"""Processes of the host: seen, read, signalled, traced. The victim is one that the kit started for it."""

import ctypes
import os
import signal

from refused import Refused, first_success
from system_calls import call

PTRACE_SEIZE = 0x4206


def pids():
    own = str(os.getpid())
    return [name for name in os.listdir("/proc") if name.isdigit() and name != own]


def content(path):
    with open(path, "rb") as stream:
        return stream.read()


def find_victim(context):
    token = context["token"].encode()
    for pid in pids():
        try:
            if token in content("/proc/%s/cmdline" % pid):
                return None
        except OSError:
            continue  # ended meanwhile
    raise Refused("not seen")


def read_environment(context):
    name = (context["environName"] + "=").encode()

    def value(pid):
        for entry in content("/proc/%s/environ" % pid).split(b"\0"):
            if entry.startswith(name):
                return entry[len(name):]
        raise Refused("not seen")

    return first_success([lambda pid=pid: value(pid) for pid in pids()])


def read_proc_memory(context):
    victim = context["victim"]
    with open("/proc/%d/mem" % victim["pid"], "rb", buffering=0) as stream:
        stream.seek(victim["address"])
        return stream.read(victim["length"])


def read_by_system_call(context):
    victim = context["victim"]

    class Span(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    buffer = ctypes.create_string_buffer(victim["length"])
    here = Span(ctypes.addressof(buffer), victim["length"])
    there = Span(victim["address"], victim["length"])
    count = call("process_vm_readv", victim["pid"], ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    return buffer.raw[:count]


def trace(context):
    """Seizing does not stop the victim, and ends with this process."""
    call("ptrace", PTRACE_SEIZE, context["victim"]["pid"], 0, 0)


def signal_victim(context):
    def by_descriptor():
        descriptor = call("pidfd_open", context["victim"]["pid"], 0)
        signal.pidfd_send_signal(descriptor, signal.SIGUSR1)

    return first_success([lambda: os.kill(context["victim"]["pid"], signal.SIGUSR1), by_descriptor])


ATTEMPTS = {
    "process-list": find_victim,
    "process-environment": read_environment,
    "process-memory": read_proc_memory,
    "process-vm-readv": read_by_system_call,
    "ptrace": trace,
    "signal": signal_victim,
}

"""Sockets of the host. What counts is whether the host's listener saw something; ECONNREFUSED here is what a dead one gives too."""

import socket

from refused import first_success

TIMEOUT_SECONDS = 3


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as channel:
        channel.settimeout(TIMEOUT_SECONDS)
        channel.connect(address)
        # Seen by the listener before this program ends.
        channel.recv(1)


def connect_loopback(context):
    connect(socket.AF_INET, ("127.0.0.1", context["tcpPort"]))


def connect_abstract(context):
    connect(socket.AF_UNIX, "\0" + context["abstractName"])


def connect_path(context):
    connect(socket.AF_UNIX, context["socketPath"])


def send_datagram(context):
    """Sending always works; an answer means that it arrived."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.settimeout(TIMEOUT_SECONDS)
        channel.connect(("127.0.0.1", context["udpPort"]))
        channel.send(b"x")
        channel.recv(1)


def open_raw(_):
    def opened(family, protocol):
        socket.socket(family, socket.SOCK_RAW, protocol).close()

    return first_success(
        [
            lambda: opened(socket.AF_INET, socket.IPPROTO_ICMP),
            lambda: opened(socket.AF_PACKET, socket.htons(3)),
        ]
    )


def open_undivided(_):
    """VSOCK leads to the hypervisor, ALG and KEY into the kernel, from whatever network namespace."""
    families = [getattr(socket, "AF_VSOCK", 40), getattr(socket, "AF_ALG", 38), getattr(socket, "AF_KEY", 15)]
    kinds = [socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW]
    return first_success([lambda pair=pair: socket.socket(*pair).close() for pair in zip(families, kinds)])


ATTEMPTS = {
    "host-loopback": connect_loopback,
    "abstract-socket": connect_abstract,
    "path-socket": connect_path,
    "host-datagram": send_datagram,
    "raw-socket": open_raw,
    "undivided-socket": open_undivided,
}

"""Files that are not its own: read by every path, and written."""

import os
import stat

from refused import Refused, first_success

# The names are unlikely to exist; each is removed at once when it could be made.
SYSTEM_FOLDERS = ["/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/bin", "/lib", "/opt", "/dev", "/run", "/sys"]
KERNEL_DEVICES = {"mem", "kmem", "port", "kmsg"}


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def read_secret(context):
    return read(context["secret"])


def read_other(context):
    return read(context["other"])


def read_by_dots(context):
    return read(context["workspace"] + "/.." * 40 + context["secret"])


def read_by_descriptor(context):
    """A descriptor of a folder keeps its place in the tree of the one who opened it."""
    folder = os.open(context["workspace"], os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(40):
        above = os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        os.close(folder)
        folder = above
    with open(os.open(context["secret"].lstrip("/"), os.O_RDONLY, dir_fd=folder), "rb") as stream:
        return stream.read()


def read_by_proc_root(context):
    names = ["self", "1", *[name for name in os.listdir("/proc") if name.isdigit()]]
    roots = ["/proc/%s/root%s" % (name, context["secret"]) for name in names]
    folders = ["/proc/%s/cwd%s%s" % (name, "/.." * 40, context["secret"]) for name in names]
    return first_success([lambda path=path: read(path) for path in roots + folders])


def read_by_symlink(context):
    link = os.path.join(context["workspace"], "symbolic")
    os.symlink(context["secret"], link)
    try:
        return read(link)
    finally:
        os.unlink(link)


def read_by_hard_link(context):
    link = os.path.join(context["workspace"], "hard")
    os.link(context["secret"], link)
    try:
        return read(link)
    finally:
        os.unlink(link)


def write_measured(context):
    """Every way to change what was measured: in place, by a descriptor that was opened to read, by another file, by a new one."""
    tree = context["tree"]
    path = os.path.join(tree, "measured")

    def write(target, flags):
        descriptor = os.open(target, flags)
        try:
            os.write(descriptor, b"changed")
        finally:
            os.close(descriptor)

    def reopen():
        with open(path, "rb") as stream:
            write("/proc/self/fd/%d" % stream.fileno(), os.O_WRONLY)

    def replace():
        other = os.path.join(context["workspace"], "replacement")
        with open(other, "wb") as stream:
            stream.write(b"changed")
        os.rename(other, path)

    def make_writable():
        os.chmod(path, 0o666)
        write(path, os.O_WRONLY)

    return first_success(
        [
            lambda: write(path, os.O_WRONLY | os.O_APPEND),
            lambda: write(path, os.O_RDWR | os.O_TRUNC),
            reopen,
            replace,
            make_writable,
            lambda: os.unlink(path),
            lambda: write(os.path.join(tree, "added"), os.O_WRONLY | os.O_CREAT | os.O_EXCL),
            lambda: os.rename(tree, tree + "-moved"),
        ]
    )


def write_system(context):
    def make(folder):
        path = os.path.join(folder, "berth-escape-" + context["token"])
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        os.unlink(path)

    return first_success([lambda folder=folder: make(folder) for folder in SYSTEM_FOLDERS])


def make_device(context):
    """The device is /dev/null: harmless where it can be made, and as forbidden as a disk."""
    path = os.path.join(context["workspace"], "device")
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    os.unlink(path)


def change_device(_):
    """Gives /dev/null the mode that it has. With another one, every program of the host would stand without it."""
    os.chmod("/dev/null", stat.S_IMODE(os.stat("/dev/null").st_mode))


def open_devices(_):
    def risky(name):
        return name in KERNEL_DEVICES or stat.S_ISBLK(os.stat("/dev/" + name).st_mode)

    def opened(name):
        if not risky(name):
            raise Refused("no device of the kernel or of a disk")
        os.close(os.open("/dev/" + name, os.O_RDONLY | os.O_NONBLOCK))

    return first_success([lambda name=name: opened(name) for name in sorted(os.listdir("/dev"))])


ATTEMPTS = {
    "secret-path": read_secret,
    "other-owner": read_other,
    "dot-dot-path": read_by_dots,
    "dot-dot-descriptor": read_by_descriptor,
    "proc-root": read_by_proc_root,
    "symbolic-link": read_by_symlink,
    "hard-link": read_by_hard_link,
    "measured-tree": write_measured,
    "system-write": write_system,
    "device-node": make_device,
    "device-mode": change_device,
    "raw-device": open_devices,
}

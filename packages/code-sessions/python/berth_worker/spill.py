"""The whole output of a call that said more than an outcome keeps, as a file of the workspace."""
import os

_FOLDER = ".berth/outputs"
#: Older files go when there are more.
_MAX_FILES = 16
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Spill:
    """Never raises: a full or damaged workspace costs the spill, not the call."""

    def __init__(self, settings, call):
        self._room = settings["maxSpillBytes"]
        self._name = f"call-{call}.txt"
        self._file = None
        if self._room == 0:
            return
        try:
            folder = _folder(settings["workspace"])
            try:
                _remove_old(folder)
                self._file = os.open(self._name, _CREATE, 0o600, dir_fd=folder)
            finally:
                os.close(folder)
        except OSError:
            pass

    def write(self, data):
        if self._file is None:
            return
        part = memoryview(data)[: self._room]
        self._room -= len(part)
        try:
            while part:
                part = part[os.write(self._file, part) :]
        except OSError:
            self._room = 0

    def close(self):
        """Where it is, relative to the workspace; None when there is none."""
        if self._file is None:
            return None
        try:
            os.close(self._file)
        except OSError:
            pass
        return f"{_FOLDER}/{self._name}"


def _folder(workspace):
    folder = os.open(workspace, _OPEN_FOLDER)
    for part in _FOLDER.split("/"):
        try:
            os.mkdir(part, 0o700, dir_fd=folder)
        except FileExistsError:
            pass
        try:
            inner = os.open(part, _OPEN_FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def _remove_old(folder):
    def number(name):
        digits = name[len("call-") : -len(".txt")]
        return int(digits) if digits.isdigit() else -1

    ours = [name for name in os.listdir(folder) if name.startswith("call-") and name.endswith(".txt")]
    ours.sort(key=number)
    for name in ours[: max(0, len(ours) - _MAX_FILES + 1)]:
        os.unlink(name, dir_fd=folder)

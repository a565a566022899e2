"""Files of the workspace. Every part of a path is opened by itself and never through a link, so that no link in the
workspace, planted before or during the call, leads anywhere else."""
import os
import stat
from binascii import a2b_base64, b2a_base64
from errno import EEXIST, ELOOP, ENOENT, ENOSPC, ENOTDIR, ENOTEMPTY

_CHUNK = 196_608
_MAX_HANDLES = 64
_MAX_ENTRIES = 10_000
_PAGE = 500
_MAX_PATH = 4_096
_MAX_PART = 255
#: A sparse file may say that it has more bytes than the host can count.
_MAX_COUNT = 2**53 - 1
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


class FileFault(Exception):
    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


def answer(settings, method, params):
    """One request of the host. Bytes go in pieces, so that a file never has to be in a frame."""
    step = _STEPS.get(method)
    if step is None:
        raise FileFault("FAILED", f"no such method: {method}")
    try:
        return step(settings, params)
    except OSError as error:
        if error.errno in (ENOENT,):
            raise FileFault("FILE_NOT_FOUND", "there is no such file or folder") from None
        if error.errno in (ELOOP, ENOTDIR):
            raise FileFault("FILE_PATH_INVALID", "a part of the path is a link, or no folder") from None
        if error.errno in (ENOTEMPTY, EEXIST):
            raise FileFault("FILE_REFUSED", "the folder is not empty") from None
        if error.errno == ENOSPC:
            cure = "remove files, or have a profile with more workspaceBytes"
            raise FileFault("FILE_REFUSED", f"the workspace is full: {cure}") from None
        raise FileFault("FILE_REFUSED", error.strerror or "the system refused it") from None


_handles = {}
_next_handle = 0


def _keep(step):
    global _next_handle
    if len(_handles) >= _MAX_HANDLES:
        raise FileFault("FILE_REFUSED", f"{_MAX_HANDLES} files are being transferred")
    _next_handle += 1
    _handles[_next_handle] = step
    return _next_handle


def _parts(path):
    if type(path) is not str or len(path) > _MAX_PATH or "\0" in path or path.startswith("/"):
        raise FileFault("FILE_PATH_INVALID", "a path is relative to the workspace and at most 4096 characters")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if any(part == ".." or len(os.fsencode(part)) > _MAX_PART for part in parts):
        raise FileFault("FILE_PATH_INVALID", "a path has no `..`, and its parts have at most 255 bytes")
    return parts


def _open_folder(settings, parts, make=False):
    folder = os.open(settings["workspace"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts:
        try:
            if make:
                try:
                    os.mkdir(part, 0o777, dir_fd=folder)
                except FileExistsError:
                    pass
            inner = os.open(part, _FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def _entry(path, status):
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "other")
    shown = os.fsencode(path).decode("utf-8", "replace")
    return {"path": shown, "kind": kind, "bytes": min(status.st_size, _MAX_COUNT), "modifiedAt": status.st_mtime_ns // 1_000_000}


def _list(settings, params):
    parts = _parts(params["path"])
    folder = _open_folder(settings, parts)
    try:
        names = sorted(os.listdir(folder))
        if len(names) > _MAX_ENTRIES:
            raise FileFault("FILE_REFUSED", f"the folder has over {_MAX_ENTRIES} entries")
        entries = []
        for name in names:
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                continue  # it went meanwhile
            entries.append(_entry("/".join([*parts, name]), status))
    finally:
        os.close(folder)
    pages = iter([entries[at : at + _PAGE] for at in range(0, len(entries), _PAGE)])
    if len(entries) <= _PAGE:
        return {"entries": entries, "next": None}
    return {"entries": next(pages), "next": _keep(_Pages(pages))}


class _Pages:
    def __init__(self, pages):
        self._pages = pages

    def step(self, params):
        page = next(self._pages, None)
        return {"entries": page or [], "done": page is None}

    def close(self):
        pass


class _Reading:
    def __init__(self, file, room):
        self._file, self._room = file, room

    def step(self, params):
        chunk = os.read(self._file, _CHUNK)
        self._room -= len(chunk)
        if self._room < 0:
            raise FileFault("FILE_TOO_LARGE", "the file is larger than the limit")
        return {"data": b2a_base64(chunk, newline=False).decode(), "done": not chunk}

    def close(self):
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _read(settings, params):
    *parents, name = _parts(params["path"]) or [""]
    if not name:
        raise FileFault("FILE_REFUSED", "the workspace is a folder")
    folder = _open_folder(settings, parents)
    try:
        file = os.open(name, _READ, dir_fd=folder)
    finally:
        os.close(folder)
    reading = _Reading(file, settings["maxFileBytes"])
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise FileFault("FILE_REFUSED", "it is not a file")
        if status.st_size > settings["maxFileBytes"]:
            raise FileFault("FILE_TOO_LARGE", f"it has {status.st_size} bytes")
        first = reading.step(None)
        if status.st_size < _CHUNK:
            reading.close()
            return {**first, "next": None}
        return {**first, "next": _keep(reading)}
    except BaseException:
        reading.close()
        raise


class _Writing:
    """Into a file beside, which takes the place of the old one at the end."""

    def __init__(self, folder, parts, room):
        self._folder, self._parts, self._room = folder, parts, room
        self._beside = f".berth-{os.urandom(8).hex()}.part"
        self._file = os.open(self._beside, _CREATE, 0o666, dir_fd=folder)
        self._done = False

    def step(self, params):
        chunk = memoryview(a2b_base64(params["data"]))
        self._room -= len(chunk)
        if self._room < 0:
            raise FileFault("FILE_TOO_LARGE", "the file is larger than the limit")
        while chunk:
            chunk = chunk[os.write(self._file, chunk) :]
        if not params["last"]:
            return {"done": False}
        status = os.fstat(self._file)
        name = self._parts[-1]
        try:
            os.replace(self._beside, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except IsADirectoryError:
            raise FileFault("FILE_REFUSED", "there is a folder of that name") from None
        self._done = True
        return {"done": True, "entry": _entry("/".join(self._parts), status)}

    def close(self):
        if not self._done:
            try:
                os.unlink(self._beside, dir_fd=self._folder)
            except OSError:
                pass  # the caller's code was faster
        os.close(self._file)
        os.close(self._folder)


def _write(settings, params):
    parts = _parts(params["path"])
    if not parts:
        raise FileFault("FILE_PATH_INVALID", "the path names no file")
    folder = _open_folder(settings, parts[:-1], make=True)
    try:
        return {"next": _keep(_Writing(folder, parts, settings["maxFileBytes"]))}
    except BaseException:
        os.close(folder)
        raise


def _next(settings, params):
    handle = params["handle"]
    step = _handles.get(handle)
    if step is None:
        raise FileFault("FAILED", "no such transfer")
    try:
        told = step.step(params)
    except BaseException:
        _drop(settings, params)
        raise
    if told["done"]:
        _drop(settings, params)
    return told


def _drop(settings, params):
    step = _handles.pop(params["handle"], None)
    if step is not None:
        step.close()
    return {}


def _remove(settings, params):
    """A file, a link itself, or an empty folder."""
    parts = _parts(params["path"])
    if not parts:
        raise FileFault("FILE_REFUSED", "the workspace itself stays")
    folder = _open_folder(settings, parts[:-1])
    try:
        status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            os.rmdir(parts[-1], dir_fd=folder)
        else:
            os.unlink(parts[-1], dir_fd=folder)
    finally:
        os.close(folder)
    return {}


_STEPS = {
    "files.list": _list,
    "files.read": _read,
    "files.write": _write,
    "files.next": _next,
    "files.drop": _drop,
    "files.remove": _remove,
}

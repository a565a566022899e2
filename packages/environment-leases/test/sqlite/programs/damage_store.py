"""Damages a lease store as disks, editors and half copies do. Imports nothing of ours.

damage_store.py WAY FILE
"""

import sqlite3
import struct
import sys
from pathlib import Path


def flip(path: Path, offset: int) -> None:
    """Changes one bit."""
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


def flip_text(path: Path, text: bytes) -> None:
    """Changes one bit of each place where a text stands: pages keep old copies that nobody reads."""
    at = path.read_bytes().find(text)
    while at >= 0:
        flip(path, at)
        at = path.read_bytes().find(text)


def cut(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


def edit(path: Path, statement: str) -> None:
    database = sqlite3.connect(path)
    database.executescript(statement)
    database.close()


def frames(log: Path) -> list[tuple[int, int]]:
    """Offset of each frame of the write-ahead log, and its size of the database after commit (0: not a commit)."""
    data = log.read_bytes()
    page = struct.unpack(">I", data[8:12])[0]
    offsets = range(32, len(data) - page - 23, 24 + page)
    return [(at, struct.unpack(">I", data[at + 4 : at + 8])[0]) for at in offsets]


def flip_frame(path: Path, commits_behind: int) -> None:
    """Changes a bit in a page of the log that so many commits come after."""
    log = Path(f"{path}-wal")
    commits = [at for at, size in frames(log) if size]
    flip(log, commits[-1 - commits_behind] + 100)


def cut_last_frame(path: Path) -> None:
    log = Path(f"{path}-wal")
    cut(log, frames(log)[-1][0] + 77)


WAYS = {
    "empty": lambda path: cut(path, 0),
    "half": lambda path: cut(path, path.stat().st_size // 2 + 100),
    "no-database": lambda path: path.write_bytes(b"lease store\n" * 400),
    "header-bit": lambda path: flip(path, 17),
    "row-bit": lambda path: flip_text(path, b'"state":"active"'),
    "number-in-a-row": lambda path: flip_text(path, b"1800000900001"),
    "zero-page": lambda path: path.write_bytes(path.read_bytes()[:4096] + b"\0" * 4096 + path.read_bytes()[8192:]),
    "index": lambda path: edit(
        path,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema"
        " WHERE name = 'leases_by_owner') WHERE name = 'leases_by_state';",
    ),
    "other-state": lambda path: edit(path, "UPDATE leases SET state = 'released';"),
    "trigger": lambda path: edit(
        path, "CREATE TRIGGER t AFTER INSERT ON leases BEGIN DELETE FROM leases WHERE id <> new.id; END;"
    ),
    "no-file": lambda path: path.unlink(),
    "log-header": lambda path: flip(Path(f"{path}-wal"), 20),
    "log-middle": lambda path: flip_frame(path, 3),
    "log-before-last": lambda path: flip_frame(path, 1),
    "log-end": cut_last_frame,
    "later-version": lambda path: edit(path, "PRAGMA user_version = 2;"),
    "other-database": lambda path: (path.unlink(), edit(path, "CREATE TABLE notes (text TEXT);"), path.chmod(0o600)),
}


if __name__ == "__main__":
    WAYS[sys.argv[1]](Path(sys.argv[2]))

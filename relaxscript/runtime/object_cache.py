"""Machine code and programs that are kept on disk, so that another process need not make them.

A cache is a folder of files, each named by the key of what it holds, and by its kind. An
object is what LLVM makes of a text; a program is what `build` makes of a module, and tells machine
code by the keys of objects. `RELAXSCRIPT_CACHE` names the
folder, or is `off`. Without it the folder is where the system keeps caches. The capacity in MiB is
`RELAXSCRIPT_CACHE_SIZE` (512): what was used least recently goes first.

Code from a file is run, so only files are read that this user wrote and nobody else could change:
folder and file belong to the user, and others may not write there. Each file begins with a magic,
a version and the SHA-256 of its key and content. What does not agree is dropped.

A cache only saves time: whatever fails in it is like something that it does not hold.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

__all__ = [
    "MIB", "OBJECT", "PROGRAM", "KeptFile", "ObjectCache", "default_folder", "object_cache",
]  # fmt: skip

MAGIC = b"\x93RXOBJ\r\n"
VERSION = 1
HEADER = struct.Struct("<8sI32s")
MIB = 1 << 20
CAPACITY = 512
# No program is this large; a file that is was not written here.
LARGEST = 64 * MIB
ALIGNMENT = 64
# What is written is renamed within moments: an old part was left by a process that died.
ABANDONED_SECONDS = 3600
OBJECT, PROGRAM, PART = "object", "program", "part"
NAME = re.compile(rf"[0-9a-f]{{64}}\.({OBJECT}|{PROGRAM})|\.[0-9a-f]{{64}}\.[0-9a-f]+\.{PART}")

# What there is on some systems only: links are not followed, and nobody waits for a pipe's writer.
READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)


class KeptFile(NamedTuple):
    """A file of a cache: when it was used last, its bytes, and where it is."""

    used: float
    size: int
    path: str

    @property
    def kind(self) -> str:
        """`OBJECT`, `PROGRAM`, or `PART` of one that is being written."""
        return self.path.rpartition(".")[2]


class ObjectCache:
    """A folder of objects and programs by their keys, each a SHA-256 in hexadecimal digits.

    Without a folder it holds nothing. `capacity` is in bytes. Any number of threads and processes
    may use one folder.
    """

    __slots__ = ("capacity", "folder")

    def __init__(self, folder: str | None, capacity: int = CAPACITY * MIB) -> None:
        self.folder = folder
        self.capacity = capacity

    def load(self, key: str, kind: str = OBJECT) -> memoryview | None:
        """The object or program of a key; None where there is none that can be trusted.

        It begins at an address that is a multiple of 64, so that arrays in it can be used there.
        """
        if self.folder is None or self.refusal() is not None:
            return None
        path = self._path(key, kind)
        try:
            found = _read(path)
        except OSError:
            return None
        if not _is_whole(key, found):
            self.discard(key, kind)
            return None
        with suppress(OSError):  # in a folder that may only be read
            os.utime(path)
        return found[HEADER.size :]

    def store(self, key: str, content: bytes, kind: str = OBJECT) -> None:
        """Keep an object or program; now and then, let go what was used least recently."""
        size = HEADER.size + len(content)
        if self.folder is None or size > min(LARGEST, self.capacity):
            return
        with suppress(OSError):
            self._make_folder()
            if self.refusal() is None:
                self._write(key, _header(key, content) + content, kind)
                if self._is_time_to_shrink(key, size):
                    self.shrink()

    def discard(self, key: str, kind: str = OBJECT) -> None:
        """Remove the object or program of a key, whatever it is."""
        with suppress(OSError):
            os.unlink(self._path(key, kind))

    def refusal(self) -> str | None:
        """The reason why the folder is neither read nor written; None where it is used."""
        if self.folder is None:
            return "there is no folder for it"
        try:
            status = os.stat(self.folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"the folder cannot be read ({error.strerror})"
        if not stat.S_ISDIR(status.st_mode):
            return "it is no folder"
        return _distrust("the folder", status)

    def files(self) -> list[KeptFile]:
        """The objects and programs of the cache; a file that is being written is none."""
        return [file for file in self._listed() if file.kind != PART and _is_ours(file)]

    def clear(self) -> list[KeptFile]:
        """Remove all files that are ours, and give those that could not be removed."""
        return [file for file in self._listed() if _is_ours(file) and not _removed(file)]

    def shrink(self) -> None:
        """Remove what was used least recently, where little is left of the capacity."""
        listed = sorted(self._listed())
        before = time.time() - ABANDONED_SECONDS
        for file in listed:
            if file.kind == PART and file.used < before and _is_ours(file):
                _removed(file)
        kept = [file for file in listed if file.kind != PART]
        total = sum(file.size for file in kept)
        if total <= self.capacity * 7 // 8:
            return
        for file in kept:
            if total <= self.capacity * 3 // 4:
                return
            if _is_ours(file) and _removed(file):
                total -= file.size

    def _is_time_to_shrink(self, key: str, size: int) -> bool:
        """True once in a 32nd of the capacity, as chance has it, of which keys have enough.

        So a look at all files costs each of those that fill a 32nd little. No process has to know
        what others store.
        """
        return int(key[:8], 16) * self.capacity < size * 32 << 32

    def _listed(self) -> Iterator[KeptFile]:
        """The files whose names are those of a cache; none where the folder cannot be read."""
        with suppress(OSError), os.scandir(self.folder or "") as entries:
            for entry in entries:
                if NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):  # another process may remove it
                        status = entry.stat(follow_symlinks=False)
                        yield KeptFile(status.st_mtime, status.st_size, entry.path)

    def _path(self, key: str, kind: str) -> str:
        return os.path.join(self.folder or "", f"{key}.{kind}")

    def _make_folder(self) -> None:
        assert self.folder is not None
        if not os.path.isdir(self.folder):
            os.makedirs(os.path.dirname(self.folder) or ".", exist_ok=True)
            with suppress(FileExistsError):  # another process was faster
                os.mkdir(self.folder, 0o700)

    def _write(self, key: str, content: bytes, kind: str) -> None:
        """Write a file under another name first: nobody ever finds a part of it."""
        part = os.path.join(self.folder or "", f".{key}.{os.urandom(8).hex()}.{PART}")
        try:
            with open(os.open(part, WRITE | BINARY, 0o600), "wb") as file:
                file.write(content)
            os.replace(part, self._path(key, kind))
        except BaseException:
            with suppress(OSError):
                os.unlink(part)
            raise


def _header(key: str, content: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(key.encode())
    digest.update(content)
    return HEADER.pack(MAGIC, VERSION, digest.digest())


def _is_whole(key: str, found: memoryview) -> bool:
    """True for what was stored under a key, and is as it was stored."""
    return found[: HEADER.size] == _header(key, found[HEADER.size :])


def _read(path: str) -> memoryview:
    """The content of a file; empty if it is none, is too large, or others may have written it."""
    with open(os.open(path, READ | BINARY), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        usable = stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST
        if not usable or _distrust("the file", status) is not None:
            return memoryview(b"")
        memory = np.empty(status.st_size + ALIGNMENT, np.uint8)
        first = -(memory.ctypes.data + HEADER.size) % ALIGNMENT
        place = memory[first : first + status.st_size].data
        size = file.readinto(place)  # a part where the file was cut in this moment
        return place[:size].toreadonly()


def _distrust(what: str, status: os.stat_result) -> str | None:
    """The reason why others may have written a file or folder; None where nobody may."""
    if not hasattr(os, "geteuid"):  # Windows keeps what is below a user's folder to the user
        return None
    if status.st_uid != os.geteuid():
        return f"{what} belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write into {what}"
    return None


def _is_ours(file: KeptFile) -> bool:
    """True if a file begins as those of a cache; an abandoned one may have no bytes yet."""
    with suppress(OSError), open(os.open(file.path, READ | BINARY), "rb") as opened:
        found = opened.read(len(MAGIC))
        return found == MAGIC or (file.kind == PART and MAGIC.startswith(found))
    return False


def _removed(file: KeptFile) -> bool:
    """Remove a file; False if that cannot be done."""
    try:
        os.unlink(file.path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def default_folder(platform: str) -> str | None:
    """The folder in which a system keeps our cache; None where it cannot say.

    `XDG_CACHE_HOME` or `~/.cache`, on macOS `~/Library/Caches`, on Windows `LOCALAPPDATA`.
    """
    if platform == "win32":
        above = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")
    elif platform == "darwin":
        above = os.path.expanduser("~/Library/Caches")
    else:
        above = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(above):  # to be ignored then, says the standard
            above = os.path.expanduser("~/.cache")
    return os.path.join(above, "relaxscript") if os.path.isabs(above) else None


def object_cache() -> ObjectCache:
    """The cache that the environment asks for."""
    said = os.environ.get("RELAXSCRIPT_CACHE", "")
    if said.lower() == "off":
        return ObjectCache(None)
    folder = os.path.expanduser(said) if said else default_folder(sys.platform)
    size = os.environ.get("RELAXSCRIPT_CACHE_SIZE", "")
    # A size that is no number is like none: nothing that a cache needs ends a program.
    mib = int(size) if re.fullmatch(r"[0-9]{1,9}", size) else CAPACITY
    return ObjectCache(folder, mib * MIB)

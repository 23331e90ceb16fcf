"""The store of machine code: what it gives back, what it refuses, and how little it minds."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from relaxscript.runtime import object_cache as object_cache_module
from relaxscript.runtime.object_cache import (
    HEADER,
    MAGIC,
    MIB,
    ObjectCache,
    default_folder,
    object_cache,
)
from relaxscript_tests.fresh_python import ROOT


def key_of(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


KEY = key_of(0)
OBJECT = b"machine code" * 20


@pytest.fixture
def cache(tmp_path):
    return ObjectCache(str(tmp_path / "above" / "cache"))


@pytest.fixture
def stored(cache):
    """A cache that holds one object, and the path of its file."""
    cache.store(KEY, OBJECT)
    assert cache.load(KEY) == OBJECT
    return cache, os.path.join(cache.folder, f"{KEY}.object")


def names(cache: ObjectCache) -> list[str]:
    return sorted(os.listdir(cache.folder))


# ---------------------------------------------------------------- what it gives back


def test_an_object_is_found_by_its_key_alone(cache):
    assert cache.load(KEY) is None
    cache.store(KEY, OBJECT)
    cache.store(key_of(1), b"")
    again = ObjectCache(cache.folder)
    assert [again.load(key_of(number)) for number in range(3)] == [OBJECT, b"", None]


def test_what_is_stored_later_takes_the_place(stored):
    cache, _ = stored
    cache.store(KEY, b"other")
    assert cache.load(KEY) == b"other"
    assert names(cache) == [f"{KEY}.object"]


def test_an_object_that_is_discarded_is_gone(stored):
    cache, _ = stored
    cache.discard(KEY)
    cache.discard(KEY)
    assert (cache.load(KEY), names(cache)) == (None, [])


def test_a_cache_without_a_folder_holds_nothing():
    nowhere = ObjectCache(None)
    nowhere.store(KEY, OBJECT)
    assert (nowhere.load(KEY), nowhere.files(), nowhere.clear()) == (None, [], [])


def test_folder_and_files_are_of_the_user_alone(stored):
    cache, path = stored
    assert stat.S_IMODE(os.stat(cache.folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


# ---------------------------------------------------------------- files that are not what they seem


def header(key: str, content: bytes, magic: bytes = MAGIC, version: int = 1) -> bytes:
    return HEADER.pack(magic, version, hashlib.sha256(key.encode() + content).digest())


FORGED = {
    "empty": b"",
    "a part of the header": header(KEY, OBJECT)[:20],
    "a header alone": header(KEY, OBJECT),
    "truncated": header(KEY, OBJECT) + OBJECT[:-1],
    "longer": header(KEY, OBJECT) + OBJECT + b"\0",
    "another content": header(KEY, OBJECT) + b"X" + OBJECT[1:],
    "another magic": header(KEY, OBJECT, b"\x93RXOBJ\n\n") + OBJECT,
    "another version": header(KEY, OBJECT, version=2) + OBJECT,
    "the object of another key": header(key_of(1), OBJECT) + OBJECT,
    "no header": OBJECT,
    "a text": b"I was here before\n" * 10,
}


@pytest.mark.parametrize("content", FORGED.values(), ids=FORGED)
def test_a_forged_file_is_a_miss_and_dropped(stored, content):
    cache, path = stored
    with open(path, "wb") as file:
        file.write(content)
    assert (cache.load(KEY), names(cache)) == (None, [])
    cache.store(KEY, OBJECT)
    assert cache.load(KEY) == OBJECT


@pytest.mark.slow
def test_no_change_of_any_byte_is_taken(stored):
    cache, path = stored
    with open(path, "rb") as file:
        whole = file.read()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 + place % 255
        with open(path, "wb") as file:
            file.write(changed)
        assert cache.load(KEY) is None


def test_a_file_in_the_place_of_another_is_dropped(stored):
    cache, path = stored
    os.rename(path, path.replace(KEY, key_of(1)))
    assert (cache.load(key_of(1)), names(cache)) == (None, [])


def test_a_file_that_others_may_write_or_own_is_dropped(stored, monkeypatch):
    cache, path = stored
    for mode in (0o620, 0o602):
        os.chmod(path, mode)
        assert (cache.load(KEY), names(cache)) == (None, [])
        cache.store(KEY, OBJECT)
    status = foreign(path)
    monkeypatch.setattr(os, "fstat", lambda file: status)
    assert (cache.load(KEY), names(cache)) == (None, [])


def foreign(path: str) -> os.stat_result:
    """What the system says of a file, but for its owner."""
    status = list(os.lstat(path))
    status[stat.ST_UID] = os.geteuid() + 1
    return os.stat_result(status)


def test_a_link_is_not_followed(stored, tmp_path):
    cache, path = stored
    os.rename(path, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", path)
    assert cache.load(KEY) is None
    cache.store(KEY, OBJECT)
    assert cache.load(KEY) == OBJECT
    assert not os.path.islink(path)


def test_a_pipe_keeps_nobody_waiting(stored):
    cache, path = stored
    os.unlink(path)
    os.mkfifo(path)
    assert (cache.load(KEY), names(cache)) == (None, [])


def test_a_folder_in_the_place_of_a_file_is_a_miss(stored):
    cache, path = stored
    os.unlink(path)
    os.mkdir(path)
    assert cache.load(KEY) is None
    cache.store(KEY, OBJECT)
    assert cache.load(KEY) is None
    assert names(cache) == [f"{KEY}.object"]


def test_a_file_larger_than_any_program_is_not_read(stored):
    cache, path = stored
    os.truncate(path, 1 << 40)
    assert (cache.load(KEY), names(cache)) == (None, [])


# ---------------------------------------------------------------- folders that are not trusted


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_may_write_is_neither_read_nor_written(stored, mode):
    cache, _ = stored
    os.chmod(cache.folder, mode)
    cache.store(key_of(1), OBJECT)
    assert (cache.load(KEY), names(cache)) == (None, [f"{KEY}.object"])
    assert cache.refusal() == "others may write into the folder"


def test_the_folder_of_another_user_is_neither_read_nor_written(stored, monkeypatch):
    cache, _ = stored
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(cache.folder).st_uid + 1)
    cache.store(key_of(1), OBJECT)
    assert (cache.load(KEY), names(cache)) == (None, [f"{KEY}.object"])
    assert cache.refusal() == "the folder belongs to another user"


def test_a_file_in_the_place_of_the_folder_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("mine")
    for folder in ("file", "file/below"):
        cache = ObjectCache(str(tmp_path / folder))
        cache.store(KEY, OBJECT)
        assert (cache.load(KEY), cache.files()) == (None, [])
        assert cache.refusal() is not None
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_may_only_be_read_is_read(stored, monkeypatch):
    """As a read-only file system says it, which holds for every user."""
    cache, _ = stored
    for call in ("utime", "mkdir", "unlink", "replace"):
        monkeypatch.setattr(os, call, failing(errno.EROFS))
    opened = os.open
    monkeypatch.setattr(os, "open", lambda path, flags, mode=0o777: (
        failing(errno.EROFS)() if flags & os.O_CREAT else opened(path, flags, mode)
    ))  # fmt: skip
    cache.store(key_of(1), OBJECT)
    assert [cache.load(key_of(number)) for number in range(2)] == [OBJECT, None]


# ---------------------------------------------------------------- whatever fails is a miss


def failing(number: int):
    def fail(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return fail


CALLS = ("stat", "open", "fstat", "mkdir", "makedirs", "replace", "utime", "unlink", "scandir")
ERRORS = (errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.EIO)


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("call", CALLS)
def test_no_failure_of_the_system_is_an_error(stored, monkeypatch, call, number):
    cache, path = stored
    with open(path, "ab") as file:
        file.write(b"damaged")
    new = ObjectCache(os.path.join(cache.folder, "new"), capacity=1000)
    with monkeypatch.context() as broken:
        broken.setattr(os, call, failing(number))
        assert cache.load(KEY) is None
        assert new.load(KEY) is None
        cache.store(key_of(1), OBJECT)
        new.store(KEY, OBJECT)
        new.shrink()
        cache.discard(KEY)
        cache.files(), cache.clear()
    cache.store(KEY, OBJECT)
    assert cache.load(KEY) == OBJECT


def test_a_full_disk_leaves_no_part_of_a_file(stored, monkeypatch):
    cache, _ = stored

    class Full(io.FileIO):
        def write(self, content):
            super().write(content[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(object_cache_module, "open", Full, raising=False)
        cache.store(key_of(1), OBJECT)
    assert names(cache) == [f"{KEY}.object"]
    assert cache.load(key_of(1)) is None


def test_an_interrupt_leaves_no_part_of_a_file(stored, monkeypatch):
    cache, _ = stored

    def interrupt(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            cache.store(key_of(1), OBJECT)
    assert names(cache) == [f"{KEY}.object"]


# ---------------------------------------------------------------- the capacity


def test_what_was_used_least_recently_goes_first(tmp_path):
    cache = ObjectCache(str(tmp_path / "cache"))
    for number in range(8):
        cache.store(key_of(number), bytes(1000 - HEADER.size))
        os.utime(tmp_path / "cache" / f"{key_of(number)}.object", (number, number))
    assert cache.load(key_of(0)) is not None  # which makes it the last that was used
    cache.capacity = 8000
    cache.shrink()
    left = [number for number in range(8) if cache.load(key_of(number)) is not None]
    assert left == [0, 3, 4, 5, 6, 7]


def test_a_cache_stays_about_as_large_as_it_may_be(tmp_path, rng, monkeypatch):
    cache = ObjectCache(str(tmp_path / "cache"), capacity=200_000)
    looked, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked.append(path) or scandir(path))
    written, largest = 0, 0
    for number in range(600):
        size = int(rng.integers(1, 2000))
        cache.store(key_of(number), rng.bytes(size))
        written += HEADER.size + size
        largest = max(largest, sum(file.stat().st_size for file in scandir(cache.folder)))
    assert 100_000 < largest <= 200_000
    # What one store costs does not grow with what is held: it is about 32 looks per capacity.
    assert len(looked) < 2 * 32 * written / cache.capacity


def test_an_object_that_would_fill_the_cache_is_not_kept(tmp_path):
    for capacity in (0, HEADER.size + len(OBJECT) - 1):
        small = ObjectCache(str(tmp_path / "cache"), capacity)
        small.store(KEY, OBJECT)
        assert small.load(KEY) is None


def test_shrinking_removes_abandoned_parts_and_no_file_of_others(tmp_path):
    cache = ObjectCache(str(tmp_path), capacity=100)
    part, fresh = (f".{KEY}.{number}.part" for number in ("0a", "0b"))
    for name, content in {
        part: MAGIC + b"half", fresh: MAGIC + b"half", "notes.txt": b"mine",
        f"{key_of(1)}.object": bytes(500), f"{key_of(2)}.object": MAGIC + bytes(500),
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(content)
    os.utime(tmp_path / part, (0, 0))
    cache.shrink()
    assert names(cache) == sorted([fresh, "notes.txt", f"{key_of(1)}.object"])


def test_clearing_removes_what_began_as_ours_and_nothing_else(stored, tmp_path):
    cache, _ = stored
    kept = {
        f"{key_of(1)}.object": b"a file of somebody else", "notes.txt": MAGIC,
        f"{key_of(2)}.OBJECT": MAGIC,
    }  # fmt: skip
    ours = {f".{KEY}.00ff.part": b"", f"{key_of(3)}.object": MAGIC + b"damaged"}
    for name, content in {**kept, **ours}.items():
        with open(os.path.join(cache.folder, name), "wb") as file:
            file.write(content)
    os.mkdir(os.path.join(cache.folder, f"{key_of(4)}.object"))
    (tmp_path / "elsewhere").write_bytes(MAGIC)
    os.symlink(tmp_path / "elsewhere", os.path.join(cache.folder, f"{key_of(5)}.object"))
    assert len(cache.files()) == 2
    assert cache.clear() == []
    left = [*kept, f"{key_of(4)}.object", f"{key_of(5)}.object"]
    assert names(cache) == sorted(left)
    assert (tmp_path / "elsewhere").read_bytes() == MAGIC


# ---------------------------------------------------------------- several processes

AT_ONCE = """
import hashlib, os, random, sys
from relaxscript.runtime.object_cache import ObjectCache
folder, seed, forks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for child in range(forks):
    if not os.fork():
        seed, forks = seed + 100 * (child + 1), 0
        break
cache, chance = ObjectCache(folder, capacity=30_000), random.Random(seed)
found = 0
for step in range(400):
    key = hashlib.sha256(bytes([chance.randrange(20)])).hexdigest()
    content = key.encode() * 40
    held = cache.load(key)
    if held is None:
        cache.store(key, content)
    elif held != content:
        os._exit(2)
    else:
        found += 1
    if chance.randrange(50) == 0:
        cache.clear()
while forks:
    forks -= os.wait()[1] == 0 or os._exit(3)
os._exit(0 if found else 4)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "forks"), [(3, 0), (1, 3)])
def test_several_processes_at_once_find_whole_objects_or_none(tmp_path, processes, forks):
    folder = str(tmp_path / "cache")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", AT_ONCE, folder, str(seed), str(forks if seed == 0 else 0)],
            cwd=ROOT,
        )
        for seed in range(processes)
    ]
    assert [process.wait() for process in started] == [0] * processes
    assert not [name for name in os.listdir(folder) if name.endswith(".part")]


# ---------------------------------------------------------------- what the environment says


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """The environment with a home, and without a word on caches."""
    for name in ("RELAXSCRIPT_CACHE", "RELAXSCRIPT_CACHE_SIZE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return monkeypatch


def test_the_folder_is_where_the_system_keeps_caches(environment, tmp_path):
    home = str(tmp_path)
    assert default_folder("linux") == f"{home}/.cache/relaxscript"
    assert default_folder("darwin") == f"{home}/Library/Caches/relaxscript"
    environment.setenv("XDG_CACHE_HOME", f"{home}/mine")
    assert default_folder("linux") == f"{home}/mine/relaxscript"
    environment.setenv("XDG_CACHE_HOME", "mine")
    assert default_folder("linux") == f"{home}/.cache/relaxscript"
    environment.setenv("LOCALAPPDATA", f"{home}/AppData")
    assert default_folder("win32") == f"{home}/AppData/relaxscript"
    environment.setenv("HOME", "nowhere")
    environment.delenv("XDG_CACHE_HOME")
    assert default_folder("linux") is None


def test_the_environment_names_the_folder_or_switches_the_cache_off(environment, tmp_path):
    assert object_cache().folder == default_folder(sys.platform)
    for said, folder in [
        ("", default_folder(sys.platform)), ("off", None), ("OFF", None),
        ("~/here", f"{tmp_path}/here"), (str(tmp_path / "there"), f"{tmp_path}/there"),
    ]:  # fmt: skip
        environment.setenv("RELAXSCRIPT_CACHE", said)
        assert object_cache().folder == folder


@pytest.mark.parametrize(
    ("said", "mib"),
    [("", 512), ("7", 7), ("0", 0), ("much", 512), ("-1", 512), ("٣", 512), ("9" * 5000, 512)],
)
def test_the_environment_says_how_much_is_kept(environment, said, mib):
    environment.setenv("RELAXSCRIPT_CACHE_SIZE", said)
    assert object_cache().capacity == mib * MIB


def test_a_folder_below_the_current_one_is_made_there(environment, tmp_path):
    environment.chdir(tmp_path)
    environment.setenv("RELAXSCRIPT_CACHE", "here")
    object_cache().store(KEY, OBJECT)
    assert ObjectCache(str(tmp_path / "here")).load(KEY) == OBJECT


def test_objects_of_any_size_come_back(cache, rng):
    for number, size in enumerate(np.append(rng.integers(0, 1 << 16, 5), 1 << 20)):
        content = rng.bytes(int(size))
        cache.store(key_of(number), content)
        assert cache.load(key_of(number)) == content

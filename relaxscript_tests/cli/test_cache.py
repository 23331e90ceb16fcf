"""`relaxscript cache`: what it tells of the machine code on disk, and how it removes it."""

from __future__ import annotations

import hashlib
import os

import pytest

from relaxscript.cli import main
from relaxscript.runtime.object_cache import OBJECT, PROGRAM, ObjectCache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a cache that the environment names."""
    path = tmp_path / "cache"
    monkeypatch.setenv("RELAXSCRIPT_CACHE", str(path))
    monkeypatch.setenv("RELAXSCRIPT_CACHE_SIZE", "100")
    return path


def store(folder, *sizes):
    for size in sizes:
        key = hashlib.sha256(str(size).encode()).hexdigest()
        ObjectCache(str(folder)).store(key, bytes(size), PROGRAM if size % 2 else OBJECT)


def test_info_says_where_it_is_and_how_much(folder, capsys):
    said = f"folder   {folder}\nholds    {{}} of 100 MiB\n"
    for sizes, amount in [
        ((), "0 programs and 0 objects, 0 KiB"), ((3000,), "0 programs and 1 object, 2 KiB"),
        ((2 << 20,), "0 programs and 2 objects, 2.0 MiB"),
        ((1,), "1 program and 2 objects, 2.0 MiB"),
    ]:  # fmt: skip
        store(folder, *sizes)
        assert main(["cache", "info"]) == 0
        assert capsys.readouterr() == (said.format(amount), "")


def test_info_makes_no_folder(folder):
    main(["cache", "info"])
    assert not folder.exists()


def test_info_says_why_a_folder_is_not_used(folder, capsys):
    folder.mkdir()
    folder.chmod(0o777)
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out.endswith("\nunused   others may write into the folder\n")


def test_clear_removes_objects_and_leaves_other_files(folder, capsys):
    store(folder, 11, 3000)
    (folder / "notes.txt").write_text("mine")
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr() == ("removed 1 program and 1 object, 3 KiB\n", "")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr() == ("removed 0 programs and 0 objects, 0 KiB\n", "")


def test_clear_says_what_it_cannot_remove(folder, capsys, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    store(folder, 10)
    (name,) = os.listdir(folder)
    monkeypatch.setattr(os, "unlink", refuse)
    assert main(["cache", "clear"]) == 1
    said = capsys.readouterr()
    assert said.out == "removed 0 programs and 0 objects, 0 KiB\n"
    assert said.err == f"cannot remove {folder / name}\n"


@pytest.mark.parametrize("action", ["info", "clear"])
def test_a_cache_that_is_off_is_said_to_be(monkeypatch, capsys, action):
    monkeypatch.setenv("RELAXSCRIPT_CACHE", "off")
    assert main(["cache", action]) == 0
    assert capsys.readouterr().out.startswith("nothing is kept: RELAXSCRIPT_CACHE is off")


def test_cache_asks_for_an_action(capsys):
    for words, said in [(["cache"], "ACTION"), (["cache", "cler"], "did you mean clear?")]:
        with pytest.raises(SystemExit) as caught:
            main(words)
        assert caught.value.code == 2
        assert said in capsys.readouterr().err

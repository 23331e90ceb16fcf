"""Files are read as Python reads them, and written whole or not at all.

What cannot be read or written is named, with the reason.
"""

from __future__ import annotations

import io
import os
import stat
import sys

import pytest

from relaxscript.cli import files
from relaxscript.cli.files import FileText, read, read_text, write_back
from relaxscript.errors import DiagnosticError, Source


def test_a_file_keeps_its_name_and_text(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("x = 'é'\n", "utf-8")
    source = read(str(file))
    assert (source.filename, source.text) == (str(file), "x = 'é'\n")


def test_the_encoding_that_the_file_declares_is_used(tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes("# coding: latin-1\nx = 'é'\n".encode("latin-1"))
    assert read(str(file)).lines[1] == "x = 'é'"


def test_a_dash_is_the_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x = 1\n")))
    source = read("-")
    assert (source.filename, source.text) == ("<stdin>", "x = 1\n")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"x = '\xff'\n", "it is not text that Python can read"),
        (b"# coding: nonsense\n", "it is not text that Python can read: unknown encoding"),
        (b"x = 1\0\n", "it is not text: it contains null characters"),
    ],
)
def test_a_file_that_is_not_text_is_refused(tmp_path, content, reason):
    file = tmp_path / "a.py"
    file.write_bytes(content)
    with pytest.raises(DiagnosticError, match=reason) as caught:
        read(str(file))
    assert caught.value.diagnostics[0].code == "RX0701"


def test_the_nearest_file_is_offered_for_a_missing_one(tmp_path):
    (tmp_path / "digits.py").write_text("")
    with pytest.raises(DiagnosticError, match=r"cannot read `.*dijits.py`: No such file") as caught:
        read(str(tmp_path / "dijits.py"))
    assert caught.value.diagnostics[0].help == f"did you mean `{tmp_path / 'digits.py'}`?"


def test_a_missing_folder_has_no_nearest_file(tmp_path):
    with pytest.raises(DiagnosticError, match="No such file or directory") as caught:
        read(str(tmp_path / "nowhere" / "a.py"))
    assert caught.value.diagnostics[0].help is None


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(DiagnosticError, match="directory"):
        read(str(tmp_path))


def test_what_has_no_end_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(DiagnosticError, match="it is no regular file"):
            read(path)


# ---------------------------------------------------------------- writing


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "a.py"
    made.write_bytes(b"old\n")
    return made


def refusal(file, before, text="new\n"):
    with pytest.raises(DiagnosticError) as caught:
        write_back(str(file), before, text)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "RX0707"
    return diagnostic.message.removeprefix(f"cannot write `{file}`: ")


def alone(file):
    """Whether nothing was left beside a file."""
    return [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
def test_the_text_is_new_and_the_permissions_stay(file, mode):
    file.chmod(mode)
    write_back(str(file), read_text(str(file)), "new\n")
    assert file.read_bytes() == b"new\n"
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert alone(file)


def test_a_new_text_has_a_new_age(file):
    os.utime(file, (1, 1))
    write_back(str(file), read_text(str(file)), "new\n")
    assert file.stat().st_mtime > 1


def test_a_link_stays_a_link(file, tmp_path):
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "b.py"
    link.symlink_to(file)
    write_back(str(link), read_text(str(link)), "new\n")
    assert link.is_symlink()
    assert file.read_bytes() == b"new\n"


def test_a_file_is_known_by_its_name_alone(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    write_back("a.py", read_text("a.py"), "new\n")
    assert file.read_bytes() == b"new\n"


def test_a_file_that_is_read_only_stays(file):
    file.chmod(0o444)
    assert refusal(file, read_text(str(file))) == "it is read-only"
    assert file.read_bytes() == b"old\n"
    assert alone(file)


def test_a_file_that_changed_meanwhile_stays(file):
    before = read_text(str(file))
    file.write_bytes(b"newer\n")
    assert refusal(file, before) == "it has changed since it was read"
    assert file.read_bytes() == b"newer\n"
    assert alone(file)


def test_a_file_that_is_gone_is_not_made_again(file):
    before = read_text(str(file))
    file.unlink()
    assert refusal(file, before) == "it is no plain file"
    assert not file.exists()


def test_what_is_no_plain_file_is_refused(tmp_path):
    before = FileText(Source("x", "old\n"), b"old\n", "utf-8")
    assert refusal(tmp_path, before) == "it is no plain file"


@pytest.mark.parametrize("failing", ["mkstemp", "replace", "copystat", "fsync", "chown"])
def test_when_the_system_refuses_the_file_stays(file, failing, monkeypatch):
    def refuse(*_args, **_options):
        raise PermissionError(1, "Operation not permitted")

    home = {"mkstemp": files.tempfile, "copystat": files.shutil}.get(failing, os)
    if failing == "chown":
        real = os.stat
        # A file that was made by somebody else.
        monkeypatch.setattr(os, "stat", lambda name, **o: _Foreign(real(name, **o), name, file))
    monkeypatch.setattr(home, failing, refuse)
    assert refusal(file, read_text(str(file))) == "Operation not permitted"
    monkeypatch.undo()
    assert file.read_bytes() == b"old\n"
    assert alone(file)


class _Foreign:
    """The status of a file, as if each but the one that was there belonged to nobody."""

    def __init__(self, status, name, file):
        self.status = status
        if os.fspath(name) != os.fspath(file):
            self.st_uid = 65534

    def __getattr__(self, name):
        return getattr(self.status, name)


def test_what_the_encoding_lacks_is_named(tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(b"# coding: latin-1\nx = '\xe9'\n")
    before = read_text(str(file))
    assert refusal(file, before, before.source.text + "# ∞") == "its iso-8859-1 has no `∞`"


def test_an_encoding_that_cannot_be_written_as_it_was_read_is_refused(tmp_path):
    file = tmp_path / "a.py"
    raw = b"# coding: utf-7\nx = '+AGE-'\n"  # a needless way to write an `a`
    file.write_bytes(raw)
    assert refusal(file, read_text(str(file))) == "its utf-7 cannot be written as it was read"
    assert file.read_bytes() == raw

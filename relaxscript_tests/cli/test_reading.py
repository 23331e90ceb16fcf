"""Files are read as Python reads them; what cannot be read is named, with the reason."""

from __future__ import annotations

import io
import os
import sys

import pytest

from relaxscript.cli.reading import read
from relaxscript.errors import DiagnosticError


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

"""Starting the language server, with and without what it needs."""

from __future__ import annotations

import os
import sys

from relaxscript.cli import main
from relaxscript.cli.lsp import start


def test_without_pygls_the_extra_is_named(monkeypatch, capsys):
    monkeypatch.setattr(start, "find_spec", lambda name: None)
    assert main(["lsp"]) == 2
    said = capsys.readouterr().err
    assert "RX0702" in said
    assert "`relaxscript lsp` needs pygls, which is not installed" in said
    assert 'pip install "relaxscript[lsp]"' in said


def test_nothing_is_imported_from_the_current_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), os.curdir, "/elsewhere"])
    start.forget_current_folder()
    assert sys.path == ["/elsewhere"]

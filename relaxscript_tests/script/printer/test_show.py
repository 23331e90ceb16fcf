"""Showing: colours where a terminal wants them, HTML in a notebook, plain text elsewhere."""

from __future__ import annotations

import re
import shutil
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import StringImm
from relaxscript.script.printer import show
from relaxscript.script.printer.show import shown

from .programs import function, tensor

TEXT = 'x = R.str("a")  # why'


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)


def test_a_pipe_gets_plain_text():
    assert shown(TEXT) == TEXT == shown(TEXT, "dark") == shown(TEXT, "monokai")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("style", [None, "light", "dark", "ansi"])
def test_a_terminal_gets_its_own_sixteen_colours(style: str | None):
    coloured = shown(TEXT, style)
    assert plain(coloured) == TEXT != coloured
    assert all(
        int(c) < 110 for code in re.findall(r"\x1b\[([\d;]*)m", coloured) for c in code.split(";")
    )


@pytest.mark.usefixtures("terminal")
def test_a_style_of_pygments_has_its_own_colours():
    coloured = shown(TEXT, "monokai")
    assert plain(coloured) == TEXT
    assert "38;5;" in coloured


@pytest.mark.usefixtures("terminal")
def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "")
    assert shown(TEXT) == TEXT


def test_a_style_that_there_is_not_is_refused_with_the_nearest_one():
    with pytest.raises(ValueError, match="there is no style `monokay`; did you mean `monokai`"):
        shown(TEXT, "monokay")


def test_a_notebook_displays_html_and_prints_nothing(monkeypatch: pytest.MonkeyPatch):
    published: list[dict[str, str]] = []
    shell = SimpleNamespace(kernel=1, display_pub=SimpleNamespace(publish=published.append))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert shown(TEXT) == ""
    (data,) = published
    assert data["text/plain"] == TEXT
    assert data["text/html"].startswith("<style>")


def test_ipython_in_a_terminal_is_a_terminal(monkeypatch: pytest.MonkeyPatch):
    shell = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert shown(TEXT) == TEXT


def test_a_formatter_of_python_may_be_asked_for(monkeypatch: pytest.MonkeyPatch):
    def run(command: list[str], input: str, **_: Any) -> Any:
        return SimpleNamespace(returncode=0, stdout=f"{command[0]} {input}\n")

    monkeypatch.setattr(shutil, "which", lambda name: name if name == "black" else None)
    monkeypatch.setattr(show.subprocess, "run", run)
    assert shown("x=1", black_format=True) == "black x=1"


def test_without_a_formatter_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="`pip install ruff`"):
        shown("x=1", black_format=True)


def test_modules_show_themselves(capsys: pytest.CaptureFixture[str]):
    module = IRModule({"main": function([], result=StringImm("a"), ret=tensor())})
    module.show()
    assert capsys.readouterr().out == module.script() + "\n"

"""Showing: colours where a terminal wants them, HTML in a notebook, plain text elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from relaxscript.ir import assert_structural_equal, prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import PrimValue, StringImm
from relaxscript.ir.struct_info import PrimStructInfo
from relaxscript.script import from_source
from relaxscript.script.printer.show import format_text, showing, text_to_show
from relaxscript_tests.markup import Markup

from .programs import function, tensor

TEXT = 'x = R.str("a")  # why'


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RELAXSCRIPT_STYLE", "RELAXSCRIPT_BLACK_FORMAT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)


def test_a_pipe_gets_plain_text():
    assert text_to_show(TEXT) == TEXT == text_to_show(TEXT, "dark") == text_to_show(TEXT, "monokai")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("style", [None, "light", "dark", "ansi"])
def test_a_terminal_gets_its_own_sixteen_colours(style: str | None):
    coloured = text_to_show(TEXT, style)
    assert plain(coloured) == TEXT != coloured
    assert all(
        int(c) < 110 for code in re.findall(r"\x1b\[([\d;]*)m", coloured) for c in code.split(";")
    )


@pytest.mark.usefixtures("terminal")
def test_a_style_of_pygments_has_its_own_colours():
    coloured = text_to_show(TEXT, "monokai")
    assert plain(coloured) == TEXT
    assert "38;5;" in coloured


@pytest.mark.usefixtures("terminal")
def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "")
    assert text_to_show(TEXT) == TEXT


def test_a_style_that_there_is_not_is_refused_with_the_nearest_one():
    with pytest.raises(ValueError, match="there is no style `monokay`; did you mean `monokai`"):
        text_to_show(TEXT, "monokay")


def test_a_notebook_displays_html_and_prints_nothing(monkeypatch: pytest.MonkeyPatch):
    published: list[dict[str, str]] = []
    shell = SimpleNamespace(kernel=1, display_pub=SimpleNamespace(publish=published.append))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert text_to_show(TEXT) == ""
    (data,) = published
    assert data["text/plain"] == TEXT
    assert Markup(data["text/html"]).text == TEXT


def test_what_is_shown_in_a_notebook_is_its_rich_form(monkeypatch: pytest.MonkeyPatch):
    published: list[dict[str, str]] = []
    shell = SimpleNamespace(kernel=1, display_pub=SimpleNamespace(publish=published.append))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    f = from_source('@R.function\ndef f(x: R.Tensor((2,), "float32")):\n    return x\n')
    f.show()
    f.show(style="dark")
    f.show(print_line_numbers=True)
    first, dark, numbered = [data["text/html"] for data in published]
    assert first == f._repr_html_()
    assert "relaxscript dark" in dark
    assert Markup(numbered).text == f.script(print_line_numbers=True)


def test_ipython_in_a_terminal_is_a_terminal(monkeypatch: pytest.MonkeyPatch):
    shell = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert text_to_show(TEXT) == TEXT


def formatters(
    monkeypatch: pytest.MonkeyPatch, *installed: str, fails: tuple[str, ...] = ()
) -> None:
    def run(command: list[str], input: str, **_: Any) -> Any:
        return SimpleNamespace(returncode=command[0] in fails, stdout=f"{command[0]} {input}\n")

    def which(name: str, path: str | None = None) -> str | None:
        return name if name in installed else None

    monkeypatch.setattr(shutil, "which", which)
    monkeypatch.setattr(subprocess, "run", run)


@pytest.mark.parametrize(
    ("installed", "used"), [(("ruff", "black"), "ruff"), (("black",), "black")]
)
def test_a_formatter_of_python_may_be_asked_for(installed, used, monkeypatch):
    formatters(monkeypatch, *installed)
    assert text_to_show("x=1", black_format=True) == f"{used} x=1"
    assert text_to_show("x=1") == "x=1"


def test_without_a_formatter_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    formatters(monkeypatch)
    with pytest.raises(RuntimeError, match="`pip install ruff`"):
        text_to_show("x=1", black_format=True)


def test_a_text_that_no_formatter_reads_stays_as_it_is(monkeypatch: pytest.MonkeyPatch):
    formatters(monkeypatch, "ruff", "black", fails=("ruff", "black"))
    assert text_to_show("1 x=1", black_format=True) == "1 x=1"


def test_a_real_formatter_leaves_a_script_that_parses_back():
    f = function([], result=PrimValue(1), ret=PrimStructInfo("int64"))
    module = IRModule({"main": f.with_attr("global_symbol", "main")})
    assert_structural_equal(from_source(format_text(module.script())), module)


@pytest.mark.usefixtures("terminal")
def test_the_environment_and_a_block_of_python_choose_where_a_call_does_not(monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_STYLE", "monokai")
    assert text_to_show(TEXT) == text_to_show(TEXT, "monokai") != text_to_show(TEXT, "ansi")
    with showing(style="vim"):
        assert text_to_show(TEXT) == text_to_show(TEXT, "vim") != text_to_show(TEXT, "monokai")
        with showing(black_format=False):
            assert text_to_show(TEXT) == text_to_show(TEXT, "vim")
    assert text_to_show(TEXT) == text_to_show(TEXT, "monokai")


def test_formatting_can_be_chosen_for_all_calls(monkeypatch: pytest.MonkeyPatch):
    formatters(monkeypatch, "ruff")
    monkeypatch.setenv("RELAXSCRIPT_BLACK_FORMAT", "1")
    assert text_to_show("x=1") == "ruff x=1"
    assert text_to_show("x=1", black_format=False) == "x=1"
    with showing(black_format=False):
        assert text_to_show("x=1") == "x=1"
    monkeypatch.setenv("RELAXSCRIPT_BLACK_FORMAT", "0")
    assert text_to_show("x=1") == "x=1"
    with showing(black_format=True):
        assert text_to_show("x=1") == "ruff x=1"


def test_a_style_of_the_environment_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RELAXSCRIPT_STYLE", "drak")
    with pytest.raises(ValueError, match="there is no style `drak`; did you mean `dark`"):
        text_to_show(TEXT)
    with pytest.raises(ValueError, match="there is no style `lihgt`"), showing("lihgt"):
        pass


def test_every_node_shows_itself(capsys: pytest.CaptureFixture[str]):
    f = function([], result=StringImm("a"), ret=tensor())
    for node in (f, f.body, f.ret_struct_info, prim.const(3, "int64") + 1):
        node.show()
        assert capsys.readouterr().out == node.script() + "\n"
        assert node.script()


def test_modules_show_themselves(capsys: pytest.CaptureFixture[str]):
    module = IRModule({"main": function([], result=StringImm("a"), ret=tensor())})
    module.show()
    assert capsys.readouterr().out == module.script() + "\n"

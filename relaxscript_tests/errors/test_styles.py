"""Colours only where they are wanted."""

from __future__ import annotations

import io

import pytest

from relaxscript.errors import automatic_style
from relaxscript.errors.styles import merge_pieces, paint, width


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def colourful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_terminal_gets_colours_and_a_file_does_not():
    assert automatic_style(Terminal()) == "ansi"
    assert automatic_style(io.StringIO()) == "text"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colours_gets_none(monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    monkeypatch.setenv(name, value)
    assert automatic_style(Terminal()) == "text"


def test_an_empty_no_color_means_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "")
    assert automatic_style(Terminal()) == "ansi"


def test_a_style_that_is_asked_for_is_given_whatever_the_environment(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint([[("x", "error")]], "ansi") == "\x1b[1;31mx\x1b[0m"


def test_lines_have_no_trailing_spaces_in_any_style():
    lines = [[("a  ", "error"), ("  ", "plain")], [(" ", "gutter")], []]
    assert paint(lines, "text") == "a\n\n"
    assert paint(lines, "ansi") == "\x1b[1;31ma\x1b[0m\n\n"
    assert '<span class="error">a</span>\n\n</pre>' in paint(lines, "html")


@pytest.mark.parametrize(("character", "columns"), [("a", 1), ("é", 1), ("日", 2), ("\u0301", 0)])
def test_width_is_that_of_a_terminal(character: str, columns: int):
    assert width(character) == columns


def test_neighbours_of_one_role_are_joined():
    assert merge_pieces([("a", "plain"), ("b", "plain"), ("c", "error")]) == [
        ("ab", "plain"),
        ("c", "error"),
    ]

"""Mistakes of the text before that are kept in a new one."""

from __future__ import annotations

import pytest

from relaxscript.cli.lsp.kept import Kept
from relaxscript.errors import Diagnostic, Edit, Label, Source, Span

OLD = "a\nb\nc\nd\ne"


def kept(new, diagnostic, *definitions, broken=None):
    old = Source("m.py", OLD)
    source = Source("m.py", new)
    place = None if broken is None else Span(source, broken, 1, broken, 2)
    made = diagnostic(lambda line, end=None: Span(old, line, 1, end or line, 2))
    found = list(Kept(old, source, definitions, place).diagnostics([made]))
    assert all(each.span.source is source for each in found if each.span is not None)
    return [each.span.line for each in found]


def at(line, end=None):
    return lambda span: Diagnostic("RX0101", "wrong", span(line, end))


@pytest.mark.parametrize(
    ("new", "line", "expected"),
    [
        (OLD, 4, [4]),
        ("a\nx\ny\nb\nc\nd\ne", 4, [6]),
        ("a\nc\nd\ne", 4, [3]),
        ("a\nb\nc\nX\ne", 4, []),
    ],
)
def test_a_mistake_goes_with_its_line(new, line, expected):
    assert kept(new, at(line)) == expected


def test_a_mistake_around_a_change_is_dropped():
    assert kept("a\nb\nX\nd\ne", at(2, 4)) == []
    assert kept("a\nb\nc\nX\nd\ne", at(2, 4)) == []


def test_nothing_is_kept_of_a_definition_that_changed():
    changed = "a\nb\nX\nd\ne"
    assert kept(changed, at(2), (2, 4)) == []
    assert kept(changed, at(2), (1, 2)) == [2]
    assert kept(changed, at(5), (2, 4)) == [5]
    assert kept("a\nb\nX\nc\nd\ne", at(2), (2, 4)) == []


def test_nothing_is_kept_of_a_definition_that_python_gives_up():
    assert kept(OLD, at(2), (2, 4), broken=3) == []
    assert kept(OLD, at(2), (2, 4), broken=5) == [2]


def test_labels_and_fixes_go_with_their_lines():
    def made(span):
        labels, fix = (Label(span(1), "here"),), (Edit(span(4), "x"),)
        return Diagnostic("RX0101", "wrong", span(2), labels, fix=fix)

    old, new = Source("m.py", OLD), Source("m.py", f"0\n{OLD}")
    [found] = Kept(old, new, ()).diagnostics([made(lambda line: Span(old, line, 1, line, 2))])
    assert (found.span.line, found.labels[0].span.line, found.fix[0].span.line) == (3, 2, 5)
    assert kept("X\nb\nc\nd\ne", made) == []


def test_places_in_other_files_stay_and_a_mistake_may_have_none():
    other = Span(Source("other.py", "x"), 1, 1, 1, 2)
    assert kept("X\nb\nc\nd\ne", lambda span: Diagnostic("RX0101", "w", span(2), ((other, ""),)))
    old, new = Source("m.py", OLD), Source("m.py", "X")
    nowhere = Diagnostic("RX0101", "wrong", None)
    assert list(Kept(old, new, ()).diagnostics([nowhere])) == [nowhere]

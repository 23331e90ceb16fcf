"""Which lines of two texts are the same."""

from __future__ import annotations

import pytest

from relaxscript.cli.lsp.shift import Shift


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("abcd", "abcd", [1, 2, 3, 4]),
        ("abcd", "axcd", [1, None, 3, 4]),
        ("abcd", "abxycd", [1, 2, 5, 6]),
        ("abcd", "ad", [1, None, None, 2]),
        ("aaa", "aaaa", [1, 2, 3]),
        ("ab", "", [None, None]),
        ("", "ab", []),
    ],
)
def test_lines_around_a_change_are_found_again(old, new, expected):
    shift = Shift(list(old), list(new))
    assert [shift.to_new(line) for line in range(1, len(old) + 1)] == expected
    for before, after in enumerate(expected, 1):
        if after is not None:
            assert shift.to_old(after) == before


@pytest.mark.parametrize(
    ("new", "first", "last", "expected"),
    [("abxcd", 1, 2, (1, 2)), ("abxcd", 3, 4, (4, 5)), ("abxcd", 2, 3, None),
     ("aXcd", 1, 3, None), ("aXcd", 3, 4, (3, 4)), ("acd", 1, 3, None), ("abcd", 1, 4, (1, 4))],
)  # fmt: skip
def test_lines_stay_together_unless_something_changed_between_them(new, first, last, expected):
    assert Shift(list("abcd"), list(new)).to_new_lines(first, last) == expected

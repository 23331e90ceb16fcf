"""One line with its marks: texts that do not collide, carets that stay aligned, long lines."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from relaxscript.errors.draw import LIMIT, Mark, draw
from relaxscript.errors.styles import width


def drawn(text: str, *marks: tuple[int, int, str], limit: int = LIMIT) -> str:
    """The picture, with the first mark as the culprit."""
    symbols = ["^", *"-" * len(marks)]
    made = [Mark(*mark, symbol, "plain") for mark, symbol in zip(marks, symbols, strict=False)]
    rows = draw(text, made, limit)
    return "\n".join("".join(piece for piece, _ in row).rstrip() for row in rows)


def test_three_texts_stand_beneath_each_other_and_lead_down_from_their_marks():
    picture = """\
f(a, b, c)
  -  ^  - third
  |  second
  first"""
    assert drawn("f(a, b, c)", (5, 6, "second"), (2, 3, "first"), (8, 9, "third")) == picture


def test_a_part_stays_visible_inside_the_whole():
    picture = """\
y = add(x, z)
    ^^^^-^^^^ whole
        part"""
    assert drawn("y = add(x, z)", (4, 13, "whole"), (8, 9, "part")) == picture


def test_of_two_marks_that_end_together_the_inner_speaks_first():
    picture = """\
a @ v
^^^^- inner
whole"""
    assert drawn("a @ v", (0, 5, "whole"), (4, 5, "inner")) == picture


def test_two_texts_about_one_place_follow_each_other():
    picture = """\
f(a)
  ^ two
  one"""
    assert drawn("f(a)", (2, 3, "one"), (2, 3, "two")).replace("-", "^") == picture


def test_a_text_stands_under_its_mark_where_another_without_text_follows():
    picture = """\
y: int = x
   ---   ^
   declared here"""
    assert drawn("y: int = x", (9, 10, ""), (3, 6, "declared here")) == picture


def test_a_mark_that_is_given_twice_is_drawn_once():
    marks = [Mark(2, 3, "one", "^", "plain")] * 2
    assert len(draw("f(a)", marks)) == 2


def test_marks_without_texts_share_one_row():
    assert drawn("f(a, b)", (2, 3, ""), (5, 6, "")) == "f(a, b)\n  ^  -"


def test_a_line_without_marks_is_the_line():
    assert drawn("f(a)") == "f(a)"


def test_tabs_become_spaces_up_to_the_next_stop():
    assert drawn("\tx\ty", (3, 4, "here")) == "    x   y\n        ^ here"


def test_wide_and_combining_characters_keep_marks_aligned():
    assert drawn("日本 = e\u0301 + y", (10, 11, "")) == "日本 = e\u0301 + y\n           ^"
    assert drawn("日本 = y", (0, 2, "")) == "日本 = y\n^^^^"


def test_a_mark_behind_the_end_of_the_line_stands_at_its_end():
    assert drawn("ab", (7, 9, "x")) == "ab\n  ^ x"


def test_a_long_line_keeps_what_is_around_its_marks():
    text = "a = [" + "1, " * 100 + "foo, " + "2, " * 100 + "]"
    picture = drawn(text, (text.index("foo"), text.index("foo") + 3, "here"), limit=60)
    line, below = picture.split("\n")
    assert line.startswith("...")
    assert line.endswith("...")
    assert len(line) <= 60
    assert line.index("foo") == below.index("^^^ here")


def test_a_long_line_keeps_both_ends_of_a_long_mark():
    text = "x = f(" + "1, " * 200 + "2)" + " " * 9 + "# comment" * 30
    line, below, _ = drawn(text, (4, 608, "call"), (0, 1, "name")).split("\n")
    assert line.startswith("x = f(1, 1,")
    assert "1, 2)" in line
    assert len(line) <= LIMIT
    assert below.index("^") == 4
    assert below.rindex("^") == line.index("2)") + 1


@pytest.mark.slow
@given(st.text("ab é日\t\u0301", max_size=400), st.data())
def test_what_is_marked_stands_above_its_underline(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    line, below = drawn(text + "|", (start, end + 1, "")).split("\n")
    assert sum(map(width, line)) <= LIMIT
    assert len(below) <= sum(map(width, line))
    assert len(below.strip()) >= 1
    if sum(map(width, text)) < LIMIT:
        before = drawn(text[:start] + "|").removesuffix("|")
        assert below.index("^") == sum(map(width, before))

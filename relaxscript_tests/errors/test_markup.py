"""The parts that outputs of notebooks are made of."""

from __future__ import annotations

import pytest

from relaxscript.errors import Source
from relaxscript.errors.markup import (
    box,
    escape,
    fold,
    hint_of,
    hinted,
    legible,
    page,
    preformatted,
    prose,
    table,
    tensor,
    title,
)
from relaxscript_tests.markup import HOSTILE, Markup


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_text_wherever_it_stands(text: str):
    parts = [
        title(text, [text]), preformatted(escape(text)), hinted(text, text, "name"),
        fold(escape(text), escape(text), text, True), table(text, [text], [[text]], [0]),
        table("t", ["a"], [["b"]], [], lambda row, column: text),
    ]  # fmt: skip
    found = Markup(page(box(*parts)))
    assert found.text.count(legible(text)) == 9
    assert {found.hints[legible(text)], found.hints["b\n"]} == {legible(text)}


def test_what_would_not_show_has_a_sign():
    assert legible("a\tb\n\x00\x1b\u202e\ud800") == "a\tb\n\u2400\u241b\ufffd\ufffd"
    assert escape("\ud800\uffff").encode("utf-8").decode("utf-8") == "\ufffd\ufffd"


def test_code_in_a_sentence_is_marked_as_such():
    assert prose("axis 1 of `x<`, axis 0 of `w`") == (
        "axis 1 of <code>x&lt;</code>, axis 0 of <code>w</code>"
    )
    assert prose("a ` and `b`") == "a <code> and </code>b`"
    assert prose("plain") == "plain"


def test_a_page_has_the_style_sheet_once():
    assert Markup(page(box("a"), box("b"))).styles == 1


def test_a_theme_that_is_given_is_a_class():
    assert Markup(page("a", theme="dark")).classes[0] == ("div", "relaxscript dark")
    assert Markup(page("a")).classes[0] == ("div", "relaxscript")


def test_a_line_end_that_comes_first_is_not_lost():
    # A reader of HTML drops the one that follows `<pre>` at once.
    assert not preformatted("\na").startswith("<pre>\n")
    assert Markup(preformatted("\na")).text == "\na"


def test_what_is_folded_says_how_much_it_is():
    assert fold("s", "b", "3 lines", False) == (
        '<details><summary data-more="3 lines"><pre>s</pre>\n</summary>b</details>'
    )
    assert Markup(fold("s", "b", "3 lines", True)).folds == [True]


def test_a_hint_is_the_place_and_the_line():
    source = Source("models/of/someone/model.py", "x = 1\n    y = x + 1\n")
    assert hint_of(source.between(10, 11)) == "model.py:2: y = x + 1"
    assert hint_of(Source("book.ipynb", "y = 2", 3).between(0, 1)) == (
        "book.ipynb: cell 3, line 1: y = 2"
    )
    assert hint_of(None) == ""
    assert len(hint_of(Source("m.py", "y" * 5_000).between(0, 1))) < 400


def test_numbers_of_a_table_end_under_one_another_and_cells_have_hints():
    found = Markup(
        table("sizes", ["name", "n"], [["a", "1"], ["b", "20"]], [1], lambda row, column: f"{row}")
    )
    assert [said for tag, said in found.classes if tag in ("th", "td")] == [
        "", "right", "", "right", "", "right",
    ]  # fmt: skip
    assert found.hints == {"a\n": "0", "1\n": "0", "b\n": "1", "20\n": "1"}


def test_a_tensor_has_its_shape_and_many_elements_are_folded():
    short = Markup(tensor((2, 3), ("float32", "cpu:0"), "[[1 2 3]\n [4 5 6]]"))
    assert short.text == "2 × 3 · float32 · cpu:0\n[[1 2 3]\n [4 5 6]]"
    assert short.folds == []
    assert Markup(tensor((), ("int32",), "5")).text == "scalar · int32\n5"
    assert Markup(tensor((99,), (), "1\n" * 98 + "1")).folds == [False]

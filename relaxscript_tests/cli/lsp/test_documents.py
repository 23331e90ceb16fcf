"""Texts as editors change them, and places as they count them."""

from __future__ import annotations

import pytest
from lsprotocol.types import (
    Position,
    Range,
    TextDocumentContentChangePartial,
    TextDocumentContentChangeWholeDocument,
)

from relaxscript.cli.lsp.documents import character_of, units_of
from relaxscript_tests.cli.lsp.texts import document

# An emoji and a letter beyond the basic plane are two units of UTF-16 and four bytes of UTF-8.
LINE = 'é𝛼 = "🙂 x"'


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 17), ("utf-16", 12), ("utf-32", 10)])
def test_the_length_of_a_line_is_counted_in_the_units_of_the_encoding(encoding, width):
    assert units_of(LINE, encoding) == width


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_every_place_of_a_line_comes_back(encoding):
    text = document(f"\n{LINE}\n", encoding=encoding)
    for column in range(1, len(LINE) + 2):
        position = text.position((2, column))
        assert position == Position(1, units_of(LINE[: column - 1], encoding))
        assert text.place(position) == (2, column)


def test_a_position_in_the_middle_of_a_letter_is_before_it():
    assert character_of("🙂x", 1, "utf-16") == 0
    assert character_of("🙂x", 2, "utf-16") == 1


def test_positions_behind_a_line_or_the_text_are_its_end():
    text = document("ab\ncd")
    assert text.place(Position(0, 99)) == (1, 3)
    assert text.place(Position(7, 3)) == (2, 3)


def test_half_of_a_surrogate_pair_is_a_letter():
    assert units_of("\ud83d", "utf-8") == 3
    assert document("x = '\ud83d'").position((1, 8)) == Position(0, 7)


def edit(start, end, text):
    return TextDocumentContentChangePartial(Range(Position(*start), Position(*end)), text)


def test_changes_apply_one_after_the_other():
    text = document("alpha\nbeta\n")
    text.change([edit((1, 0), (1, 4), "🙂"), edit((1, 2), (1, 2), "!")], 2)
    assert (text.text, text.version) == ("alpha\n🙂!\n", 2)


def test_a_change_may_join_lines_and_may_be_at_the_end():
    text = document("a\r\nb\r\nc")
    text.change([edit((0, 1), (1, 0), ""), edit((1, 1), (1, 1), "d\n")], 2)
    assert text.text == "ab\r\ncd\n"


def test_a_change_without_range_is_the_whole_text():
    text = document("a")
    text.change([TextDocumentContentChangeWholeDocument("b\n")], 5)
    assert (text.text, text.source.text) == ("b\n", "b\n")


def test_lines_end_where_editors_end_them():
    # A form feed and a line separator of Unicode are letters like others.
    text = document("a\x0cb\u2028c\nd")
    text.change([edit((1, 0), (1, 1), "e")], 2)
    assert text.text == "a\x0cb\u2028c\ne"


def test_a_byte_order_mark_is_counted_by_the_editor_only():
    text = document("\ufeffab\ncd")
    assert text.place(Position(0, 2)) == (1, 2)
    assert text.position((1, 2)) == Position(0, 2)
    text.change([edit((0, 1), (0, 2), "x")], 2)
    assert text.text == "\ufeffxb\ncd"

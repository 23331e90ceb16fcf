"""Fixes are applied whole, once, and never two at the same place."""

from __future__ import annotations

import pytest

from relaxscript.errors import Diagnostic, Edit, Source, apply_fixes, fix_source

SOURCE = Source("<text>", "f(aa, bb)\n")


def fix(*edits: tuple[int, int, str], source: Source = SOURCE, message: str = "") -> Diagnostic:
    """A diagnostic that offers to write texts from one character to another."""
    made = [Edit(source.between(start, end), text) for start, end, text in edits]
    return Diagnostic("RX0101", message, made[0].span, fix=tuple(made))


AA, BB = fix((2, 4, "xyz")), fix((6, 8, "é"))


def test_all_fixes_are_applied_whatever_their_order():
    assert fix_source(SOURCE, [BB, AA]) == ("f(xyz, é)\n", (AA, BB))
    assert apply_fixes(SOURCE, [AA, BB]) == "f(xyz, é)\n"


def test_nothing_to_fix_leaves_the_text_as_it_is():
    assert fix_source(SOURCE, [Diagnostic("RX0101", "", None)]) == (SOURCE.text, ())


def test_of_two_that_overlap_the_first_is_applied():
    whole = fix((2, 8, "q"))
    assert fix_source(SOURCE, [BB, whole]) == ("f(q)\n", (whole,))
    assert fix_source(SOURCE, [whole, fix((0, 3, "g(c"))]).text == "g(ca, bb)\n"


def test_a_fix_of_several_edits_is_done_whole_or_not_at_all():
    both = fix((4, 4, "!"), (6, 8, "é"))
    assert fix_source(SOURCE, [both]).text == "f(aa!, é)\n"
    assert fix_source(SOURCE, [fix((3, 7, "q")), both]) == ("f(aqb)\n", (fix((3, 7, "q")),))


def test_edits_of_one_fix_that_overlap_cannot_be_done():
    assert fix_source(SOURCE, [fix((2, 4, "x"), (3, 5, "y"))]) == (SOURCE.text, ())


def test_the_same_fix_of_several_mistakes_is_done_once():
    again = fix((2, 4, "xyz"), message="seen from elsewhere")
    assert fix_source(SOURCE, [AA, again]) == ("f(xyz, bb)\n", (AA, again))


@pytest.mark.parametrize("order", [1, -1])
def test_texts_are_inserted_beside_what_is_replaced(order):
    fixes = [fix((2, 2, "(")), AA, fix((4, 4, ")"))][::order]
    assert apply_fixes(SOURCE, fixes) == "f((xyz), bb)\n"


def test_of_two_texts_for_one_place_the_first_is_inserted():
    assert apply_fixes(SOURCE, [fix((2, 2, "1")), fix((2, 2, "2"))]) == "f(1aa, bb)\n"


def test_what_another_source_needs_is_left_out():
    other = Source("<other>", SOURCE.text)
    elsewhere = fix((2, 4, "x"), source=other)
    mixed = Diagnostic("RX0101", "", None, fix=(*AA.fix, *elsewhere.fix))
    assert fix_source(SOURCE, [elsewhere, mixed]) == (SOURCE.text, ())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_new_lines_end_as_the_lines_around_them(end):
    source = Source("<text>", f"a{end}b{end}")
    assert apply_fixes(source, [fix((0, 1, "x\ny"), source=source)]) == f"x{end}y{end}b{end}"
    last = Source("<text>", f"a{end}b")
    place = len(last.text)
    assert apply_fixes(last, [fix((place, place, "\nc"), source=last)]) == f"a{end}b{end}c"

"""Counts of things in messages."""

from __future__ import annotations

from relaxscript.errors import quantity


def test_a_noun_has_the_form_of_its_number() -> None:
    assert [quantity(number, "buffer") for number in (0, 1, 2)] == [
        "0 buffers",
        "1 buffer",
        "2 buffers",
    ]


def test_nouns_in_is_have_the_plural_of_axis() -> None:
    assert [quantity(1, "spatial axis"), quantity(2, "axis")] == ["1 spatial axis", "2 axes"]


def test_other_plurals_are_given() -> None:
    assert quantity(1, "index", "indices") == "1 index"
    assert quantity(3, "index", "indices") == "3 indices"

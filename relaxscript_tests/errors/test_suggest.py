"""The name that was meant, and how it is offered."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from relaxscript.errors import did_you_mean, meant_hint, meant_notes, nearest

NAMES = "add multiply matmul softmax log_softmax layer_norm relu axis keepdims dtype x y gv".split()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sofmax", "softmax"),
        ("axes", "axis"),
        ("Softmax", "softmax"),
        ("layernorm", "layer_norm"),
        ("matmlu", "matmul"),
        ("keepdim", "keepdims"),
        ("keep_dims", "keepdims"),
        ("mul", "multiply"),
        ("realu", "relu"),
        ("typed", None),
        ("z", None),
        ("h", None),
        ("conv2d", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_the_one_that_was_meant(written: str, meant: str | None):
    assert nearest(written, NAMES) == meant


def test_among_equally_near_names_the_one_with_the_same_first_letter_wins():
    assert nearest("rank", ["bank", "rang"]) == "rang"


def test_among_equally_near_names_the_one_in_the_same_case_wins():
    assert nearest("mx", ["Max", "max"]) == "max"
    assert nearest("Mx", ["max", "Max"]) == "Max"


def test_no_name_is_near_when_there_is_none():
    assert nearest("x", []) is None


@pytest.mark.slow
def test_names_without_number_or_of_any_length_are_passed_by_at_a_glance():
    # By the edit distance of each pair alone, this would take hours.
    names = [f"variable_{i}" for i in range(20_000)]
    for i in range(20):
        assert nearest(f"misspelt_name_{i}", names) is None
    assert nearest("float" + "3" * 1_000_000, [*names, "float" + "3" * 999_999]) is None


@given(st.text("abcde", min_size=6, max_size=10), st.data())
def test_a_name_with_two_neighbours_swapped_is_found(name: str, data: st.DataObject):
    at = data.draw(st.integers(0, len(name) - 2))
    slipped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    assert nearest(slipped, ["1234567", name]) == (name if slipped != name else None)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("int46", "int64"), ("int6", "int64"), ("itn8", "int8"), ("float23", "float32")],
)
def test_two_swapped_letters_and_a_missing_one_are_likelier_than_a_wrong_one(
    written: str, meant: str
):
    assert nearest(written, ["int8", "int64", "int32", "float16", "float32"]) == meant


def test_a_doubled_letter_is_likelier_than_another_that_is_too_many():
    assert nearest("reluu", ["selu", "relu6", "relu"]) == "relu"


def test_what_was_meant_is_offered_in_the_same_words_everywhere():
    assert did_you_mean("relu") == "did you mean `relu`?"
    assert did_you_mean("int64", quote='"') == 'did you mean "int64"?'
    assert did_you_mean(None) is None
    assert did_you_mean(None, "there are none") == "there are none"
    assert meant_notes("relu") == ["did you mean `relu`?"]
    assert meant_notes(None) == []
    assert meant_hint("relu") == "; did you mean `relu`?"
    assert meant_hint(None) == ""

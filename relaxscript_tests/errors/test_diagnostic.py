"""Diagnostics as data, and the name that was meant."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, strategies as st

from relaxscript.errors import Diagnostic, Edit, Label, Source, nearest

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


def test_lists_and_pairs_become_labels_and_edits():
    span = Source("f.py", "x").whole
    diagnostic = Diagnostic("RX0101", "no", span, [(span, "here")], ["why"], None, [(span, "y")])
    assert diagnostic.labels == (Label(span, "here"),)
    assert diagnostic.labels[0].text == "here"
    assert diagnostic.notes == ("why",)
    assert diagnostic.fix == (Edit(span, "y"),)
    assert diagnostic.fix[0].new_text == "y"


def test_a_diagnostic_is_an_error_unless_it_says_otherwise():
    assert Diagnostic("RX0101", "no", None).severity == "error"


def test_a_diagnostic_is_compared_by_value_and_pickles():
    span = Source("f.py", "x").whole
    diagnostic = Diagnostic("RX0101", "no", span, [(span, "here")], help="yes")
    assert pickle.loads(pickle.dumps(diagnostic)) == diagnostic
    assert hash(pickle.loads(pickle.dumps(diagnostic))) == hash(diagnostic)

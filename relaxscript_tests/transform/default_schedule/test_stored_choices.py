"""Elements that get one value or another: before, after, and what stays."""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.transform.default_schedule.stored_choices import with_stored_choices

from .test_apart import arranged
from .test_conditional_inits import assert_same_bits
from .test_distributed_loops import function

HEAD = 'A: T.Buffer((6, 40), "float32"), B: T.Buffer((6, 40), "float32")'
LOOPS = "for i, j in T.grid(6, 40):\n"


def choice(condition: str, yes: str, no: str) -> str:
    return f"{LOOPS}    if {condition}:\n        {yes}\n    else:\n        {no}"


@pytest.mark.parametrize(
    "condition",
    ["A[i, j] > T.float32(0)", "j == 0", "0 < i and i < 5 and 0 < j and j < 39"],
)
def test_two_stores_of_an_element_become_one(condition: str):
    given = function(HEAD, choice(condition, "B[i, j] = A[i, j]", "B[i, j] = T.float32(3)"))
    text = given.script()
    made = with_stored_choices(given)
    after = f"{LOOPS}    B[i, j] = T.if_then_else({condition}, A[i, j], T.float32(3))"
    assert_structural_equal(made, function(HEAD, after))
    assert with_stored_choices(made) is made
    assert given.script() == text
    assert_same_bits(given, made)
    whole = arranged(given)
    assert whole.attrs["tir.is_scheduled"]
    assert_same_bits(given, whole)


def test_several_cases_become_one():
    before = """
for i, j in T.grid(6, 40):
    if j == 0:
        B[i, j] = A[i, j]
    elif j == 39:
        B[i, j] = A[i, j - 1]
    else:
        B[i, j] = A[i, j + 1] - A[i, j - 1]
"""
    after = """
for i, j in T.grid(6, 40):
    B[i, j] = T.if_then_else(j == 0, A[i, j], T.if_then_else(
        j == 39, A[i, j - 1], A[i, j + 1] - A[i, j - 1]))
"""
    given = function(HEAD, before)
    made = with_stored_choices(given)
    assert_structural_equal(made, function(HEAD, after))
    assert_same_bits(given, arranged(given))


@pytest.mark.parametrize(
    "body",
    [
        choice("j < 20", "B[i, j] = A[i, j]", "B[i, 0] = A[i, j]"),
        choice("j < 20", "B[i, j] = A[i, j]", "A[i, j] = T.float32(0)"),
        choice("j < 20", "B[i, j] = A[i, j]", "T.evaluate(0)"),
        f"{LOOPS}    if j < 20:\n        B[i, j] = A[i, j]",
        f"{LOOPS}    B[i, j] = A[i, j]",
    ],
)
def test_others_stay(body: str):
    given = function(HEAD, body)
    assert with_stored_choices(given) is given

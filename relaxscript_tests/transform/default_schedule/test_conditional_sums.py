"""Reductions that add under conditions: by vectors of results for which these are the same."""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import For, ForKind, IfThenElse, PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.transform.default_schedule import nests
from relaxscript.transform.default_schedule.loop_nests import parts_of
from relaxscript.transform.default_schedule.row_nests import plain_nest

from .row_functions import prim_func
from .test_nests import EIGHT, assert_same

HEAD = 'A: T.Buffer((12, 9), "float32"), W: T.Buffer((9, 40), "float32"), '
HEAD += 'C: T.Buffer((12, 40), "float32")'
CLEAR = "for i, j in T.grid(T.int64(12), T.int64(40)):\n    C[i, j] = T.float32({start})\n"
LOOPS = "for i, j, k in T.grid(T.int64(12), T.int64(40), T.int64(9)):\n"


def added(condition: str, value: str = "C[i, j] + A[i, k] * W[k, j]", start: str = "0") -> str:
    return CLEAR.format(start=start) + LOOPS + f"    if {condition}:\n        C[i, j] = {value}"


def arranged(body: str, head: str = HEAD) -> PrimFunc:
    """The function by nests, which gives the bits that the plain loops give."""
    given = prim_func(head, body)
    made = nests(given, EIGHT)
    assert made is not None
    assert_structural_equal(from_source(made.script()), made)
    assert_same(given, made, {"n": 21}, 0)
    return made


@pytest.mark.parametrize(
    "body",
    [
        added("k < 7"),
        added("1 <= i + k and i + k < 15", start="0.5"),
        added("A[i, k] > T.float32(0)"),
        added("not (i < 3)"),
        added("k < 7", "T.max(C[i, j], A[i, k] * W[k, j])", start='float("-inf")'),
        # The element that is added is one where the condition holds only.
        added("2 <= i + k and i + k < 14", "C[i, j] + A[i + k - 2, k] * W[k, j]"),
        CLEAR.format(start=3)
        + """for i, j in T.grid(T.int64(12), T.int64(40)):
    if i < 5:
        C[i, j] = C[i, j] * T.float32(2)""",
        CLEAR.format(start=0)
        + """for i, j in T.grid(T.int64(12), T.int64(40)):
    if i < 7:
        for k in range(T.int64(9)):
            if k != 3:
                C[i, j] = C[i, j] + A[i, k] * W[k, j]""",
        """for i, j, k in T.grid(T.int64(12), T.int64(40), T.int64(9)):
    with T.block("C"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        if vk < vi:
            C[vi, vj] = C[vi, vj] + A[vi, vk] * W[vk, vj]""",
    ],
)
def test_what_is_added_under_a_condition_is_so_by_vectors(body: str):
    made = arranged(body)
    loops = [node for node in walk(made.body) if isinstance(node, For)]
    assert any(isinstance(node, IfThenElse) for node in walk(made.body))
    assert all(loop.kind != ForKind.VECTORIZED for loop in loops)  # they are ramps


def test_a_condition_is_asked_as_far_outside_as_it_is_known():
    made = arranged(added("i < 5 and k < 7 and i + k < 9"))
    asked = [node.condition for node in walk(made.body) if isinstance(node, IfThenElse)]
    assert {*map(str, asked)} == {"i < 5", "k < 7 and i + k < 9"}


def test_sizes_may_be_any():
    head = HEAD.replace("40", '"n"')
    body = "n = T.int64()\n" + added("k < 7").replace("T.int64(40)", "n")
    arranged(body, head)


@pytest.mark.parametrize(
    "body",
    [
        # Lanes would ask for themselves.
        added("j < 5"),
        added("W[k, j] > T.float32(0)"),
        # What is stored is no sum.
        added("k < 7", "A[i, k] * W[k, j]"),
        # Something else is added elsewhere.
        added("k < 7") + "\n    else:\n        C[i, j] = C[i, j] + W[k, j]",
        # It may fail, or is not known not to.
        added("i < 11 and A[i + 1, k] > T.float32(0)"),
        added("k < 7", "C[i, j] + A[i + k - 2, k] * W[k, j]"),
        # A loop under a condition ends where an element says.
        """for i, j in T.grid(T.int64(12), T.int64(40)):
    C[i, j] = T.float32(0)
for i, j in T.grid(T.int64(12), T.int64(40)):
    if i < 5:
        for k in range(T.Cast("int64", A[i, 0])):
            C[i, j] = C[i, j] + W[0, j]""",
    ],
)
def test_others_stay_as_they_are(body: str):
    assert nests(prim_func(HEAD, body), EIGHT) is None


def test_who_does_not_ask_for_conditions_gets_no_nest_with_some():
    [_, sums] = parts_of(prim_func(HEAD, added("k < 7"))).parts
    assert plain_nest(sums) is None
    assert len(plain_nest(sums, conditional=True).conditions) == 1

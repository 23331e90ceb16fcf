"""Values that a condition chooses, in buffers before a reduction: before, after, what stays."""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.transform.default_schedule.chosen_values import with_chosen_values

from .test_conditional_inits import assert_same_bits
from .test_distributed_loops import assert_arranged, function

HEAD = 'A: T.Buffer((32,), "float32"), W: T.Buffer((3,), "float32"), B: T.Buffer((32,), "float32")'
CLEAR = "for x in range(T.int64(32)):\n    B[x] = T.float32(0)\n"
WINDOW = """
for x, k in T.grid(T.int64(32), T.int64(3)):
    B[x] = B[x] + T.if_then_else({condition}, A[{place}], T.float32(0)) * W[k]
"""
INSIDE = WINDOW.format(condition="1 <= x + k and x + k < 33", place="x + k - 1")


def test_a_window_that_may_be_outside_is_stored_before_its_sum():
    given = function(HEAD, CLEAR + INSIDE)
    text = given.script()
    made = with_chosen_values(given)
    after = f"""
memory = T.allocate([T.int64(34)], "float32", "global")
value = T.decl_buffer((T.int64(34),), data=memory)
for u in range(T.int64(34)):
    value[u] = T.if_then_else(1 <= u and u < 33, A[u + T.int64(-1)], T.float32(0))
{CLEAR}
for x, k in T.grid(T.int64(32), T.int64(3)):
    B[x] = B[x] + value[x + k] * W[k]
"""
    assert_structural_equal(made, function(HEAD, after))
    assert with_chosen_values(made) is made
    assert given.script() == text
    assert_same_bits(given, made)


def test_sums_that_may_be_negative_begin_at_the_lowest_one():
    body = CLEAR + WINDOW.format(condition="0 <= x - k", place="x - k")
    given = function(HEAD, body)
    made = with_chosen_values(given)
    assert "value_1[x - k + 2]" in made.script() or "value_1[x + k * -1 + 2]" in made.script()
    assert_same_bits(given, made)
    assert_arranged(given, "nests")


def test_the_init_of_a_block_is_a_nest_before_the_sum():
    body = """
for x, k in T.grid(T.int64(32), T.int64(3)):
    with T.block("B"):
        vx, vk = T.axis.remap("SR", [x, k])
        with T.init():
            B[vx] = T.float32(0)
        B[vx] = B[vx] + T.if_then_else(
            1 <= vx + vk and vx + vk < 33, A[vx + vk - 1], T.float32(0)) * W[vk]
"""
    given = function(HEAD, body)
    made = with_chosen_values(given)
    assert "if_then_else" not in made.script().split("B[vx] = B[vx] + ")[1]
    assert_same_bits(given, made)
    assert_arranged(given, "nests")


@pytest.mark.parametrize(
    "body",
    [
        # It is inside whatever the condition says, or may be outside where that holds.
        WINDOW.format(condition="1 <= x + k and x + k < 33", place="x"),
        WINDOW.format(condition="1 <= x + k", place="x + k - 1"),
        # A loop is in several sums, or a value is that of an iteration.
        WINDOW.format(condition="1 <= x + k and x + k < 33 and k < 2", place="x + k - 1"),
        WINDOW.format(condition="x + k * 32 < 32", place="x + k * 32"),
        # The condition depends on what is in memory.
        WINDOW.format(condition="T.float32(1) <= A[x]", place="x + k - 1"),
        # It is not a sum.
        "for x in range(T.int64(32)):\n"
        "    B[x] = T.if_then_else(1 <= x, A[x - 1], T.float32(0))",
        INSIDE.replace("W[k]", "B[k]"),
    ],
)  # fmt: skip
def test_other_reductions_stay(body: str):
    given = function(HEAD, CLEAR + body)
    assert with_chosen_values(given) is given


def test_functions_whose_buffers_may_overlap_stay():
    given = function(HEAD, CLEAR + INSIDE, noalias=False)
    assert with_chosen_values(given) is given


def test_convolutions_with_padding_are_arranged():
    head = 'X: T.Buffer((4, 12, 14), "float32"), W: T.Buffer((6, 4, 3, 3), "float32"), '
    head += 'C: T.Buffer((6, 12, 14), "float32")'
    body = """
for f, y, x in T.grid(6, 12, 14):
    C[f, y, x] = T.float32(0)
    for c, r, s in T.grid(4, 3, 3):
        C[f, y, x] = C[f, y, x] + W[f, c, r, s] * T.if_then_else(
            1 <= y + r and y + r < 13 and 1 <= x + s and x + s < 15,
            X[c, y + r - 1, x + s - 1], T.float32(0))
"""
    assert_arranged(function(head, body), "nests")

"""Loops in another order: before, after, what stays, and the same bits of each sum."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule.ordered_loops import with_ordered_loops

from .test_distributed_loops import function

MATRICES = 'A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 9), "float32"), '
MATRICES += 'C: T.Buffer((5, 9), "float32")'


def assert_becomes(head: str, before: str, after: str) -> None:
    """The function becomes another one, which gives the same bits."""
    given = function(head, before)
    text = given.script()
    made = with_ordered_loops(given)
    assert_structural_equal(made, function(head, after))
    assert with_ordered_loops(made) is made
    assert given.script() == text
    rng = np.random.default_rng(3)
    arrays = [
        rng.standard_normal([int(n) for n in buffer.shape]).astype("float32")
        for buffer in given.buffer_map.values()
    ]
    expected = [array.copy() for array in arrays]
    evaluate(made, arrays)
    evaluate(given, expected)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, expected))


def test_loops_over_what_is_added_up_are_behind_those_of_the_result():
    assert_becomes(
        MATRICES,
        "for k, j, i in T.grid(7, 9, 5):\n    C[i, j] = A[i, k] * B[k, j] + C[i, j]",
        "for i, j, k in T.grid(5, 9, 7):\n    C[i, j] = C[i, j] + A[i, k] * B[k, j]",
    )


def test_what_is_added_up_keeps_its_order():
    head = 'A: T.Buffer((3, 4, 5), "float32"), s: T.Buffer((4,), "float32")'
    assert_becomes(
        head,
        "for j, i, k in T.grid(5, 4, 3):\n    s[i] = s[i] + A[k, i, j]",
        "for i, j, k in T.grid(4, 5, 3):\n    s[i] = s[i] + A[k, i, j]",
    )


def test_axes_of_a_block_are_ordered_with_its_loops():
    block = """
for {loops}:
    with T.block("C"):
        {axes}
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
    assert_becomes(
        MATRICES,
        block.format(
            loops="k, i, j in T.grid(7, 5, 9)",
            axes='vk, vi, vj = T.axis.remap("RSS", [k, i, j])',
        ),
        block.format(
            loops="i, j, k in T.grid(5, 9, 7)",
            axes='vi, vj, vk = T.axis.remap("SSR", [i, j, k])',
        ),
    )


def test_elements_are_in_the_order_in_which_they_lie():
    head = 'A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")'
    before = "for j, i in T.grid(7, 5):\n    B[i, j] = A[i, j] * T.float32(2)"
    assert_becomes(head, before, "for i, j in T.grid(5, 7):\n    B[i, j] = A[i, j] * T.float32(2)")
    made = ApplyDefaultSchedule()(IRModule({"main": function(head, before)}))["main"]
    assert made.attrs.get("relaxscript.schedule") == "elementwise"


@pytest.mark.parametrize(
    "body",
    [
        # What an iteration reads, another one writes.
        "for j, i in T.grid(9, 4):\n    C[i, j] = C[i + 1, j] + A[i, 0]",
        # The last iteration is what stays.
        "for k, i, j in T.grid(7, 5, 9):\n    C[i, j] = A[i, k]",
        # An index is no loop.
        "for j, i in T.grid(8, 5):\n    C[i, j + 1] = A[i, 0]",
        # What is outside first would be another element.
        "for j, i in T.grid(9, 5):\n    C[i, j] = A[i, T.Cast('int32', A[i, 0])]",
        # A loop is as long as another one says.
        "for j in range(9):\n    for i in range(j // 2):\n        C[i, j] = A[i, 0]",
        # A maximum of numbers and NaN depends on which comes first.
        "for i, j, k in T.grid(5, 9, 7):\n    C[i, j] = T.max(A[i, k], C[i, j])",
        # All is in order.
        "for i, j, k in T.grid(5, 9, 7):\n    C[i, j] = C[i, j] + A[i, k]",
    ],
)
def test_other_nests_stay(body: str):
    func = function(MATRICES, body)
    assert with_ordered_loops(func) is func


def test_buffers_that_may_overlap_stay():
    body = "for j, i in T.grid(9, 5):\n    C[i, j] = A[i, 0]"
    func = function(MATRICES, body, noalias=False)
    assert with_ordered_loops(func) is func


def test_statements_without_loops_stay():
    scalar = from_source("""
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((), "float32")):
    T.func_attr({"tir.noalias": True})
    B[()] = A[0]
""")
    assert with_ordered_loops(scalar) is scalar

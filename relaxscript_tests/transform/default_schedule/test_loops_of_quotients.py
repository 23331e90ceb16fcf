"""Loops that are divided where they store: before, after, what stays, and the same bits."""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.transform.default_schedule.loops_of_quotients import with_loops_of_quotients
from relaxscript.transform.default_schedule.wide_indices import with_wide_indices

from .test_conditional_inits import assert_same_bits
from .test_distributed_loops import MATRICES, assert_arranged, function

HEAD = 'A: T.Buffer((6, 40), "float32"), C: T.Buffer((6, 40), "float32")'


def assert_becomes(head: str, before: str, after: str) -> None:
    given = with_wide_indices(function(head, before))
    text = given.script()
    made = with_loops_of_quotients(given)
    assert_structural_equal(made, with_wide_indices(function(head, after)))
    assert with_loops_of_quotients(made) is made
    assert given.script() == text
    assert_same_bits(given, made)


def test_a_quotient_and_a_remainder_are_loops():
    assert_becomes(
        HEAD,
        "for t in range(240):\n    C[t // 40, t % 40] = A[t // 40, t % 40] + T.Cast('float32', t)",
        "for i, j in T.grid(T.int64(6), T.int64(40)):\n"
        "    C[i, j] = A[i, j] + T.Cast('float32', T.Cast('int32', i * T.int64(40) + j))",
    )


def test_three_axes_are_three_loops():
    assert_becomes(
        'C: T.Buffer((3, 4, 5), "float32")',
        "for t in range(60):\n    C[t // 20, t // 5 % 4, t % 5] = T.Cast('float32', t)",
        "for i, j, k in T.grid(T.int64(3), T.int64(4), T.int64(5)):\n"
        "    C[i, j, k] = T.Cast("
        "'float32', T.Cast('int32', (i * T.int64(4) + j) * T.int64(5) + k))",
    )


def test_axes_of_blocks_have_the_values_of_loops():
    block = """
for t in range(240):
    with T.block("C"):
        vi = T.axis.spatial(6, {row})
        vj = T.axis.spatial(40, {column})
        C[vi, vj] = A[vi, vj]
"""
    before = block.format(row="t // 40", column="t % 40")
    after = block.format(row="i", column="j").replace("t in range(240)", "i, j in T.grid(6, 40)")
    assert_becomes(HEAD, before, after)


@pytest.mark.parametrize(
    "body",
    [
        "for t in range(230):\n    C[t // 40, t % 40] = A[0, 0]",
        "for i, j in T.grid(6, 40):\n    C[i, j] = A[i, j // 2]",
        "for t in range(1, 240):\n    C[t // 40, t % 40] = A[0, 0]",
        "for t in T.parallel(240):\n    C[t // 40, t % 40] = A[0, 0]",
    ],
)
def test_other_loops_stay(body: str):
    given = with_wide_indices(function(HEAD, body))
    assert with_loops_of_quotients(given) is given


def test_sizes_that_may_be_negative_stay():
    head = 'm: T.int64, n: T.int64, C: T.Buffer(("m * n",), "float32")'
    body = "for t in range(m * n):\n    C[t // n * n + t % n] = T.float32(1)"
    given = function(head, body)
    assert with_loops_of_quotients(given) is given
    sized = function(
        'X: T.Buffer(("m", "n"), "float32"), C: T.Buffer(("m", "n"), "float32")',
        "m = T.int64()\nn = T.int64()\n"
        "for t in range(m * n):\n    C[t // n, t % n] = X[t // n, t % n]",
    )
    assert "//" not in with_loops_of_quotients(sized).script()


def test_products_in_one_loop_are_arranged():
    body = """
for t in range(576):
    C[t // 24, t % 24] = T.float32(0)
    for k in range(24):
        C[t // 24, t % 24] = C[t // 24, t % 24] + A[t // 24, k] * B[k, t % 24]
"""
    assert_arranged(function(MATRICES, body), "product")

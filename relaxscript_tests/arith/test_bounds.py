"""Bounds of expressions."""

from __future__ import annotations

import pytest

from relaxscript.arith import Facts, bounds
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript_tests.arith.scalars import M, N, integer, shift


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (N, (0, None)),
        (integer(3), (3, 3)),
        (3 - N, (None, 3)),
        (N % 8, (0, 7)),
        (N % 8 + M % 4, (0, 10)),
        (N - N // 4 * 4, (0, 3)),
        ((N + 3) // 4 * 4 - N, (0, 3)),
        (prim.Min(N, integer(5)), (0, 5)),
        (prim.Max(N, integer(5)), (5, None)),
        (prim.Select(N < M, integer(2), integer(7)), (2, 7)),
        (shift("left", N % 4, 2), (0, 12)),
        (shift("right", N % 64, 4), (0, 3)),
        (prim.Call("int64", "tir.abs", (3 - N % 8,)), (0, 4)),
        (prim.Call("int64", "tir.if_then_else", (N < M, integer(2), integer(7))), (2, 7)),
        (Var("u", "uint8"), (0, 255)),
        (N < M, (0, 1)),
        (Var("x", "float32"), (None, None)),
        (prim.Call("int64", "tir.call_extern", (prim.StringImm("f"),)), (None, None)),
    ],
)
def test_bounds_are_as_close_as_can_be(e: PrimExpr, expected: tuple[int, int]) -> None:
    assert bounds(e) == expected


def test_ranges_bound_what_is_made_of_variables() -> None:
    facts = Facts({N: (1, 4), M: (-2, 3)})
    assert bounds(N * M, facts) == (-8, 12)
    assert bounds(M * M, facts) == (0, 9)
    assert bounds(prim.Div(M, integer(2)), facts) == (-1, 1)


def test_conditions_bound_each_of_their_variables() -> None:
    facts = Facts().with_condition(N * 2 + M < 10).with_condition(prim.NE(M, integer(0)))
    assert bounds(N, facts) == (0, 4)
    assert bounds(M, facts) == (1, 9)


def test_an_extremum_in_a_product_is_not_taken_for_the_best_of_its_operands() -> None:
    signed = Facts(nonnegative=False)
    assert bounds((M + 7) * prim.Min(N, integer(0)), signed) == (None, None)
    assert bounds((M - 7) * prim.Max(N, integer(2))) == (None, None)

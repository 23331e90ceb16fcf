"""Bounds of expressions."""

from __future__ import annotations

import pytest
from hypothesis import given

from relaxscript.arith import Facts, bounds
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript_tests.arith.random_scalars import M, N, integer, integers, values


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


@given(integers())
def test_no_value_is_out_of_bounds(e: PrimExpr) -> None:
    low, high = bounds(e)
    for value in values(e):
        assert low is None or low <= value
        assert high is None or value <= high

"""Comparisons and logic: the simplest condition that says the same."""

from __future__ import annotations

import pytest

from relaxscript.arith import Facts, format_expr, simplify
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript_tests.arith.scalars import K, M, N, integer

ANY = Facts(nonnegative=False)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (N // 8 >= 3, "n >= 24"),
        (N // 8 <= 3, "n <= 31"),
        (N // 8 < 3, "n < 24"),
        (N // 8 > -3, "n + 17 > 0"),
        (prim.Div(N, integer(3)) >= 0, "n + 2 >= 0"),
        (prim.Div(N, integer(3)) >= 2, "n >= 6"),
        (prim.Div(N, integer(3)) <= 2, "n <= 8"),
        (N // 4 >= M, "n // 4 >= m"),
    ],
)
def test_a_quotient_beside_a_number_is_compared_before_the_division(
    condition: PrimExpr, expected: str
) -> None:
    assert format_expr(simplify(condition, ANY)) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (prim.Max(N, integer(8)) >= 10, "n >= 10"),
        (prim.Min(N, integer(11)) < 10, "n < 10"),
        (prim.Min(N, integer(8)) < 10, "True"),
        (prim.Max(N, integer(8)) < 8, "False"),
        (N + 1 < prim.Max(N, integer(8)), "n < 7"),
        (prim.Max(N, M) >= K, "max(n, m) >= k"),
    ],
)
def test_only_the_operand_of_a_maximum_that_matters_is_compared(
    condition: PrimExpr, expected: str
) -> None:
    assert format_expr(simplify(condition, ANY)) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (prim.And(prim.EQ(N, integer(1)), prim.NE(N, integer(2))), "n == 1"),
        (prim.And(prim.EQ(N, integer(1)), prim.EQ(N, integer(2))), "False"),
        (prim.Or(prim.NE(N, integer(1)), prim.EQ(N, integer(2))), "n != 1"),
        (prim.Or(prim.NE(N, integer(1)), prim.NE(N, integer(2))), "True"),
        (prim.And(prim.EQ(N, M), prim.EQ(N, M + 1)), "False"),
        (prim.And(prim.EQ(N, M), prim.NE(N, K)), "n == m and n != k"),
    ],
)
def test_equations_that_exclude_each_other_are_seen(condition: PrimExpr, expected: str) -> None:
    assert format_expr(simplify(condition, ANY)) == expected

"""Iter maps as plain expressions."""

from __future__ import annotations

import pytest

from relaxscript import arith
from relaxscript.arith import IterMark, IterSplitExpr, IterSumExpr, format_expr
from relaxscript.ir.prim import PrimExpr, Var

X, Y = Var("x", "int32"), Var("y", "int32")
MARK = IterMark(X, 24)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (IterSplitExpr(MARK, 1, 24, 1), "x"),
        (IterSplitExpr(MARK, 1, 24, 3), "x * 3"),
        (IterSplitExpr(MARK, 6, 4, 1), "x // 6"),
        (IterSplitExpr(MARK, 5, 5, 1), "x // 5"),
        (IterSplitExpr(MARK, 1, 6, 1), "x % 6"),
        (IterSplitExpr(MARK, 2, 3, 1), "x % 6 // 2"),
        (IterSplitExpr(IterMark(X * Y + 1, 8), 1, 8, 1), "x * y + 1"),
        (IterSumExpr([], 5), "5"),
        (
            IterSumExpr([IterSplitExpr(MARK, 6, 4, 2), IterSplitExpr(MARK, 1, 2, 1)], 0),
            "x // 6 * 2 + x % 2",
        ),
        (IterSumExpr([IterSplitExpr(MARK, 1, 24, 1)], Y), "x + y"),
        (X + 1, "x + 1"),
    ],
)
def test_an_iter_map_is_the_expression_that_it_stands_for(expr: PrimExpr, expected: str) -> None:
    assert format_expr(arith.normalize_iter_map_to_expr(expr)) == expected


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"`normalize_iter_map_to_expr.expr` must be an IterMapExpr"
    ):
        arith.normalize_iter_map_to_expr(MARK)  # type: ignore[arg-type]

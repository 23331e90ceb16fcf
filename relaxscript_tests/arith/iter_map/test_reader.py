"""Reading of expressions as sums of digits: how much it takes."""

from __future__ import annotations

from relaxscript import arith
from relaxscript.arith import format_expr
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range

X = Var("x", "int32")
DOMAIN = {X: Range(0, 64)}


def test_an_expression_may_be_nested_as_deep_as_one_likes() -> None:
    e: PrimExpr = X
    for _ in range(1500):
        e = prim.FloorMod(prim.Add(e, prim.const(1, "int32")), prim.const(64, "int32"))
    result = arith.detect_iter_map([e], DOMAIN, check_level="bijective")
    assert not result.errors


def test_parts_that_are_shared_are_read_once() -> None:
    e: PrimExpr = X
    for _ in range(60):
        e = e // 2 * 2 + e % 2
    assert arith.iter_map_simplify([e], DOMAIN) == [X]


def test_long_sums_are_linear() -> None:
    e: PrimExpr = X
    for _ in range(1500):
        e = prim.Add(e, X)
    (coefficient, base) = arith.detect_linear_equation(e, [X])
    assert (format_expr(coefficient), format_expr(base)) == ("1501", "0")
    total = arith.normalize_to_iter_sum(e, DOMAIN)
    assert format_expr(total.args[0].scale) == "1501"

"""Iter maps as the plain expressions that they stand for."""

from __future__ import annotations

from relaxscript.arith.arguments import wrong
from relaxscript.arith.index_algebra import IndexAlgebra, is_one, is_zero
from relaxscript.ir import prim
from relaxscript.ir.iter_map import IterSplitExpr, IterSumExpr
from relaxscript.ir.prim import PrimExpr

__all__ = ["normalize_iter_map_to_expr"]


def normalize_iter_map_to_expr(expr: PrimExpr) -> PrimExpr:
    """The plain expression that an `IterMapExpr` stands for.

    Other expressions are what they stand for. Raises `TypeError` for what is no expression.
    """
    match expr:
        case IterSumExpr(args, base):
            parts = [normalize_iter_map_to_expr(split) for split in args]
            if not parts:
                return base
            total = parts[0]
            for part in parts[1:] if is_zero(base) else [*parts[1:], base]:
                total = prim.Add(total, part)
            return total
        case IterSplitExpr(source, lower, extent, scale):
            value = _digit(normalize_iter_map_to_expr(source.source), source.extent, lower, extent)
            return value if is_one(scale) else prim.Mul(value, scale)
        case PrimExpr():
            return expr
    raise wrong("normalize_iter_map_to_expr.expr", "an IterMapExpr", expr)


def _digit(value: PrimExpr, whole: PrimExpr, lower: PrimExpr, extent: PrimExpr) -> PrimExpr:
    """`value // lower % extent` without what changes nothing of a `value` below `whole`."""
    algebra = IndexAlgebra()
    if is_one(lower) and algebra.is_equal(extent, whole):
        return value
    if not is_one(lower) and algebra.is_equal(extent, algebra.ceil_divide(whole, lower)):
        return prim.FloorDiv(value, lower)
    if is_one(lower):
        return prim.FloorMod(value, extent)
    return prim.FloorDiv(prim.FloorMod(value, algebra.multiply(lower, extent)), lower)

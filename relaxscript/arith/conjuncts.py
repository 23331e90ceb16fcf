"""The conditions that hold together where a condition does."""

from __future__ import annotations

from collections.abc import Iterator

from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Op

__all__ = ["conjuncts"]

_OPPOSITE: dict[type[PrimExpr], type[prim.Comparison]] = {
    prim.LT: prim.GE, prim.GE: prim.LT, prim.GT: prim.LE, prim.LE: prim.GT, prim.NE: prim.EQ,
}  # fmt: skip


def conjuncts(condition: PrimExpr) -> Iterator[PrimExpr]:
    """The parts of a conjunction; none of what is always true.

    The opposite of a comparison is one, and `likely` is passed over.
    """
    match condition:
        case prim.And(a, b):
            yield from conjuncts(a)
            yield from conjuncts(b)
        case prim.Not(prim.Or(a, b)):
            yield from conjuncts(prim.Not(a))
            yield from conjuncts(prim.Not(b))
        case prim.Not(prim.Not(a)):
            yield from conjuncts(a)
        case prim.Not(a) if type(a) in _OPPOSITE and isinstance(a, prim.Comparison):
            yield _OPPOSITE[type(a)](a.a, a.b)
        case prim.Call(op=Op("tir.likely"), args=(a,)):
            yield from conjuncts(a)
        case IntImm(value=1):
            return
        case _:
            yield condition

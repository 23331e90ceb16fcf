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
    stack = [condition]
    while stack:
        part = stack.pop()
        match part:
            case prim.And(a, b):
                stack += [b, a]
            case prim.Not(prim.Or(a, b)):
                stack += [prim.Not(b), prim.Not(a)]
            case prim.Not(prim.Not(a)):
                stack.append(a)
            case prim.Not(a) if type(a) in _OPPOSITE and isinstance(a, prim.Comparison):
                yield _OPPOSITE[type(a)](a.a, a.b)
            case prim.Call(op=Op("tir.likely"), args=(a,)):
                stack.append(a)
            case IntImm(value=1):
                pass
            case _:
                yield part

"""The operands of a scalar expression, and the same expression with others."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

__all__ = ["operands_of", "with_operands"]

_PAIR = ("a", "b")
# The fields that hold operands, in the order of evaluation; calls and loads hold tuples of them.
_FIELDS: dict[type[PrimExpr], tuple[str, ...]] = {
    **dict.fromkeys((prim.Add, prim.Sub, prim.Mul, prim.Div, prim.Mod), _PAIR),
    **dict.fromkeys((prim.FloorDiv, prim.FloorMod, prim.Min, prim.Max), _PAIR),
    **dict.fromkeys((prim.EQ, prim.NE, prim.LT, prim.LE, prim.GT, prim.GE), _PAIR),
    **dict.fromkeys((prim.And, prim.Or), _PAIR),
    prim.Not: ("a",),
    prim.Cast: ("value",),
    prim.Select: ("condition", "true_value", "false_value"),
    prim.Let: ("value", "body"),
    prim.Ramp: ("base", "stride"),
    prim.Broadcast: ("value",),
}


def operands_of(e: PrimExpr) -> tuple[PrimExpr, ...]:
    """The scalar expressions directly inside `e`; variables and literals have none."""
    names = _FIELDS.get(type(e))
    if names is not None:
        return tuple(getattr(e, name) for name in names)
    match e:
        case prim.Call(args=args) | prim.BufferLoad(indices=args, predicate=None):
            return args
        case prim.BufferLoad(indices=indices, predicate=PrimExpr() as predicate):
            return (*indices, predicate)
        case prim.Shuffle(vectors, indices):
            return (*vectors, *indices)
    return ()


def with_operands(e: PrimExpr, new: Sequence[PrimExpr]) -> PrimExpr:
    """`e` with other operands, in the order of `operands_of`; `e` itself when none differs."""
    if all(a is b for a, b in zip(new, operands_of(e))):
        return e
    names = _FIELDS.get(type(e))
    if names is not None:
        return e.replace(**dict(zip(names, new)))
    match e:
        case prim.BufferLoad(predicate=PrimExpr()):
            return e.replace(indices=tuple(new[:-1]), predicate=new[-1])
        case prim.BufferLoad():
            return e.replace(indices=tuple(new))
        case prim.Shuffle(vectors):
            return e.replace(vectors=tuple(new[: len(vectors)]), indices=tuple(new[len(vectors) :]))
    return e.replace(args=tuple(new))

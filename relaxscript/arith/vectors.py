"""Arithmetic of vectors whose elements follow from a number: ramps and repeated scalars.

`Ramp(x, 1, 4) + Broadcast(y, 4)` is `Ramp(x + y, 1, 4)`. Integers of few bits may wrap
between the elements, so that only repeated scalars of these are combined.
"""

from __future__ import annotations

from relaxscript.ir import prim
from relaxscript.ir.prim import Broadcast, IntImm, PrimExpr, Ramp

from .atom import is_index
from .bounds import bounds
from .facts import Facts

__all__ = ["combine_vectors"]

MAX_DEPTH = 20
_OF_BOTH = (prim.Binary, prim.Comparison, prim.And, prim.Or)


def combine_vectors(e: PrimExpr, facts: Facts | None, depth: int = MAX_DEPTH) -> PrimExpr:
    """A vector as one ramp or repeated scalar, as far as its parts are; `e` itself if none is."""
    if not isinstance(e, _OF_BOTH) or e.a.dtype.lanes == 1 or not depth:
        return e
    a, b = (combine_vectors(part, facts, depth - 1) for part in (e.a, e.b))
    if isinstance(a, Broadcast) and isinstance(b, Broadcast):
        if _divides_by_zero(e, b.value):
            return e
        return Broadcast(type(e)(a.value, b.value), a.lanes)
    found = _combine_ramps(e, a, b, facts) if is_index(e.a.dtype.element) else None
    if found is not None:
        return found
    return e if a is e.a and b is e.b else type(e)(a, b)


def _divides_by_zero(e: PrimExpr, divisor: PrimExpr) -> bool:
    divisions = (prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod)
    return isinstance(e, divisions) and isinstance(divisor, IntImm) and divisor.value == 0


def _combine_ramps(e: PrimExpr, a: PrimExpr, b: PrimExpr, facts: Facts | None) -> PrimExpr | None:
    match e, a, b:
        case ((prim.Add() | prim.Sub()), (Ramp() | Broadcast()), (Ramp() | Broadcast())):
            lanes, combine = a.lanes, type(e)
            return Ramp(combine(_base(a), _base(b)), combine(_stride(a), _stride(b)), lanes)
        case prim.Mul(), Ramp(base, stride, lanes), Broadcast(factor):
            return Ramp(base * factor, stride * factor, lanes)
        case prim.Mul(), Broadcast(factor), Ramp(base, stride, lanes):
            return Ramp(factor * base, factor * stride, lanes)
        case (
            (prim.FloorDiv() | prim.FloorMod() | prim.Div() | prim.Mod()),
            Ramp(stride=IntImm()),
            Broadcast(value=IntImm(value=divisor)),
        ) if divisor > 0:
            return _divide(e, a, divisor, facts)
    return None


def _base(e: Ramp | Broadcast) -> PrimExpr:
    return e.base if isinstance(e, Ramp) else e.value


def _stride(e: Ramp | Broadcast) -> PrimExpr:
    return e.stride if isinstance(e, Ramp) else prim.like(0, e.value)


def _divide(e: PrimExpr, a: Ramp, divisor: int, facts: Facts | None) -> PrimExpr | None:
    """A ramp divided by a number, or what that leaves, where the elements stay in step."""
    assert isinstance(a.stride, IntImm), "only ramps of known strides are divided"
    stride, last = a.stride.value, a.stride.value * (a.lanes - 1)
    quotient = isinstance(e, (prim.FloorDiv, prim.Div))
    if isinstance(e, (prim.Div, prim.Mod)):
        least, _ = bounds(a.base, facts)
        if least is None or least + min(last, 0) < 0:
            return None
    by = prim.like(divisor, a.base)
    if stride % divisor == 0:
        if quotient:
            return Ramp(a.base // by, prim.like(stride // divisor, a.base), a.lanes)
        return Broadcast(a.base % by, a.lanes)
    low, high = bounds(a.base % by, facts)
    if low is None or high is None or low + min(last, 0) < 0 or high + max(last, 0) >= divisor:
        return None
    return Broadcast(a.base // by, a.lanes) if quotient else Ramp(a.base % by, a.stride, a.lanes)

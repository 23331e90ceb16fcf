"""Calls that are arithmetic of integers: shifts by constants, absolute values, lazy choices.

As everywhere in this room integers are mathematical, so that `n << 2` is `n * 4` and `n >> 1` is
`n // 2`, of negative numbers too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.ir import prim

from . import choices, rules
from .interval import lower, surely, upper
from .polynomial import CONSTANT, Poly, constant_of, multiply, scaled

if TYPE_CHECKING:
    from .canonical import Space

__all__ = ["call"]


def call(space: Space, e: prim.Call) -> Poly | None:
    """The polynomial of a call that gives an int32 or int64, None if nothing is known of it."""
    match e:
        case prim.Call(op="tir.shift_left", args=(a, places)):
            factor = _power_of_two(space, places, e)
            return None if factor is None else multiply(space.sub(a), {CONSTANT: factor})
        case prim.Call(op="tir.shift_right", args=(a, places)):
            divisor = _power_of_two(space, places, e)
            if divisor is None:
                return None
            return rules.floor_division(space, space.sub(a), {CONSTANT: divisor}, e)
        case prim.Call(op="tir.abs", args=(a,)):
            return _absolute(space, space.sub(a), e)
        case prim.Call(op="tir.if_then_else", args=(condition, a, b)):
            return choices.select(space, space.sub(condition), space.sub(a), space.sub(b), e)
    return None


def _power_of_two(space: Space, places: prim.PrimExpr, e: prim.Call) -> int | None:
    """What shifting by so many places multiplies or divides by; None where it is not known.

    Shifting by the width of the data type or more, or by a negative number, has no meaning.
    """
    known = constant_of(space.sub(places))
    return 1 << known if known is not None and 0 <= known < e.dtype.bits else None


def _absolute(space: Space, p: Poly, e: prim.Call) -> Poly:
    for q in (p, scaled(p, -1)):
        if surely(space.atoms, space.inequalities, q):
            return dict(q)
    low, high = lower(space.atoms, p), upper(space.atoms, p)
    most = None if low is None or high is None else max(-low, high)
    return space.atom("abs", (p,), e, lambda: (0, most))

"""Calls that are arithmetic of integers: shifts, bits, absolute values, lazy choices.

As everywhere in this room integers are mathematical, so that `n << 2` is `n * 4` and `n >> 1` is
`n // 2`, of negative numbers too, and bits those of two's complement: `~n` is `-n - 1`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.ir import prim

from . import minmax_select, rules
from .interval import interval, lower, surely, upper
from .polynomial import CONSTANT, Poly, constant_of, difference, multiply, scaled
from .quotient_bounds import bits_ends, shifted_right_ends

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
            return _shifted_right(space, space.sub(a), space.sub(places), e)
        case prim.Call(op="tir.bitwise_not", args=(a,)):
            return difference({CONSTANT: -1}, space.sub(a))
        case prim.Call(op="tir.bitwise_and", args=(a, b)):
            return _bits_of_both(space, space.sub(a), space.sub(b), e)
        case prim.Call(op="tir.bitwise_or" | "tir.bitwise_xor", args=(a, b)):
            return _bits(space, e, space.sub(a), space.sub(b))
        case prim.Call(op="tir.abs", args=(a,)):
            return _absolute(space, space.sub(a), e)
        case prim.Call(op="tir.if_then_else", args=(condition, a, b)):
            return minmax_select.select(space, space.sub(condition), space.sub(a), space.sub(b), e)
    return None


def _power_of_two(space: Space, places: prim.PrimExpr, e: prim.Call) -> int | None:
    """What shifting by so many places multiplies or divides by; None where it is not known.

    Shifting by the width of the dtype or more, or by a negative number, has no meaning.
    """
    known = constant_of(space.sub(places))
    return 1 << known if known is not None and 0 <= known < e.dtype.bits else None


def _shifted_right(space: Space, p: Poly, places: Poly, e: prim.Call) -> Poly | None:
    known = constant_of(places)
    if known is None:
        ends = interval(space.atoms, p), interval(space.atoms, places)
        return space.atom("bits", (p, places), e, lambda: shifted_right_ends(*ends), detail=e.op)
    if 0 <= known < e.dtype.bits:
        return rules.floor_division(space, p, {CONSTANT: 1 << known}, e)
    return None


def _bits_of_both(space: Space, p: Poly, q: Poly, e: prim.Call) -> Poly:
    """`p & 7` is `p % 8`, and `p & -8` what that leaves: `p - p % 8`."""
    for a, b in ((p, q), (q, p)):
        mask = constant_of(b)
        if mask is not None and mask >= 0 and mask & (mask + 1) == 0:
            return rules.remainder(space, a, {CONSTANT: mask + 1}, e, rules.floor_division)
        if mask is not None and mask < 0 and -mask & (-mask - 1) == 0:
            size = {CONSTANT: -mask}
            return difference(a, rules.remainder(space, a, size, e, rules.floor_division))
    return _bits(space, e, p, q)


def _bits(space: Space, e: prim.Call, p: Poly, q: Poly) -> Poly:
    ends = interval(space.atoms, p), interval(space.atoms, q)
    op = str(e.op).rpartition("_")[2]
    return space.atom("bits", (p, q), e, lambda: bits_ends(op, *ends), detail=e.op, unordered=True)


def _absolute(space: Space, p: Poly, e: prim.Call) -> Poly:
    for q in (p, scaled(p, -1)):
        if surely(space.atoms, space.inequalities, q):
            return dict(q)
    low, high = lower(space.atoms, p), upper(space.atoms, p)
    most = None if low is None or high is None else max(-low, high)
    return space.atom("abs", (p,), e, lambda: (0, most))

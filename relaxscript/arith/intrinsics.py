"""Calls that are arithmetic of integers: shifts, bits, absolute values, lazy choices.

As everywhere in this room integers are mathematical. So `n << 2` is `n * 4` and `n >> 1` is
`n // 2`, of negative numbers too. Bits are those of two's complement: `~n` is `-n - 1`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.ir import prim

from . import minmax_select, rules
from .interval import interval, is_nonnegative, lower_bound, product_bounds, upper_bound
from .polynomial import CONSTANT, Poly, constant_of, difference, multiply, scale
from .quotient_bounds import bits_ends, shifted_right_ends

if TYPE_CHECKING:
    from .canonical import CanonicalContext

__all__ = ["call"]


def call(context: CanonicalContext, e: prim.Call) -> Poly | None:
    """The polynomial of a call that gives an int32 or int64, None if nothing is known of it."""
    match e:
        case prim.Call(op="tir.shift_left", args=(a, places)):
            factor = _power_of_two(context, places, e)
            if factor is None:
                return _shift_left(context, context.sub(a), context.sub(places), e)
            return multiply(context.sub(a), {CONSTANT: factor})
        case prim.Call(op="tir.shift_right", args=(a, places)):
            return _shift_right(context, context.sub(a), context.sub(places), e)
        case prim.Call(op="tir.bitwise_not", args=(a,)):
            return difference({CONSTANT: -1}, context.sub(a))
        case prim.Call(op="tir.bitwise_and", args=(a, b)):
            return _bits_of_both(context, context.sub(a), context.sub(b), e)
        case prim.Call(op="tir.bitwise_or" | "tir.bitwise_xor", args=(a, b)):
            return _bits(context, e, context.sub(a), context.sub(b))
        case prim.Call(op="tir.clz"):
            return _leading_zeros(context, e)
        case prim.Call(op="tir.abs", args=(a,)):
            return _absolute(context, context.sub(a), e)
        case prim.Call(op="tir.if_then_else", args=(condition, a, b)):
            return minmax_select.select(
                context, context.sub(condition), context.sub(a), context.sub(b), e
            )
    return None


def _power_of_two(context: CanonicalContext, places: prim.PrimExpr, e: prim.Call) -> int | None:
    """The factor of a shift by so many places; None where it is not known.

    Shifting by the width of the dtype or more, or by a negative number, has no meaning.
    """
    known = constant_of(context.sub(places))
    return 1 << known if known is not None and 0 <= known < e.dtype.bits else None


def _shift_left(context: CanonicalContext, p: Poly, places: Poly, e: prim.Call) -> Poly | None:
    low, high = interval(context.atoms, places)
    if low is None or high is None or low < 0 or high >= e.dtype.bits:
        return None
    ends = product_bounds(*interval(context.atoms, p), 1 << low, 1 << high)
    return context.atom("bits", (p, places), e, lambda: ends, detail=e.op)


def _leading_zeros(context: CanonicalContext, e: prim.Call) -> Poly:
    """The number of bits that are zero before the first that is not."""
    p, bits = context.sub(e.args[0]), e.args[0].dtype.bits
    known = constant_of(p)
    if known is not None and 0 <= known < 1 << bits:
        return {CONSTANT: bits - known.bit_length()} if known.bit_length() < bits else {}
    return context.atom("opaque", (p,), e, lambda: (0, bits), detail=(e.op, bits))


def _shift_right(context: CanonicalContext, p: Poly, places: Poly, e: prim.Call) -> Poly | None:
    known = constant_of(places)
    if known is None:
        ends = interval(context.atoms, p), interval(context.atoms, places)
        return context.atom("bits", (p, places), e, lambda: shifted_right_ends(*ends), detail=e.op)
    if 0 <= known < e.dtype.bits:
        return rules.floor_division(context, p, {CONSTANT: 1 << known}, e)
    return None


def _bits_of_both(context: CanonicalContext, p: Poly, q: Poly, e: prim.Call) -> Poly:
    """`p & 7` is `p % 8`, and `p & -8` what that leaves: `p - p % 8`."""
    for a, b in ((p, q), (q, p)):
        mask = constant_of(b)
        if mask is not None and mask >= 0 and mask & (mask + 1) == 0:
            return rules.remainder(context, a, {CONSTANT: mask + 1}, e, rules.floor_division)
        if mask is not None and mask < 0 and -mask & (-mask - 1) == 0:
            size = {CONSTANT: -mask}
            return difference(a, rules.remainder(context, a, size, e, rules.floor_division))
    return _bits(context, e, p, q)


def _bits(context: CanonicalContext, e: prim.Call, p: Poly, q: Poly) -> Poly:
    ends = interval(context.atoms, p), interval(context.atoms, q)
    op = str(e.op).rpartition("_")[2]
    return context.atom(
        "bits", (p, q), e, lambda: bits_ends(op, *ends), detail=e.op, unordered=True
    )


def _absolute(context: CanonicalContext, p: Poly, e: prim.Call) -> Poly:
    for q in (p, scale(p, -1)):
        if is_nonnegative(context.atoms, context.inequalities, q):
            return dict(q)
    low, high = lower_bound(context.atoms, p), upper_bound(context.atoms, p)
    most = None if low is None or high is None else max(-low, high)
    return context.atom("abs", (p,), e, lambda: (0, most))

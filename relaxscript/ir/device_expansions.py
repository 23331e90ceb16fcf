"""Expansions of portable device intrinsics into the rest of the scalar language.

`expand_device_call(call)` is an expression of the same value. The interpreter evaluates it and the
code generator compiles it, so that both agree. Products of fixed-point numbers are rounded to the
nearest, halves up.

Source: TVM's default lowering of `q_multiply_shift` and its like.
"""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.dtypes import DataType

from .device_functions import builds
from .intrinsic import lookup
from .prim import (
    BOOL,
    INT32,
    INT64,
    LT,
    Add,
    Broadcast,
    Call,
    Cast,
    Let,
    Mul,
    PrimExpr,
    Ramp,
    Select,
    Shuffle,
    Var,
    cast,
    const,
)
from .scalar_functions import DEVICE_FUNCTIONS, FUNCTIONS

__all__ = ["expand_device_call"]


def _lanes(vectors: list[PrimExpr], start: int, stop: int) -> PrimExpr:
    return Shuffle.make(tuple(vectors), tuple(const(i) for i in range(start, stop)))


def _low(e: Call) -> PrimExpr:
    return _lanes([e.args[0]], 0, e.dtype.lanes)


def _high(e: Call) -> PrimExpr:
    return _lanes([e.args[0]], e.dtype.lanes, 2 * e.dtype.lanes)


def _combine(e: Call) -> PrimExpr:
    return _lanes(list(e.args), 0, e.dtype.lanes)


def _dot(e: Call) -> PrimExpr:
    """The sum of the products of four bytes, and a start."""
    a, b = (Var.make(name, arg.dtype) for name, arg in zip("ab", e.args))
    total = e.args[2]
    for i in range(4):
        x, y = (Cast.make(INT32, _lanes([v], i, i + 1)) for v in (a, b))
        total = Add.make(total, Mul.make(x, y))
    return Let.make(a, e.args[0], Let.make(b, e.args[1], total))


def _mask(e: Call) -> PrimExpr:
    """A mask of the indices from a base on that are below a limit; sums do not wrap."""
    base, limit = (cast(x, INT64) if x.dtype.bits < 64 else x for x in e.args)
    indices = Ramp.make(base, const(1, base.dtype), e.dtype.lanes)
    return LT.make(indices, Broadcast.make(limit, e.dtype.lanes))


def _shift(word: str, x: PrimExpr, places: PrimExpr) -> PrimExpr:
    return FUNCTIONS[f"shift_{word}"](x, places)


def _rounded_product(x: PrimExpr, y: PrimExpr, places: PrimExpr) -> PrimExpr:
    """`x * y / 2**places` of int64, rounded to an int32."""
    half = _shift("left", const(1, INT64), places - 1)
    return Cast.make(INT32, _shift("right", x * y + half, places))


def _fixed_point(e: Call) -> PrimExpr:
    """`s` shifts to the left where it is positive, to the right where it is negative."""
    x, y, q, s = (Cast.make(INT64, arg) for arg in e.args)
    zero = const(0, INT64)
    left = Select.make(s > 0, s, zero)
    right = Select.make(s > 0, zero, zero - s)
    return _rounded_product(_shift("left", x, left), y, right + q)


def _fixed_point_per_axis(e: Call) -> PrimExpr:
    x, y, left, right, q = (Cast.make(INT64, arg) for arg in e.args[:5])
    to_left, to_right = (Cast.make(BOOL, arg) for arg in e.args[5:])
    zero = const(0, INT64)
    shifted = _shift("left", x, Select.make(to_left, left, zero))
    return _rounded_product(shifted, y, q + Select.make(to_right, right, zero))


def _zero(e: Call) -> PrimExpr:
    """Any value will do."""
    return const(0, DataType(e.dtype))


_MEANINGS: dict[str, Callable[[Call], PrimExpr]] = {
    "tir.dp4a": _dot,
    "tir.get_active_lane_mask": _mask,
    "tir.ignore_loop_partition": lambda e: e.args[0],
    "tir.q_multiply_shift": _fixed_point,
    "tir.q_multiply_shift_per_axis": _fixed_point_per_axis,
    "tir.undef": _zero,
    "tir.vectorcombine": _combine,
    "tir.vectorhigh": _high,
    "tir.vectorlow": _low,
}


def expand_device_call(e: Call) -> PrimExpr | None:
    """An expression that means the same as a call; None where the call is not one of these.

    A call made by hand whose operands the function of its name would refuse has none either.
    """
    row = lookup(e.op)
    if row is None or row.script_name not in DEVICE_FUNCTIONS or not row.compiled:
        return None
    if e.dtype.kind in ("handle", "void"):
        return None
    return _MEANINGS[row.name](e) if builds(row, e) else None

"""Random casts, vectors and integers of few bits, and the values of their elements.

An operation of few bits wraps. int32 and int64 do not: what goes beyond them has no value.
"""

from __future__ import annotations

from random import Random

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript_tests.arith import brute_force
from relaxscript_tests.arith.brute_force import Assignments, Values

__all__ = ["draw", "values"]

TYPES = tuple(map(DataType, ("int8", "uint8", "int16", "uint32", "int32", "int64", "int64")))
ARITHMETIC = (
    prim.Add, prim.Add, prim.Sub, prim.Sub, prim.Mul, prim.FloorDiv, prim.FloorMod, prim.Div,
    prim.Mod, prim.Min, prim.Max,
)  # fmt: skip


def draw(random: Random, dtype: DataType | None = None, depth: int = 3) -> PrimExpr:
    """An integer of some dtype, or a vector of them."""
    if dtype is None:
        dtype = random.choice(TYPES).with_lanes(random.choice((1, 1, 2, 5)))
    element, lanes = dtype.element, dtype.lanes
    choice = random.randrange(6)
    if lanes > 1 and (choice == 0 or depth <= 0):
        return prim.Broadcast(draw(random, element, depth - 1), lanes)
    if lanes > 1 and choice < 3:
        return prim.Ramp(*(draw(random, element, depth - 1) for _ in "ab"), lanes)
    if depth <= 0:
        leaf = brute_force.expression(random, 1)
        return leaf if dtype == "int64" else prim.Cast(dtype, leaf)
    if choice == 3:
        return _cast(random, dtype, depth - 1)
    if choice == 4 and lanes == 1:
        condition = brute_force.condition(random, 1)
        return prim.Select(condition, *(draw(random, dtype, depth - 1) for _ in "ab"))
    second: PrimExpr = prim.IntImm(element, random.choice((1, 2, 3, 4, 8, 100)))
    if lanes > 1:
        second = prim.Broadcast(second, lanes)
    if random.randrange(2):
        second = draw(random, dtype, depth - 1)
    return random.choice(ARITHMETIC)(draw(random, dtype, depth - 1), second)


def _cast(random: Random, dtype: DataType, depth: int) -> PrimExpr:
    value = draw(random, random.choice(TYPES).with_lanes(dtype.lanes), depth)
    if random.randrange(4) == 0:
        value = prim.Cast(DataType("float32").with_lanes(dtype.lanes), value)
    return prim.Cast(dtype, value)


def values(e: PrimExpr, given: Assignments, lane: int) -> Values:
    """The values of one element of `e`."""
    match e:
        case prim.Cast(value=a):
            x, known = values(a, given, lane)
            if e.dtype.is_float:
                return x.astype(e.dtype.element.numpy), known
            if a.dtype.is_float:
                x = np.trunc(x).astype(np.int64)
            return x.astype(e.dtype.element.numpy).astype(np.int64), known
        case prim.Broadcast(value=a):
            return values(a, given, 0)
        case prim.Ramp(a, b):
            place = np.full(len(next(iter(given.values()))), lane), np.bool_(True)
            times = brute_force.computed(prim.Mul, values(b, given, 0), place)
            return _stored(e.dtype, brute_force.computed(prim.Add, values(a, given, 0), times))
        case prim.Select(c, a, b):
            (chosen, known), (x, first), (y, second) = (values(p, given, lane) for p in (c, a, b))
            return np.where(chosen, x, y), known & first & second
        case prim.Binary(a, b) if e.dtype.is_integer:
            found = brute_force.computed(type(e), values(a, given, lane), values(b, given, lane))
            return _stored(e.dtype, found)
    return brute_force.values(e, given)


def _stored(dtype: DataType, found: Values) -> Values:
    """What becomes of mathematical integers in a dtype."""
    x, known = found
    wrapped = x.astype(dtype.element.numpy).astype(np.int64)
    return wrapped, known & (wrapped == x) if dtype.element in ("int32", "int64") else known

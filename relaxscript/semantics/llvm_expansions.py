"""The meaning, as expressions, of intrinsics of LLVM for which `T.` has no function.

The functions here take operands that may be used more than once: variables and literals. Vectors
are taken as well as numbers, all lanes alike. Integers of LLVM have no sign; `signed` and
`unsigned` say how an operation reads its operands, and give back what it was called with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import ml_dtypes

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import FUSED, op_named
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.scalar_functions import FUNCTIONS as T

__all__ = [
    "NOTHING",
    "absolute",
    "first",
    "float_class",
    "funnel_shift_left",
    "funnel_shift_right",
    "lane_mask",
    "leading_zeros",
    "let_once",
    "maximum_number",
    "minimum_number",
    "multiply_add",
    "multiply_then_add",
    "power_by_integer",
    "reduce_by_halves",
    "reduce_in_order",
    "reverse_bits",
    "reverse_lanes",
    "saturating_add",
    "saturating_convert",
    "saturating_shift_left",
    "saturating_subtract",
    "scale_by_power_of_two",
    "signed",
    "swap_bytes",
    "three_way_compare",
    "trailing_zeros",
    "unsigned",
]  # fmt: skip

Meaning = Callable[..., PrimExpr]

# The value of what has none.
NOTHING = const(0)
EXPONENT = 5000


def let_once(value: PrimExpr, body: Callable[[PrimExpr], PrimExpr]) -> PrimExpr:
    """`body` of a value that is computed once."""
    if isinstance(value, (prim.Var, prim.Immediate)):
        return body(value)
    var = prim.Var.make("x", value.dtype)
    return prim.Let.make(var, value, body(var))


def _number(value: float, dtype: DataType) -> PrimExpr:
    element = dtype.element
    one = const(float(value) if element.is_float else int(value), element)
    return one if dtype.lanes == 1 else prim.Broadcast.make(one, dtype.lanes)


def _shuffle(vectors: tuple[PrimExpr, ...], places: list[int]) -> PrimExpr:
    return prim.Shuffle.make(vectors, tuple(const(i) for i in places))


def _to(dtype: DataType, x: PrimExpr) -> PrimExpr:
    return x if x.dtype == dtype else T["reinterpret"](dtype, x)


def _read_as(kind: str, operation: Meaning) -> Meaning:
    def read(*operands: PrimExpr) -> PrimExpr:
        dtype = operands[0].dtype
        as_ = DataType(f"{kind}{dtype.bits}").with_lanes(dtype.lanes)
        return _to(dtype, operation(*(_to(as_, x) if x.dtype == dtype else x for x in operands)))

    return read


def signed(operation: Meaning) -> Meaning:
    """The operation on integers with a sign."""
    return _read_as("int", operation)


def unsigned(operation: Meaning) -> Meaning:
    """The operation on integers without a sign."""
    return _read_as("uint", operation)


def first(x: PrimExpr, *others: PrimExpr) -> PrimExpr:
    return x


# ---------------------------------------------------------------- floats


def multiply_add(a: PrimExpr, b: PrimExpr, c: PrimExpr) -> PrimExpr:
    """`a * b + c`, rounded once."""
    return prim.Call.make(a.dtype, op_named(FUSED), (a, b, c))


def multiply_then_add(a: PrimExpr, b: PrimExpr, c: PrimExpr) -> PrimExpr:
    """`a * b + c`, where the product is rounded as well."""
    return prim.Add.make(prim.Mul.make(a, b), c)


def minimum_number(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """The smaller one, or the one that is a number."""
    return _number_of(prim.Min.make(a, b), a, b)


def maximum_number(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """The larger one, or the one that is a number."""
    return _number_of(prim.Max.make(a, b), a, b)


def _number_of(chosen: PrimExpr, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    rest = prim.Select.make(T["isnan"](b), a, chosen)
    return prim.Select.make(T["isnan"](a), b, rest)


def power_by_integer(x: PrimExpr, n: PrimExpr) -> PrimExpr:
    """A power in float64, in which every int32 is itself."""
    wide = DataType("float64").with_lanes(x.dtype.lanes)
    exponent = n if x.dtype.lanes == 1 else prim.Broadcast.make(n, x.dtype.lanes)
    power = T["pow"](prim.cast(x, wide), prim.cast(exponent, wide))
    return prim.cast(power, x.dtype)


def scale_by_power_of_two(x: PrimExpr, n: PrimExpr) -> PrimExpr:
    """`x * 2**n`; beyond some exponents everything is zero or infinite."""
    if n.dtype.bits >= 32:
        n = prim.Min.make(n, _number(EXPONENT, n.dtype))
        n = prim.Max.make(n, _number(-EXPONENT, n.dtype)) if n.dtype.kind == "int" else n
    return T["ldexp"](x, prim.cast(n, DataType("int32").with_lanes(n.dtype.lanes)))


def float_class(x: PrimExpr, classes: prim.IntImm) -> PrimExpr:
    """True where `x` is in one of the classes, a bit each: from NaN over -inf to +inf."""
    size, test = T["fabs"](x), classes.value
    zero, infinity = (_number(v, x.dtype) for v in (0.0, float("inf")))
    finfo: Any = ml_dtypes.finfo
    least = _number(float(finfo(x.dtype.element.numpy).smallest_normal), x.dtype)
    negative = _is_negative(T["reinterpret"](_integer_like(x.dtype), x))
    #           negative  positive
    kinds = {
        (1 << 2, 1 << 9): prim.EQ.make(size, infinity),
        (1 << 3, 1 << 8): prim.And.make(prim.GE.make(size, least), prim.LT.make(size, infinity)),
        (1 << 4, 1 << 7): prim.And.make(prim.GT.make(size, zero), prim.LT.make(size, least)),
        (1 << 5, 1 << 6): prim.EQ.make(size, zero),
    }
    found = [T["isnan"](x) if test & 2 else prim.LT.make(size, size)]
    for (below, above), kind in kinds.items():
        match bool(test & below), bool(test & above):
            case True, True:
                found.append(kind)
            case True, False:
                found.append(prim.And.make(negative, kind))
            case False, True:
                found.append(prim.And.make(prim.Not.make(negative), kind))
    return reduce(lambda a, b: prim.Or.make(a, b), found)


def _is_negative(x: PrimExpr) -> PrimExpr:
    return prim.LT.make(x, _number(0, x.dtype))


def _integer_like(dtype: DataType) -> DataType:
    return DataType(f"int{dtype.bits}").with_lanes(dtype.lanes)


def saturating_convert(kind: str, rounded: Meaning = first) -> Meaning:
    """The nearest integer of a dtype read with or without a sign; 0 of NaN."""

    def convert(result: DataType, x: PrimExpr) -> PrimExpr:
        target = DataType(f"{kind}{result.bits}").with_lanes(result.lanes)
        return _to(result, prim.cast(rounded(x), target))

    return convert


# ---------------------------------------------------------------- bits


def leading_zeros(x: PrimExpr, flag: PrimExpr) -> PrimExpr:
    return prim.cast(T["clz"](x), x.dtype)


def trailing_zeros(x: PrimExpr, flag: PrimExpr) -> PrimExpr:
    """The ones below the lowest one."""
    below = prim.Sub.make(x, _number(1, x.dtype))
    return T["popcount"](T["bitwise_and"](T["bitwise_not"](x), below))


def swap_bytes(x: PrimExpr) -> PrimExpr:
    size, lanes = x.dtype.bits // 8, x.dtype.lanes
    raw = T["reinterpret"](DataType("uint8").with_lanes(size * lanes), x)
    places = [lane * size + k for lane in range(lanes) for k in reversed(range(size))]
    return T["reinterpret"](x.dtype, _shuffle((raw,), places))


def reverse_bits(x: PrimExpr) -> PrimExpr:
    """Neighbours change places, then pairs, then halves of bytes, then bytes."""

    def exchanged(x: PrimExpr, steps: list[int]) -> PrimExpr:
        if not steps:
            return x if x.dtype.bits == 8 else swap_bytes(x)
        step, mask = steps[0], _number(_bit_pattern(steps[0], x.dtype.bits), x.dtype)
        places = _number(step, x.dtype)
        low = T["shift_left"](T["bitwise_and"](x, mask), places)
        high = T["bitwise_and"](T["shift_right"](x, places), mask)
        return let_once(T["bitwise_or"](low, high), lambda y: exchanged(y, steps[1:]))

    return unsigned(lambda u: exchanged(u, [1, 2, 4]))(x)


def _bit_pattern(step: int, bits: int) -> int:
    """`step` ones and as many zeros, over and over."""
    return sum(((1 << step) - 1) << at for at in range(0, bits, 2 * step))


def _funnel_amounts(n: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """The bits that a funnel shift goes, and those left of the width."""
    width = n.dtype.bits
    amount = T["bitwise_and"](n, _number(width - 1, n.dtype))
    return amount, prim.Sub.make(_number(width, n.dtype), amount)


def funnel_shift_left(a: PrimExpr, b: PrimExpr, n: PrimExpr) -> PrimExpr:
    """The upper half of `a` and `b` side by side, shifted to the left."""
    amount, rest = _funnel_amounts(n)
    return T["bitwise_or"](T["shift_left"](a, amount), T["shift_right"](b, rest))


def funnel_shift_right(a: PrimExpr, b: PrimExpr, n: PrimExpr) -> PrimExpr:
    """The lower half of `a` and `b` side by side, shifted to the right."""
    amount, rest = _funnel_amounts(n)
    return T["bitwise_or"](T["shift_left"](a, rest), T["shift_right"](b, amount))


# ---------------------------------------------------------------- integers


def absolute(x: PrimExpr, flag: PrimExpr) -> PrimExpr:
    return T["abs"](x)


def three_way_compare(kind: str) -> Meaning:
    """-1, 0 or 1."""

    def compare(result: DataType, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        as_ = DataType(f"{kind}{a.dtype.bits}").with_lanes(a.dtype.lanes)
        a, b = _to(as_, a), _to(as_, b)
        number = _integer_like(result)
        less, same, more = (_number(v, number) for v in (-1, 0, 1))
        other = prim.Select.make(prim.GT.make(a, b), more, same)
        return _to(result, prim.Select.make(prim.LT.make(a, b), less, other))

    return compare


def _limit(x: PrimExpr) -> PrimExpr:
    """The result in place of one that is too far from zero, by the sign of `x`."""
    low, high = T["min_value"](x.dtype), T["max_value"](x.dtype)
    if x.dtype.kind == "uint":
        return high
    return prim.Select.make(_is_negative(x), low, high)


def saturating_add(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """The sum, or the limit where it wraps."""

    def checked(total: PrimExpr) -> PrimExpr:
        if a.dtype.kind == "uint":
            return prim.Select.make(prim.LT.make(total, a), _limit(a), total)
        return _unless_signs_differ(total, T["bitwise_xor"](b, total), a)

    return let_once(prim.Add.make(a, b), checked)


def saturating_subtract(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """The difference, or the limit where it wraps."""
    if a.dtype.kind == "uint":
        return prim.Select.make(prim.LT.make(a, b), _number(0, a.dtype), prim.Sub.make(a, b))
    return let_once(
        prim.Sub.make(a, b), lambda rest: _unless_signs_differ(rest, T["bitwise_xor"](a, b), a)
    )


def _unless_signs_differ(result: PrimExpr, other: PrimExpr, a: PrimExpr) -> PrimExpr:
    """A result, or the limit where it and `other` say that it has wrapped."""
    wrapped = _is_negative(T["bitwise_and"](T["bitwise_xor"](a, result), other))
    return prim.Select.make(wrapped, _limit(a), result)


def saturating_shift_left(a: PrimExpr, n: PrimExpr) -> PrimExpr:
    """The number shifted to the left, or the limit where that loses bits."""

    def checked(moved: PrimExpr) -> PrimExpr:
        kept = prim.EQ.make(T["shift_right"](moved, n), a)
        return prim.Select.make(kept, moved, _limit(a))

    return let_once(T["shift_left"](a, n), checked)


# ---------------------------------------------------------------- vectors


def reduce_in_order(operation: Meaning) -> Meaning:
    """The lanes of the last operand combined from the first on, after the start if there is one."""

    def fold(*operands: PrimExpr) -> PrimExpr:
        *start, vector = operands
        lanes = [_shuffle((vector,), [i]) for i in range(vector.dtype.lanes)]
        return _fold(operation, [*start, *lanes])

    return fold


def _fold(operation: Meaning, values: list[PrimExpr]) -> PrimExpr:
    if len(values) == 1:
        return values[0]
    a, b, *rest = values

    def further(total: PrimExpr) -> PrimExpr:
        return _fold(operation, [total, *rest])

    return let_once(a, lambda x: let_once(b, lambda y: let_once(operation(x, y), further)))


def reduce_by_halves(operation: Meaning) -> Meaning:
    """The lanes combined by an operation for which their order and grouping mean nothing."""

    def combine(vector: PrimExpr) -> PrimExpr:
        lanes = vector.dtype.lanes
        if lanes == 1:
            return vector
        half = lanes // 2
        low, high = (_shuffle((vector,), list(range(k, k + half))) for k in (0, half))
        both = let_once(low, lambda x: let_once(high, lambda y: let_once(operation(x, y), combine)))
        if lanes % 2 == 0:
            return both
        last = _shuffle((vector,), [lanes - 1])
        return let_once(both, lambda x: let_once(last, lambda y: operation(x, y)))

    return combine


def reverse_lanes(vector: PrimExpr) -> PrimExpr:
    return _shuffle((vector,), list(reversed(range(vector.dtype.lanes))))


def lane_mask(result: DataType, base: PrimExpr, limit: PrimExpr) -> PrimExpr:
    """The mask of the indices from a base on that lie below a limit."""
    as_ = DataType(f"uint{base.dtype.bits}")
    return T["get_active_lane_mask"](result, _to(as_, base), _to(as_, limit))

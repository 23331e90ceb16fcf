"""The meaning of scalar operations: the numbers behind the nodes of `ir/prim.py`.

A scalar of any dtype is a plain Python number: an int in the range of its type, a bool, or a
float that its type represents exactly. Every function here takes such numbers and returns such a
number, so the dtype is exact at each step: integers wrap at their width, and an operation on
narrow floats is the operation on real numbers, rounded once. Nothing is undefined:

* integer division truncates (`Div`, `Mod`) or floors (`FloorDiv`, `FloorMod`); the least integer
  divided by -1 wraps; division by zero raises `ZeroDivisionError`;
* `Mod` of floats is C's fmod, `FloorDiv` and `FloorMod` of floats are numpy's;
* `Min` and `Max` of floats give NaN when either operand is, and -0.0 is less than 0.0;
* a shift by the width or more (negative amounts count as large) leaves zero, or the sign;
* a float becomes an integer by truncation, and NaN becomes 0; where the float is too large, it
  becomes the nearest integer of the type; a number becomes a bool by comparison with zero;
* `pow` of integers wraps, and negative exponents give the truncated reciprocal (0 for 0);
* `round` takes halves away from zero, `nearbyint` to even; `clz(0)` is the width.

`binary`, `cast` and `intrinsic` give the function for a dtype; functions of floats expect to
run under `np.errstate(all="ignore")`.
"""

from __future__ import annotations

import ctypes
import math
import operator
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType, nearest
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import FUSED

__all__ = [
    "COMPARISONS", "Number", "binary", "cast", "intrinsic", "reinterpret", "rounding", "wrapping",
]  # fmt: skip

Number = int | float | bool
Operation = Callable[..., Any]


@cache
def rounding(dtype: DataType) -> Callable[[float], float]:
    """The nearest value of a floating-point type; overflow gives an infinity."""
    if dtype == "float64":
        return float
    if dtype == "float32":
        c_float = ctypes.c_float
        return lambda x: c_float(x).value
    scalar = dtype.numpy.type
    if dtype == "float16":
        # What rounds to no finite number is decided here, since numpy would warn of it.
        least = 65520.0
        return lambda x: math.copysign(math.inf, x) if abs(x) >= least else float(scalar(x))
    # Where a format has no NaN, the sign of one must not matter.
    undefined = float(scalar(math.nan))
    return lambda x: float(scalar(x)) if x == x else undefined


def limits(dtype: DataType) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
    return low, low + (1 << dtype.bits) - 1


@cache
def wrapping(dtype: DataType) -> Callable[[int], int]:
    """The value of an integer type that is congruent to an integer."""
    low, high = limits(dtype)
    mask = (1 << dtype.bits) - 1

    def wrap(x: int) -> int:
        return x if low <= x <= high else ((x - low) & mask) + low

    return wrap


# ---------------------------------------------------------------- arithmetic


def truncated_quotient(a: int, b: int) -> int:
    """The integer quotient rounded towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def truncated_remainder(a: int, b: int) -> int:
    """The remainder of `truncated_quotient`; it has the sign of `a`."""
    return a - b * truncated_quotient(a, b)


def float_quotient(a: float, b: float) -> float:
    """The IEEE quotient of doubles, division by zero included."""
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)


def float_minimum(a: float, b: float) -> float:
    """The smaller number, NaN when either is NaN."""
    if a != a or b != b:
        return math.nan
    if a == b:
        return a if math.copysign(1.0, a) < 0 else b
    return min(a, b)


def float_maximum(a: float, b: float) -> float:
    """The larger number, NaN when either is NaN."""
    return -float_minimum(-a, -b)


def _on_arrays(function: Any, dtype: DataType) -> Operation:
    """A function of numpy, run in the dtype itself."""
    scalar = dtype.numpy.type
    return lambda *xs: float(function(*(scalar(x) for x in xs)))


def _rounding_operation(operation: Operation, dtype: DataType) -> Operation:
    fit = rounding(dtype)
    return lambda a, b: fit(operation(a, b))


def _wrapping_operation(operation: Operation, dtype: DataType) -> Operation:
    fit = wrapping(dtype)
    return lambda a, b: fit(operation(a, b))


#              integers, whose results wrap   floats, whose results are rounded
ARITHMETIC: dict[type[prim.Binary], tuple[Operation, Operation]] = {
    prim.Add: (operator.add, operator.add),
    prim.Sub: (operator.sub, operator.sub),
    prim.Mul: (operator.mul, operator.mul),
    prim.Div: (truncated_quotient, float_quotient),
    prim.Mod: (truncated_remainder, lambda a, b: float(np.fmod(a, b))),
    prim.FloorDiv: (operator.floordiv, np.floor_divide),
    prim.FloorMod: (operator.mod, np.mod),
    prim.Min: (min, float_minimum),
    prim.Max: (max, float_maximum),
}

# Sums and products of truth values are those of numpy.
OF_BOOLS: dict[type[prim.Binary], Operation] = {
    prim.Add: operator.or_,
    prim.Max: operator.or_,
    prim.Mul: operator.and_,
    prim.Min: operator.and_,
}

COMPARISONS: dict[type[prim.Comparison], Operation] = {
    prim.EQ: operator.eq,
    prim.NE: operator.ne,
    prim.LT: operator.lt,
    prim.LE: operator.le,
    prim.GT: operator.gt,
    prim.GE: operator.ge,
}


def binary(node_type: type[prim.Binary], dtype: DataType) -> Operation | None:
    """The function behind a node of arithmetic, or None when there is none for the dtype."""
    if dtype.is_bool:
        return OF_BOOLS.get(node_type)
    of_integers, of_floats = ARITHMETIC[node_type]
    if dtype.is_integer:
        return _wrapping_operation(of_integers, dtype)
    if not dtype.is_float:
        return None
    if node_type in (prim.FloorDiv, prim.FloorMod):
        return _on_arrays(of_floats, dtype)
    if node_type in (prim.Min, prim.Max):
        return of_floats
    return _rounding_operation(of_floats, dtype)


# ---------------------------------------------------------------- conversion


def _saturating_conversion(dtype: DataType) -> Callable[[float], int]:
    low, high = limits(dtype)

    def convert(x: float) -> int:
        if x != x:
            return 0
        if x <= low:
            return low
        return high if x >= high else int(x)

    return convert


def _integer_conversion(dtype: DataType) -> Callable[[int], int]:
    fit = wrapping(dtype)
    return lambda x: fit(int(x))


@cache
def cast(source: DataType, target: DataType) -> Operation | None:
    """The conversion from one dtype to another, or None when there is none."""
    kinds = ("int", "uint", "bool", "float", "bfloat")
    if source.kind not in kinds or target.kind not in kinds:
        return None
    if target.is_bool:
        return bool
    if target.is_integer:
        return _saturating_conversion(target) if source.is_float else _integer_conversion(target)
    if source.is_integer or source == "float64":
        # Both may have more digits than what `rounding` goes through.
        return lambda x: nearest(x, target)
    return rounding(target)


def reinterpret(source: DataType, target: DataType) -> Operation:
    """The numbers of `target` with the same bits; vectors are lists."""
    whole, part = source.element.numpy, target.element.numpy

    def convert(x: Any) -> Any:
        values = np.array(x if source.lanes > 1 else [x], whole).view(part).tolist()
        numbers = [float(v) if target.is_float else v for v in values]
        return numbers if target.lanes > 1 else numbers[0]

    return convert


# ---------------------------------------------------------------- intrinsics


def round_half_away(x: float) -> float:
    """The nearest whole number; halves go away from zero."""
    if not math.isfinite(x):
        return x
    whole = math.copysign(float(math.trunc(x)), x)
    return whole + math.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole


def float_power(a: float, b: float) -> float:
    """C's pow, infinities and NaN included."""
    odd = math.isfinite(b) and b % 2 == 1
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and odd else math.inf
    except ValueError:
        if a != 0:
            return math.nan
        return math.copysign(math.inf, a) if odd else math.inf


_DOUBLE, _DOUBLE_BITS = struct.Struct("<d"), struct.Struct("<q")


def sum_to_odd(a: float, b: float) -> float:
    """A sum of doubles; where it is none, the one of the two around it whose last bit is set."""
    total = a + b
    added = total - a
    lost = (a - (total - added)) + (b - added)
    if lost and lost == lost and not _DOUBLE_BITS.unpack(_DOUBLE.pack(total))[0] & 1:
        return math.nextafter(total, math.copysign(math.inf, lost))
    return total


def fused_multiply_add_of_float32(a: float, b: float, c: float) -> float:
    """`a * b + c` of numbers of float32, rounded once.

    The product is exact as a double. Where the sum is not, the odd double is no middle between
    numbers of float32.
    """
    return ctypes.c_float(sum_to_odd(a * b, c)).value


def fused_multiply_add_of_float64(a: float, b: float, c: float) -> float:
    """`a * b + c` of doubles that are neither very large nor very small, rounded once.

    Product and sum are exact as three doubles, the lower two of which are added to odd. Source:
    S. Boldo, G. Melquiond, "Emulation of a FMA and Correctly Rounded Sums" (2008).
    """
    product = a * b
    scaled, other = a * _SPLIT, b * _SPLIT
    a_high, b_high = scaled - (scaled - a), other - (other - b)
    a_low, b_low = a - a_high, b - b_high
    rest = a_low * b_low - (product - a_high * b_high - a_low * b_high - a_high * b_low)
    total = c + rest
    added = total - c
    low = (c - (total - added)) + (rest - added)
    high = product + total
    added = high - product
    middle = (product - (high - added)) + (total - added)
    return high + sum_to_odd(low, middle)


_SPLIT = 2.0**27 + 1
# Numbers whose products and sums are far from the ends of the range, in all their parts.
_MODERATE = (2.0**-300, 2.0**300)


def is_moderate(x: float) -> bool:
    return _MODERATE[0] < abs(x) < _MODERATE[1]


def fused_multiply_add(dtype: DataType) -> Operation:
    """`a * b + c` rounded once.

    What lies between two doubles becomes the odd one of them, and that is rounded once more. The
    outcome is the same number. For types of 16 bits and less, `float32` is the step between.
    """
    if dtype == "float32":
        return fused_multiply_add_of_float32
    fit, wide = rounding(dtype), dtype == "float64"
    narrow = rounding(DataType("float32"))

    def fused_multiply_add(a: float, b: float, c: float) -> float:
        if wide and is_moderate(a) and is_moderate(b) and (c == 0 or is_moderate(c)):
            return fused_multiply_add_of_float64(a, b, c)
        if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
            return fit(c if math.isfinite(a) and math.isfinite(b) else a * b + c)
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if not exact:
            return a * b + c
        if wide:
            return _nearest(exact)
        near = _round_to_odd(_nearest(exact), exact, "float64")
        return fit(_round_to_odd(narrow(near), exact, "float32"))

    return fused_multiply_add


def _nearest(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _round_to_odd(near: float, exact: Fraction, dtype: str) -> float:
    """Of the two numbers around `exact`, of which `near` is one, the one whose last bit is set."""
    scalar = np.dtype(dtype).type
    bits = int(np.array(near, dtype).view(f"uint{8 * np.dtype(dtype).itemsize}"))
    if bits & 1 or (math.isfinite(near) and exact == near):
        return near
    beyond = math.inf if near < exact else -math.inf
    return float(np.nextafter(scalar(near), scalar(beyond)))


def integer_power(a: int, b: int) -> int:
    """`a` to the power of `b`, truncated towards zero."""
    if b >= 0:
        return int(pow(a, b))
    if abs(a) != 1:
        return 0
    return a if b % 2 else 1


def _numpy(name: str) -> Operation:
    function: Any = getattr(np, name)
    return lambda *xs: float(function(*xs))


# Functions of doubles; results are rounded to the dtype.
OF_FLOATS: dict[str, Operation] = {
    **{f"tir.{name}": _numpy(f) for name, f in {
        "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
        "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh", "ceil": "ceil",
        "copysign": "copysign", "cos": "cos", "cosh": "cosh", "exp": "exp", "exp2": "exp2",
        "fabs": "fabs", "floor": "floor", "fmod": "fmod", "hypot": "hypot", "log": "log",
        "log10": "log10", "log1p": "log1p", "log2": "log2", "nearbyint": "rint",
        "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
        "trunc": "trunc",
    }.items()},
    "tir.erf": math.erf,
    "tir.exp10": lambda x: float_power(10.0, x),
    "tir.ldexp": lambda x, n: float(np.ldexp(x, max(-5000, min(5000, int(n))))),
    "tir.pow": float_power,
    "tir.round": round_half_away,
    "tir.rsqrt": lambda x: float_quotient(1.0, float(np.sqrt(x))),
    "tir.sigmoid": lambda x: 1.0 / (1.0 + float(np.exp(-x))),
}  # fmt: skip

PREDICATES: dict[str, Operation] = {
    "tir.isnan": math.isnan,
    "tir.isinf": math.isinf,
    "tir.isfinite": math.isfinite,
}

BITWISE: dict[str, Operation] = {
    "tir.bitwise_and": operator.and_,
    "tir.bitwise_or": operator.or_,
    "tir.bitwise_xor": operator.xor,
}


def _of_integers(name: str, dtype: DataType) -> Operation | None:
    bits, fit = dtype.bits, wrapping(dtype)
    mask = (1 << bits) - 1
    match name:
        case "tir.bitwise_not":
            return lambda a: fit(~a)
        case "tir.shift_left":
            return lambda a, n: fit(a << n) if 0 <= n < bits else 0
        case "tir.shift_right":
            return lambda a, n: a >> n if 0 <= n < bits else (-1 if a < 0 else 0)
        case "tir.pow":
            return lambda a, n: fit(pow(a, n, 1 << bits) if n >= 0 else integer_power(a, n))
        case "tir.popcount":
            return lambda a: bin(a & mask).count("1")
        case "tir.clz":
            return lambda a: bits - (a & mask).bit_length()
    return None


def intrinsic(name: str, dtype: DataType) -> Operation | None:
    """The function behind an intrinsic for operands of a dtype, or None when there is none."""
    if name in BITWISE and not dtype.is_float:
        return BITWISE[name]
    if dtype.is_bool:
        return operator.not_ if name == "tir.bitwise_not" else None
    if dtype.is_integer:
        return _of_integers(name, dtype)
    if not dtype.is_float:
        return None
    if name in PREDICATES:
        return PREDICATES[name]
    if name == "tir.nextafter":
        neighbour = _on_arrays(np.nextafter, dtype)
        return lambda a, b: b if a == b else neighbour(a, b)
    if name == FUSED:
        return fused_multiply_add(dtype)
    function, fit = OF_FLOATS.get(name), rounding(dtype)
    return None if function is None else lambda *xs: fit(function(*xs))

"""Exact numbers: what operators give where Python's integers and fractions compute it.

Nothing here asks numpy for arithmetic, so it judges meanings that are calls of numpy. A value is a
Python int or bool, or a float that is exactly the element; a finite float stands for its fraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType

__all__ = [
    "FLOATS", "INTEGERS", "binary", "draw", "limits", "rounded", "same", "spacing", "unary",
    "values",
]  # fmt: skip

FLOATS = ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

# Bits of the significand, least exponent, greatest finite value, whether there are infinities.
_FORMATS = {
    "float16": (11, -14, 65504.0, True),
    "bfloat16": (8, -126, 2.0**127 * (2 - 2.0**-7), True),
    "float32": (24, -126, 2.0**127 * (2 - 2.0**-23), True),
    "float64": (53, -1022, 2.0**1023 * (2 - 2.0**-52), True),
    "float8_e4m3fn": (4, -6, 448.0, False),
    "float8_e5m2": (3, -14, 57344.0, True),
}


# ---------------------------------------------------------------- numbers of a dtype


def spacing(dtype: str, number: Fraction | float) -> Fraction:
    """How far apart the values of a float type lie around a number."""
    bits, least, _, _ = _FORMATS[dtype]
    size = abs(Fraction(number))
    exponent = least
    if size:
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
    return Fraction(2) ** (max(exponent, least) - bits + 1)


def rounded(dtype: str, number: Fraction) -> float:
    """The value of a float type that is nearest to a number, of two the even one."""
    _, _, greatest, has_infinities = _FORMATS[dtype]
    step = spacing(dtype, number)
    whole = round(number / step)  # Python rounds halves to even
    if abs(whole * step) > Fraction(greatest):
        return (math.inf if number > 0 else -math.inf) if has_infinities else math.nan
    return float(whole * step)


def limits(dtype: str) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    bits = int(dtype.lstrip("uint"))
    return (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def wrapped(dtype: str, number: int) -> int:
    """An integer without the bits that its type has no room for."""
    low, high = limits(dtype)
    return (number - low) % (high - low + 1) + low


def values(array: Any) -> list[Any]:
    """The elements of an array as exact values."""
    if array.dtype.kind in "biu":
        return [item.item() for item in array.ravel()]
    return [float(item) for item in array.ravel()]


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal; NaN is NaN, and one zero the other."""
    return a == b or (a != a and b != b)


@cache
def _special(dtype: str) -> tuple[Any, ...]:
    if dtype == "bool":
        return (False, True)
    if dtype in INTEGERS:
        low, high = limits(dtype)
        return (low, low + 1, high, high - 1, 0, 1, 2, 3, 7, max(low, -1), max(low, -2))
    bits, least, greatest, has_infinities = _FORMATS[dtype]
    tiny = 2.0**least
    found = [
        0.0,
        1.0,
        0.5,
        1.5,
        2.5,
        3.0,
        100.0,
        greatest,
        tiny,
        tiny * 2.0 ** (1 - bits),
        math.nan,
    ]
    found += [math.inf] * has_infinities
    return tuple(sign * number for number in found for sign in (1, -1))


def draw(rng: np.random.Generator, dtype: str, shape: int | tuple[int, ...]) -> Any:
    """Elements of all sizes; about half of them are those at which operators go wrong."""
    element = DataType(dtype).numpy
    special = np.array(_special(dtype), dtype=object)
    if dtype in FLOATS:
        _, least, greatest, _ = _FORMATS[dtype]
        scale = rng.integers(max(least, -60), min(int(math.log2(greatest)), 60), shape)
        drawn = rng.choice([-1, 1], shape) * (1 + rng.random(shape)) * 2.0**scale
    else:
        low, high = (0, 1) if dtype == "bool" else limits(dtype)
        drawn = rng.integers(low, high, shape, endpoint=True, dtype=element)
    chosen = np.where(rng.random(shape) < 0.5, rng.choice(special, shape), drawn.astype(object))
    with np.errstate(all="ignore"):
        return np.asarray(chosen).astype(np.float64 if dtype in FLOATS else element).astype(element)


# ---------------------------------------------------------------- operators, exactly


def unary(name: str, dtype: str) -> Callable[[Any], Any]:
    """What an operator makes of one value."""
    of_floats, of_integers = _UNARY[name]

    def compute(x: Any) -> Any:
        if dtype == "bool" or dtype in INTEGERS:
            found = of_integers(x)
            return found if isinstance(found, bool) else wrapped(dtype, found)
        return _finished(dtype, of_floats(x))

    return compute


def binary(name: str, dtype: str) -> Callable[[Any, Any], Any]:
    """What an operator makes of two values."""
    of_floats, of_integers = _BINARY[name]

    def compute(x: Any, y: Any) -> Any:
        if dtype == "bool" or dtype in INTEGERS:
            found = of_integers(x, y)
            return found if isinstance(found, bool) else wrapped(dtype, found)
        return _finished(dtype, of_floats(x, y))

    return compute


def _finished(dtype: str, found: Any) -> Any:
    """A result as a value of its type; infinities that the type has not are NaN."""
    if isinstance(found, Fraction):
        return rounded(dtype, found)
    infinite = isinstance(found, float) and math.isinf(found)
    return math.nan if infinite and not _FORMATS[dtype][3] else found


def _finite(*numbers: float) -> bool:
    return all(map(math.isfinite, numbers))


def _whole(rounding: Callable[[Fraction], int]) -> Callable[[float], Any]:
    return lambda x: Fraction(rounding(Fraction(x))) if _finite(x) else x


def _sum(sign: int) -> Callable[[float, float], Any]:
    return lambda x, y: Fraction(x) + sign * Fraction(y) if _finite(x, y) else x + sign * y


def _divide(x: float, y: float) -> Any:
    if x != x or y != y or (y == 0 and x == 0):
        return math.nan
    if y == 0:
        return math.copysign(math.inf, x) * math.copysign(1, y)
    return Fraction(x) / Fraction(y) if _finite(x, y) else x / y


def _floor_divide(x: float, y: float) -> Any:
    if y == 0:
        return _divide(x, y)
    return Fraction(Fraction(x) // Fraction(y)) if _finite(x, y) else x // y


def _mod(x: float, y: float) -> Any:
    if not _finite(x) or y != y or y == 0:
        return math.nan
    if not _finite(y):
        return x
    a, b = Fraction(x), Fraction(y)
    return a - b * math.trunc(a / b)


def _floor_mod(x: float, y: float) -> Any:
    if y == 0:
        return math.nan
    return Fraction(x) % Fraction(y) if _finite(x, y) else x % y


def _integer_divide(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _integer_power(x: int, y: int) -> int:
    return x**y if y >= 0 else (1 if x == 1 else (1 if y % 2 == 0 else -1) if x == -1 else 0)


def _extreme(choose: Callable[[Any, Any], Any]) -> Callable[[float, float], Any]:
    return lambda x, y: math.nan if x != x or y != y else choose(x, y)


def _sign(x: Any) -> Any:
    return x if x != x else type(x)((x > 0) - (x < 0))


def _square_root(x: float) -> Any:
    """The root, with so many bits more than any type has that rounding it is rounding the root."""
    if x != x or x < 0:
        return math.nan
    if not x or not _finite(x):
        return x
    shift = 2400
    scaled = Fraction(x) * 2**shift
    root = math.isqrt(scaled.numerator // scaled.denominator)
    exact = root * root == scaled
    return Fraction(2 * root + (not exact), 2 ** (shift // 2 + 1))


def _same(x: Any) -> Any:
    return x


def _none(*operands: Any) -> Any:
    raise AssertionError("this operator takes no floats")


_UNARY: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "abs": (abs, abs),
    "negative": (lambda x: -x, lambda x: -x),
    "square": (lambda x: Fraction(x) ** 2 if _finite(x) else x * x, lambda x: x * x),
    "sqrt": (_square_root, _same),
    "sign": (_sign, _sign),
    "ceil": (_whole(math.ceil), _same),
    "floor": (_whole(math.floor), _same),
    "trunc": (_whole(math.trunc), _same),
    "round": (_whole(round), _same),
    "isnan": (math.isnan, lambda x: False),
    "isinf": (math.isinf, lambda x: False),
    "isfinite": (math.isfinite, lambda x: True),
    "logical_not": (_none, lambda x: not x),
    "bitwise_not": (_none, lambda x: not x if isinstance(x, bool) else ~x),
}

_BINARY: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "add": (_sum(1), lambda x, y: x + y),
    "subtract": (_sum(-1), lambda x, y: x - y),
    "multiply": (
        lambda x, y: Fraction(x) * Fraction(y) if _finite(x, y) else x * y, lambda x, y: x * y,
    ),
    "divide": (_divide, _integer_divide),
    "floor_divide": (_floor_divide, lambda x, y: x // y),
    "mod": (_mod, lambda x, y: x - y * _integer_divide(x, y)),
    "floor_mod": (_floor_mod, lambda x, y: x % y),
    "power": (_none, _integer_power),
    "maximum": (_extreme(max), max),
    "minimum": (_extreme(min), min),
    "equal": (lambda x, y: x == y, lambda x, y: x == y),
    "not_equal": (lambda x, y: x != y, lambda x, y: x != y),
    "less": (lambda x, y: x < y, lambda x, y: x < y),
    "less_equal": (lambda x, y: x <= y, lambda x, y: x <= y),
    "greater": (lambda x, y: x > y, lambda x, y: x > y),
    "greater_equal": (lambda x, y: x >= y, lambda x, y: x >= y),
    "logical_and": (_none, lambda x, y: x and y),
    "logical_or": (_none, lambda x, y: x or y),
    "logical_xor": (_none, lambda x, y: x != y),
    "bitwise_and": (_none, lambda x, y: x & y),
    "bitwise_or": (_none, lambda x, y: x | y),
    "bitwise_xor": (_none, lambda x, y: x ^ y),
    "left_shift": (_none, lambda x, y: x << y),
    "right_shift": (_none, lambda x, y: x >> y),
}  # fmt: skip

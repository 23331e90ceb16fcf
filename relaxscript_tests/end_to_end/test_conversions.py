"""Conversions to narrow floats round once: as constants, in the evaluators and in native code.

Rounding to float32 or float64 on the way would make a middle of what lies beside it.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from relaxscript.arith import evaluate
from relaxscript.dtypes import DataType, converted, nearest
from relaxscript.ir import prim
from relaxscript.ir.prim_checks import fits_float
from relaxscript.script import from_source
from relaxscript.semantics import scalar
from relaxscript_tests.op.exact import limits, rounded, same, spacing
from relaxscript_tests.prim_funcs import both, elementwise

NARROW = ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]


def numbers_of(array: Any) -> list[float]:
    with np.errstate(invalid="ignore"):
        return array.astype("float64").tolist()  # type: ignore[no-any-return]


@functools.cache
def middles(target: str) -> tuple[Fraction, ...]:
    """What lies halfway between two neighbours of a type, and beyond the last of them."""
    dtype = DataType(target)
    codes = np.arange(1 << (dtype.bits - 1)).astype(f"uint{dtype.bits}").view(dtype.numpy)
    finite = sorted(Fraction(x) for x in numbers_of(codes) if math.isfinite(x))
    finite.append(2 * finite[-1] - finite[-2])
    chosen = [*range(9), *range(9, len(finite) - 1, max(1, len(finite) // 97))]
    places = {*chosen, len(finite) - 2, len(finite) - 3}
    return tuple((finite[i] + finite[i + 1]) / 2 for i in places)


def doubles(target: str) -> list[float]:
    """Middles and what is beside them, nearer than float32 can say, of both signs."""
    near = [float(m) for m in middles(target)]
    close = [m * (1 + side * 2.0**-e) for m in near for side in (-1, 1) for e in (30, 40, 52)]
    special = [0.0, math.inf, math.nan, 1e300, 5e-324, 1e-46, 1.8e308, 3.5e38]
    positive = [*near, *close, *special]
    return [*positive, *(-x for x in positive)]


def integers(target: str, source: str) -> list[int]:
    """Whole middles and their neighbours, as far as the integer type has them."""
    low, high = limits(source)
    near = [int(m) for m in middles(target) if m.denominator == 1]
    # Of large numbers the last bits decide that float32, and float64, have no room for.
    for place in range(8, high.bit_length()):
        near += [(1 << place) + (1 << max(place - digits, 0)) for digits in (3, 4, 8, 11)]
    beside = [m + step for m in near for step in (-1025, -1024, -1, 0, 1, 1024, 2048)]
    both_signs = [0, low, high, high - 1, *beside, *(-m for m in beside)]
    return sorted({x for x in both_signs if low <= x <= high})


def exact(target: str, value: float) -> float:
    """The nearest value of a type, by Python's fractions."""
    if not isinstance(value, int) and not math.isfinite(value):
        has_infinities = target != "float8_e4m3fn"
        return value if has_infinities or value != value else math.nan
    found = rounded(target, Fraction(value))
    return math.copysign(found, value) if found == 0 and isinstance(value, float) else found


every_target = pytest.mark.parametrize("target", NARROW)
every_source = pytest.mark.parametrize("source", ["float64", "int32", "uint32", "int64", "uint64"])


@pytest.fixture
def numbers(source: str, target: str) -> list[Any]:
    """What is converted of one type to another."""
    return doubles(target) if source == "float64" else integers(target, source)


def check(found: Any, target: str, numbers: list[Any]) -> None:
    wrong = [
        (number, x, exact(target, number))
        for number, x in zip(numbers, found, strict=True)
        if not same(x, exact(target, number))
    ]
    assert not wrong, wrong[:5]


@every_target
@every_source
def test_a_number_becomes_the_nearest(source: str, target: str, numbers: list[Any]) -> None:
    to = DataType(target)
    check([nearest(x, to) for x in numbers], target, numbers)
    with np.errstate(all="ignore"):
        found = converted(np.array(numbers, source), to.numpy)
    check(numbers_of(found), target, numbers)


@every_target
@every_source
def test_a_constant_is_converted_to_the_nearest(
    source: str, target: str, numbers: list[Any]
) -> None:
    fitting = [x for x in numbers if source == "float64" or x < 1 << 63]
    cast = [evaluate(prim.Cast(target, prim.const(x, source))) for x in fitting]
    check(cast, target, fitting)
    written = [x for x in fitting if source == "float64" and fits_float(x, DataType(target))]
    check([evaluate(prim.FloatImm(target, x)) for x in written], target, written)


@every_target
@every_source
def test_an_element_is_converted_to_the_nearest(
    source: str, target: str, numbers: list[Any]
) -> None:
    convert = scalar.cast(DataType(source), DataType(target))
    assert convert is not None
    check([convert(x) for x in numbers], target, numbers)
    func = elementwise(len(numbers), [source], target, lambda x: prim.Cast(target, x))
    result = np.zeros(len(numbers), DataType(target).numpy)
    _, written = both(func, [np.array(numbers, source), result])
    check(numbers_of(written), target, numbers)


@pytest.mark.parametrize("source", ["float64", "int64", "uint64"])
def test_the_lanes_of_a_vector_are_converted_alike(source: str) -> None:
    found = doubles("bfloat16") if source == "float64" else integers("bfloat16", source)
    numbers = found[: len(found) // 4 * 4]
    func = from_source(
        f"""@T.prim_func
def f(x: T.Buffer(({len(numbers)},), "{source}"), y: T.Buffer(({len(numbers)},), "bfloat16")):
    for i in range({len(numbers) // 4}):
        y[i * 4 : i * 4 + 4] = T.Cast("bfloat16x4", x[i * 4 : i * 4 + 4])
"""
    )
    args = [np.array(numbers, source), np.zeros(len(numbers), DataType("bfloat16").numpy)]
    _, written = both(func, args)
    check(numbers_of(written), "bfloat16", numbers)


@pytest.mark.parametrize("target", NARROW)
def test_an_argument_is_converted_to_the_nearest(target: str) -> None:
    func = from_source(
        f"""@T.prim_func
def f(x: T.{target}, y: T.Buffer((1,), "{target}")):
    y[0] = x
"""
    )
    for number in [*doubles(target)[::40], *integers(target, "int64")[::40]]:
        _, written = both(func, [number, np.zeros(1, DataType(target).numpy)])
        check(numbers_of(written), target, [number])


@pytest.mark.parametrize("target", NARROW)
def test_what_is_computed_of_constants_begins_with_the_nearest(target: str) -> None:
    half = spacing(target, 1.0) / 2
    beside = 1 + float(half) + 2.0**-40
    product = prim.FloatImm(target, beside) * prim.const(1.0, target)
    assert isinstance(product, prim.FloatImm)
    assert product.value == 1 + 2 * half

"""The error function and its kin: accuracy, edges, and where their numbers come from."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.op.error_function import erf, erfc, gelu
from relaxscript_tests import examples
from relaxscript_tests.units import ulps

TYPES = ("float16", "bfloat16", "float32", "float64")
EDGES = [0.0, -0.0, 0.84375, 1.25, -1.25, 1 / 0.35, 6.0, -6.0, 28.0, math.inf, -math.inf, math.nan]

# ---------------------------------------------------------------- numbers that are not computed so


def pi_bits(bits: int) -> int:
    """pi * 2**bits, by Machin's formula."""

    def arc_tangent(inverse: int) -> int:
        power = total = (1 << bits + 20) // inverse
        n, sign = 1, -1
        while power:
            power //= inverse * inverse
            n += 2
            total += sign * (power // n)
            sign = -sign
        return total

    return (16 * arc_tangent(5) - 4 * arc_tangent(239)) >> 20


def exact_erfc(x: float, of_half_square: bool = False) -> tuple[int, int]:
    """erfc of `x`, or of `x / sqrt(2)`, as a whole number and the bits after its point."""
    bits = int(3 * x * x) + 160
    numerator, denominator = x.as_integer_ratio()
    square = (numerator * numerator << bits) // (denominator * denominator)
    root = (numerator << bits) // denominator
    if of_half_square:
        square >>= 1
        root = root * (1 << bits) // math.isqrt(2 << 2 * bits)
    term = total = root
    n = 0
    while term:
        n += 1
        term = -(term * square >> bits) // n if term > 0 else (-term * square >> bits) // n
        total += term // (2 * n + 1)
    one = 1 << bits
    return one - 2 * total * one // math.isqrt(pi_bits(bits) << bits), bits


def apart(found: float, number: int, bits: int) -> float:
    """How far a float is from `number * 2**-bits`, in units in the last place."""
    numerator, denominator = found.as_integer_ratio()
    error = abs(numerator * (1 << bits) - number * denominator)
    unit, scale = math.ulp(found).as_integer_ratio()
    return (error * scale * 1000 // (denominator * unit << bits)) / 1000


@pytest.mark.slow
def test_float64_is_within_2_units_of_the_exact_number(rng: np.random.Generator) -> None:
    draws = [rng.uniform(low, high, examples(500)) for low, high in ((0, 3), (3, 12), (12, 26.5))]
    x = np.concatenate([*draws, [0.84375, 0.8437499, 1.2499999, 1.25, 2.857142857142857, 5e-324]])
    for value, small, whole in zip(x.tolist(), erfc(x).tolist(), erf(x).tolist()):
        number, bits = exact_erfc(value)
        assert apart(small, number, bits) <= 2, value
        assert apart(whole, (1 << bits) - number, bits) <= 2, value


@pytest.mark.slow
def test_gelu_of_float64_is_within_3_units_of_the_exact_number(rng: np.random.Generator) -> None:
    draws = [rng.uniform(low, high, examples(500)) for low, high in ((0, 4), (4, 20), (20, 37))]
    x = np.concatenate([*draws, [1.767766952966369, 1.7677669, 1.7677670]])
    for value, below, above in zip(x.tolist(), gelu(-x).tolist(), gelu(x).tolist()):
        number, bits = exact_erfc(value, of_half_square=True)
        numerator, denominator = value.as_integer_ratio()
        rest = number * numerator // denominator >> 1
        assert apart(-below, rest, bits) <= 3, value
        assert apart(above, (numerator << bits) // denominator - rest, bits) <= 3, value


# ---------------------------------------------------------------- a million values of each type


def drawn(rng: np.random.Generator, dtype: str) -> Any:
    """Numbers of every size, most of them where the functions change."""
    count = examples(500_000)
    small = np.exp(rng.uniform(-30, 3.4, count)) * rng.choice([-1, 1], count)
    values = np.concatenate([rng.uniform(-11, 11, count), small, EDGES])
    with np.errstate(over="ignore"):
        return values.astype(DataType(dtype).numpy)


def oracle(function: Callable[[float], float], x: Any) -> Any:
    return np.array([function(v) for v in x.astype(np.float64).tolist()])


def exact_gelu(v: float) -> float:
    return 0.0 if v == -math.inf else v * 0.5 * math.erfc(-v / math.sqrt(2))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("case", [(erf, math.erf), (erfc, math.erfc), (gelu, exact_gelu)])
@np.errstate(all="ignore")
def test_every_type_agrees_with_the_mathematics_of_python(
    rng: np.random.Generator, case: tuple[Any, Any], dtype: str
) -> None:
    function, python = case
    x = drawn(rng, dtype)
    found = function(x)
    assert found.dtype == x.dtype
    wanted = oracle(python, x)
    if dtype != "float64":
        assert ulps(found, wanted.astype(found.dtype)).max() <= 1
    elif function is not gelu:
        # erfc of C libraries is itself up to 3 units off.
        assert ulps(found, wanted).max() <= (1 if function is erf else 5)
    else:  # the argument of the oracle is rounded, which grows with its square
        assert (np.abs(found - wanted) <= np.abs(wanted) * (x * x + 8) * 2.0**-52)[:-3].all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@np.errstate(all="ignore")
def test_every_float_of_16_bits_is_the_exact_one_rounded(dtype: str) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(DataType(dtype).numpy)
    for function, python in ((erf, math.erf), (erfc, math.erfc)):
        assert ulps(function(x), oracle(python, x).astype(np.float32).astype(x.dtype)).max() <= 1


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
@np.errstate(all="ignore")
def test_floats_of_8_bits_are_rounded_from_float32(dtype: str) -> None:
    x = np.arange(256, dtype=np.uint8).view(DataType(dtype).numpy)
    for function in (erf, erfc, gelu):
        wanted = function(x.astype(np.float32)).astype(x.dtype)
        np.testing.assert_array_equal(function(x).astype(np.float32), wanted.astype(np.float32))


# ---------------------------------------------------------------- edges


@pytest.mark.parametrize("dtype", TYPES)
@np.errstate(all="ignore")
def test_zeros_infinities_and_nan(dtype: str) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan]).astype(DataType(dtype).numpy)
    assert [str(v) for v in erf(x).tolist()] == ["0.0", "-0.0", "1.0", "-1.0", "nan"]
    assert [str(v) for v in erfc(x).tolist()] == ["1.0", "1.0", "0.0", "2.0", "nan"]
    assert gelu(x)[:4].astype(float).tolist() == [0, 0, np.inf, 0]
    assert np.isnan(gelu(x)[4])


def test_the_tail_of_erfc_goes_down_through_the_subnormal_numbers() -> None:
    x = np.linspace(26.5, 27.2, 4001)
    found = erfc(x)
    assert ulps(found, oracle(math.erfc, x)).max() <= 5
    assert (np.diff(found) <= 0).all()
    assert found[0] > 2.0**-1022 > found[-1] > 0 == erfc(np.array([27.5]))[0]
    narrow = erfc(np.linspace(9, 10.5, 4001, dtype=np.float32))
    assert (np.diff(narrow) <= 0).all()
    assert 0 < narrow[2600] < 2.0**-126
    assert narrow[-1] == 0


def test_the_smallest_numbers_keep_their_ratio() -> None:
    x = np.array([1e-300, -1e-308, 1e-310])
    np.testing.assert_allclose(erf(x), x * (2 / math.sqrt(math.pi)), rtol=1e-13)


def test_any_shape_and_order_is_taken() -> None:
    x = np.linspace(-3, 3, 40_000, dtype=np.float32).reshape(100, 400)
    assert R.erf(x.T).tolist() == R.erf(x).T.tolist()
    assert R.nn.gelu(x[::3, ::-7]).tolist() == R.nn.gelu(x)[::3, ::-7].tolist()
    assert R.erf(np.array(0.5)).shape == ()
    assert R.erf(np.ones((0, 3), np.float32)).shape == (0, 3)
    assert np.shares_memory(x, x.T)
    assert x[0, 0] == -3

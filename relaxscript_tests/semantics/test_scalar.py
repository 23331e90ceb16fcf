from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import FUSED
from relaxscript.semantics import scalar
from relaxscript_tests import examples
from relaxscript_tests.prim_funcs import FLOATS, INTEGERS, interesting


@pytest.fixture(autouse=True)
def as_evaluated():
    """Functions of floats run under this state."""
    with np.errstate(all="ignore"):
        yield


DTYPES = [*map(DataType, [*INTEGERS, *FLOATS])]
INT8 = DataType("int8")


def of(kind, dtype):
    return scalar.binary(kind, DataType(dtype))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
@given(st.floats(width=32), st.floats(width=32))
def test_narrow_floats_are_added_and_divided_as_numpy_does(name, a, b):
    dtype = DataType(name)
    a, b = scalar.rounding(dtype)(a), scalar.rounding(dtype)(b)
    one, other = np.array([a], dtype.numpy), np.array([b], dtype.numpy)
    for kind, expected in [
        (prim.Add, one + other), (prim.Sub, one - other), (prim.Mul, one * other),
        (prim.Div, one / other),
    ]:  # fmt: skip
        ours, theirs = of(kind, name)(a, b), float(expected[0])
        assert ours == theirs or (ours != ours and theirs != theirs)


@pytest.mark.parametrize("dtype", INTEGERS)
@given(st.integers(-(1 << 70), 1 << 70))
def test_integers_wrap_as_numpy_conversions_do(dtype, x):
    bits = DataType(dtype).bits
    wrapped = scalar.wrapping(DataType(dtype))(x)
    assert (wrapped - x) % (1 << bits) == 0
    low, high = scalar.limits(DataType(dtype))
    assert low <= wrapped <= high


@given(st.integers(-128, 127), st.integers(-128, 127))
def test_truncated_division_is_that_of_the_real_quotient(a, b):
    if b == 0:
        with pytest.raises(ZeroDivisionError, match="integer division"):
            of(prim.Div, "int8")(a, b)
        return
    wrap = scalar.wrapping(INT8)
    assert of(prim.Div, "int8")(a, b) == wrap(math.trunc(a / b))
    assert of(prim.Mod, "int8")(a, b) == wrap(int(math.fmod(a, b)))


@given(st.integers(-128, 127), st.integers(-128, 127).filter(bool))
def test_floor_division_is_pythons(a, b):
    assert of(prim.FloorDiv, "int8")(a, b) == scalar.wrapping(INT8)(a // b)
    assert of(prim.FloorMod, "int8")(a, b) == a % b


def test_the_least_integer_divided_by_minus_one_wraps():
    assert of(prim.Div, "int32")(-(2**31), -1) == -(2**31)
    assert of(prim.Mod, "int32")(-(2**31), -1) == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floats_are_divided_down_as_numpy_does(dtype):
    numpy = DataType(dtype).numpy
    for a in interesting(dtype):
        for b in interesting(dtype):
            whole, rest = np.floor_divide(a, b), np.mod(a, b)
            ours = of(prim.FloorDiv, dtype)(float(a), float(b))
            left = of(prim.FloorMod, dtype)(float(a), float(b))
            assert numpy.type(ours) == whole or (ours != ours and whole != whole)
            assert numpy.type(left) == rest or (left != left and rest != rest)


def test_division_of_floats_by_zero_is_infinite():
    divide = of(prim.Div, "float64")
    assert divide(1.0, 0.0) == math.inf
    assert divide(1.0, -0.0) == -math.inf
    assert math.isnan(divide(0.0, 0.0))


def test_extremes_give_nan_and_order_zeros():
    least, most = of(prim.Min, "float32"), of(prim.Max, "float32")
    assert math.isnan(least(math.nan, 1.0))
    assert math.isnan(most(1.0, math.nan))
    assert math.copysign(1, least(0.0, -0.0)) == -1
    assert math.copysign(1, most(-0.0, 0.0)) == 1
    assert (least(1.0, 2.0), most(1.0, 2.0)) == (1.0, 2.0)


def test_truth_values_have_no_difference():
    assert of(prim.Add, "bool")(True, False) is True
    assert of(prim.Mul, "bool")(True, False) is False
    assert of(prim.Sub, "bool") is None
    assert of(prim.Add, "handle") is None


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_conversions_are_numpys_where_those_are_defined(source, target):
    low, high = (0.0, 0.0) if target.is_float else map(float, scalar.limits(target))
    for value in interesting(source):
        expected = np.array(value).astype(target.numpy)[()]
        if source.is_float and not target.is_float and not low < float(value) < high:
            continue
        number = value.item() if source.kind != "bfloat" else float(value)
        converted = scalar.cast(source, target)(number)
        assert target.numpy.type(converted) == expected or converted != converted


def test_conversion_of_floats_to_integers_saturates():
    convert = scalar.cast(DataType("float32"), INT8)
    assert [convert(x) for x in (1e9, -1e9, math.inf, math.nan, 1.9, -1.9)] == [
        127, -128, 127, 0, 1, -1,
    ]  # fmt: skip


def test_a_long_integer_is_rounded_once():
    # Rounding to a double first would give the even neighbour.
    number = (1 << 60) + (1 << 36) + 1
    convert = scalar.cast(DataType("int64"), DataType("float32"))
    assert convert(number) == float(np.float32(np.int64(number))) == float((1 << 60) + (1 << 37))


def test_numbers_become_bools_by_comparison_with_zero():
    convert = scalar.cast(DataType("float32"), DataType("bool"))
    assert [convert(x) for x in (0.0, -0.0, 0.5, math.nan)] == [False, False, True, True]
    assert scalar.cast(DataType("bool"), DataType("int32"))(True) == 1
    assert scalar.cast(DataType("handle"), DataType("int32")) is None


def test_bits_are_reinterpreted():
    assert scalar.reinterpret(DataType("float32"), DataType("int32"))(1.0) == 0x3F800000
    assert scalar.reinterpret(DataType("int16"), DataType("bfloat16"))(0x3F80) == 1.0
    split = scalar.reinterpret(DataType("int32"), DataType("int8x4"))
    assert split(0x04030201) == [1, 2, 3, 4]


def intrinsic(name, dtype):
    return scalar.intrinsic(f"tir.{name}", DataType(dtype))


def test_shifts_by_the_width_or_more_are_definite():
    left, right = intrinsic("shift_left", "int8"), intrinsic("shift_right", "int8")
    assert [left(-3, n) for n in (0, 1, 7, 8, -1)] == [-3, -6, -128, 0, 0]
    assert [right(-3, n) for n in (0, 1, 8, -1)] == [-3, -2, -1, -1]
    assert intrinsic("shift_right", "uint8")(200, 9) == 0


def test_integer_powers_wrap_and_reciprocals_are_truncated():
    power = intrinsic("pow", "int8")
    assert [power(3, n) for n in (0, 1, 4, 5)] == [1, 3, 81, -13]
    assert [power(b, -3) for b in (1, -1, 2, 0)] == [1, -1, 0, 0]


def test_float_powers_are_those_of_c():
    power = intrinsic("pow", "float64")
    assert power(-math.inf, 0.5) == math.inf
    assert power(-0.0, -3.0) == -math.inf
    assert power(0.0, -2.0) == math.inf
    assert power(-10.0, 309.0) == -math.inf
    assert power(10.0, 309.0) == math.inf
    assert math.isnan(power(-8.0, 1 / 3))


def test_bits_are_counted():
    assert intrinsic("popcount", "int8")(-1) == 8
    assert [intrinsic("clz", "int16")(x) for x in (0, 1, -1)] == [16, 15, 0]
    assert intrinsic("bitwise_not", "uint8")(5) == 250
    assert intrinsic("bitwise_not", "bool")(True) is False
    assert intrinsic("bitwise_xor", "int32")(6, 3) == 5


def test_halves_are_rounded_away_from_zero_or_to_even():
    values = (0.5, 1.5, 2.5, -0.5, -2.5, 0.49999999999999994)
    assert [intrinsic("round", "float64")(x) for x in values] == [1, 2, 3, -1, -3, 0]
    assert [intrinsic("nearbyint", "float64")(x) for x in values] == [0, 2, 2, 0, -2, 0]
    assert intrinsic("round", "float64")(math.inf) == math.inf


def test_neighbours_are_those_of_the_data_type():
    after = intrinsic("nextafter", "bfloat16")
    assert after(1.0, 2.0) == 1.0 + 2.0**-7
    assert math.copysign(1, intrinsic("nextafter", "float16")(0.0, -0.0)) == -1


def test_functions_are_rounded_to_the_data_type():
    assert intrinsic("exp", "float32")(1.0) == float(np.float32(math.e))
    assert intrinsic("erf", "float64")(0.5) == math.erf(0.5)
    assert intrinsic("sigmoid", "float64")(0.0) == 0.5
    assert intrinsic("rsqrt", "float32")(4.0) == 0.5
    assert intrinsic("exp10", "float64")(3.0) == 1000.0
    assert intrinsic("ldexp", "float32")(1.5, 4) == 24.0
    assert intrinsic("ldexp", "float32")(1.5, 1 << 40) == math.inf


def test_there_is_no_function_for_other_kinds_of_numbers():
    assert intrinsic("exp", "int32") is None
    assert intrinsic("popcount", "float32") is None
    assert intrinsic("shift_left", "bool") is None
    assert intrinsic("exp", "handle") is None
    assert intrinsic("no_such_thing", "float32") is None


def rounded_once(a, b, c):
    """`a * b + c` of numbers of float32, by way of fractions."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    near = np.float32(float(exact))  # may be rounded twice
    around = [near, *(np.nextafter(near, np.float32(to)) for to in (-np.inf, np.inf))]
    finite = [x for x in around if np.isfinite(x)]
    gap = {x: abs(Fraction(float(x)) - exact) for x in finite}
    least = min(gap.values())
    nearest = [x for x in finite if gap[x] == least]
    return next((x for x in nearest if not int(x.view("uint32")) & 1), nearest[0])


def test_a_product_and_a_sum_of_float32_are_rounded_once(rng):
    fused = scalar.intrinsic(FUSED, DataType("float32"))
    count = examples(20000)
    a, b, c = (rng.normal(size=count).astype("float32") for _ in range(3))
    scales = np.ldexp(np.float32(1), rng.integers(-140, 20, count))
    for x, y, z in zip((a * scales).tolist(), b.tolist(), c.tolist(), strict=True):
        assert fused(x, y, z) == rounded_once(x, y, z), (x, y, z)


def test_a_sum_that_is_a_middle_but_for_what_a_double_cannot_hold_is_no_middle(rng):
    fused = scalar.intrinsic(FUSED, DataType("float32"))
    for i, z in enumerate(rng.uniform(1, 2, examples(5000)).astype("float32").tolist()):
        x, y = 2.0**-12 * (1 + i % 300 * 2.0**-23), 2.0**-12 * (1 - i % 300 * 2.0**-23)
        for sign in (1, -1):
            assert fused(x, sign * y, z) == rounded_once(x, sign * y, z), (x, y, z)


@pytest.mark.parametrize(
    ("a", "b", "c", "wanted"),
    [
        (2.0**100, 2.0**100, -math.inf, -math.inf), (math.inf, 0.0, 1.0, math.nan),
        (math.inf, 1.0, -math.inf, math.nan), (2.0**127, 2.0, -(2.0**127), 2.0**127),
        (2.0**127, 2.0, 0.0, math.inf), (-0.0, 1.0, 0.0, 0.0), (-0.0, 1.0, -0.0, -0.0),
        (1.0, 1.0, -1.0, 0.0), (2.0**-149, 2.0**-149, 0.0, 0.0), (2.0**-149, 0.5, 0.0, 0.0),
        (2.0**-149, 0.5, 2.0**-149, 2.0**-148), (math.nan, 1.0, 1.0, math.nan),
    ],
)  # fmt: skip
def test_fused_products_at_the_limits(a, b, c, wanted):
    found = scalar.intrinsic(FUSED, DataType("float32"))(a, b, c)
    assert repr(found) == repr(wanted)


def test_a_product_and_a_sum_of_float64_are_rounded_once(rng):
    fused = scalar.intrinsic(FUSED, DataType("float64"))
    count = examples(20000)
    a, b, c = rng.normal(size=(3, count))
    c *= 2.0 ** rng.integers(-110, 110, count)
    # Sums that nearly vanish, and products that a sum hardly notices.
    c = np.where(np.arange(count) % 4, c, -a * b)
    for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        assert fused(x, y, z) == float(Fraction(x) * Fraction(y) + Fraction(z)), (x, y, z)


def test_a_double_sum_that_is_a_middle_but_for_a_little_is_no_middle(rng):
    fused = scalar.intrinsic(FUSED, DataType("float64"))
    for i, z in enumerate(rng.uniform(1, 2, examples(5000)).tolist()):
        x, y = (2.0**-27 * (1 + i % 300 * 2.0**-52), 2.0**-26 * (1 - i % 300 * 2.0**-52))
        for sign in (1, -1):
            exact = Fraction(x) * Fraction(sign * y) + Fraction(z)
            assert fused(x, sign * y, z) == float(exact), (x, y, z)


@pytest.mark.parametrize(
    ("a", "b", "c", "wanted"),
    [
        (2.0**600, 2.0**600, -math.inf, -math.inf), (2.0**1023, 2.0, -(2.0**1023), 2.0**1023),
        (0.0, 5.0, -0.0, 0.0), (-0.0, 5.0, -0.0, -0.0), (0.0, -5.0, 0.0, 0.0),
        (3.0, 2.0, -6.0, 0.0), (3.0, -2.0, 0.0, -6.0),
        (2.0**-600, 2.0**-600, 0.0, 0.0), (2.0**-537, 2.0**-537, 1.0, 1.0),
        (math.nan, 1.0, 1.0, math.nan), (0.0, math.inf, 1.0, math.nan),
        (2.0**-200, 2.0**-200, 2.0**-800, 2.0**-400), (1.0, 1.0, 2.0**-1074, 1.0),
    ],
)  # fmt: skip
def test_fused_products_of_float64_at_the_limits(a, b, c, wanted):
    assert repr(scalar.intrinsic(FUSED, DataType("float64"))(a, b, c)) == repr(wanted)

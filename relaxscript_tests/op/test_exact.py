"""Operators give what exact numbers give, for every dtype: nothing here computes with numpy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript import const
from relaxscript.dtypes import DataType
from relaxscript.op import REGISTRY
from relaxscript_tests import examples

from .exact import FLOATS, INTEGERS, binary, draw, limits, rounded, same, spacing, unary, values

NUMBERS = (*FLOATS, *INTEGERS)
ANY = (*NUMBERS, "bool")
BITS = (*INTEGERS, "bool")
MANY = examples(2000)

UNARY = {
    **dict.fromkeys(
        ("abs", "negative", "square", "sign", "ceil", "floor", "trunc", "round"), NUMBERS
    ),
    **dict.fromkeys(("isnan", "isinf", "isfinite"), NUMBERS),
    "sqrt": FLOATS,
    "logical_not": ("bool",),
    "bitwise_not": BITS,
}
BINARY = {
    **dict.fromkeys(("add", "subtract", "multiply"), NUMBERS),
    **dict.fromkeys(("divide", "floor_divide", "mod", "floor_mod"), NUMBERS),
    "power": INTEGERS,
    **dict.fromkeys(("maximum", "minimum", "equal", "not_equal"), ANY),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), ANY),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), ("bool",)),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), BITS),
    **dict.fromkeys(("left_shift", "right_shift"), INTEGERS),
}


def cases(table: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(name, dtype) for name, dtypes in table.items() for dtype in dtypes]


@pytest.mark.parametrize(("name", "dtype"), cases(UNARY))
def test_one_operand(name, dtype, rng):
    x = draw(rng, dtype, MANY)
    expected = unary(name, dtype)
    for operand, found in zip(values(x), values(getattr(R, name)(x)), strict=True):
        assert same(found, expected(operand)), (operand, found, expected(operand))


def second(name: str, dtype: str, x: Any, rng: np.random.Generator) -> Any:
    """Second operands for which the operator says what it gives."""
    y = draw(rng, dtype, x.shape)
    if dtype in INTEGERS and name in ("divide", "floor_divide", "mod", "floor_mod"):
        return np.where(y == 0, 3, y).astype(y.dtype)
    if name in ("left_shift", "right_shift"):
        return (np.abs(y.astype(object)) % DataType(dtype).bits).astype(y.dtype)
    if name == "power":
        return (y.astype(object) % 11 - (3 if dtype[0] == "i" else 0)).astype(y.dtype)
    return y


@pytest.mark.parametrize(("name", "dtype"), cases(BINARY))
def test_two_operands(name, dtype, rng):
    x = draw(rng, dtype, MANY)
    y = second(name, dtype, x, rng)
    expected = binary(name, dtype)
    triples = zip(values(x), values(y), values(getattr(R, name)(x, y)), strict=True)
    for a, b, found in triples:
        wanted = expected(a, b)
        if name == "floor_divide" and dtype in FLOATS and found != wanted and math.isfinite(wanted):
            # Whole numbers that the type hardly has room for are within one of its steps.
            step = spacing(dtype, Fraction(wanted))
            assert step >= (1 if dtype == "float64" else 2), (a, b, found, wanted)
            assert abs(Fraction(found) - Fraction(wanted)) <= step, (a, b, found, wanted)
            continue
        assert same(found, wanted), (a, b, found, wanted)


# ---------------------------------------------------------------- functions of real numbers

# What Python's own functions, in float64, give; within so many places of the operand's dtype.
FUNCTIONS = {
    "acos": math.acos, "acosh": math.acosh, "asin": math.asin, "asinh": math.asinh,
    "atan": math.atan, "atanh": math.atanh, "cos": math.cos, "cosh": math.cosh, "erf": math.erf,
    "exp": math.exp, "log": math.log, "rsqrt": lambda x: 1 / math.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "sin": math.sin, "sinh": math.sinh,
    "tan": math.tan, "tanh": math.tanh,
    "nn.silu": lambda x: x / (1 + math.exp(-x)),
    "nn.gelu": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
    "nn.softplus": lambda x: max(x, 0) + math.log1p(math.exp(-abs(x))),
    "nn.relu": lambda x: max(x, 0.0),
}  # fmt: skip
DOMAINS = {
    "acos": (-1, 1), "acosh": (1, 50), "asin": (-1, 1), "atanh": (-0.99, 0.99), "log": (0.01, 50),
    "nn.gelu": (-1, 20), "rsqrt": (0.01, 50), "cosh": (-9, 9), "sinh": (-9, 9), "exp": (-9, 9),
}  # fmt: skip
PLACES = 4


def operator(name: str) -> Any:
    return REGISTRY[f"relax.{name}"]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_real_numbers(name, dtype, rng):
    low, high = DOMAINS.get(name, (-20, 20))
    x = rng.uniform(low, high, MANY).astype(DataType(dtype).numpy)
    for operand, found in zip(values(x), values(operator(name)(x)), strict=True):
        if not low <= operand <= high:
            continue  # rounding led out of the domain
        number = FUNCTIONS[name](operand)
        expected = rounded(dtype, Fraction(number))
        if not math.isfinite(expected):
            assert same(found, expected), operand
            continue
        bound = PLACES * spacing(dtype, Fraction(number))
        assert abs(Fraction(found) - Fraction(number)) <= bound, (operand, found, number)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["power", "atan2", "log_add_exp"])
def test_functions_of_two_real_numbers(name, dtype, rng):
    element = DataType(dtype).numpy
    function = {
        "power": math.pow,
        "atan2": math.atan2,
        "log_add_exp": lambda x, y: max(x, y) + math.log1p(math.exp(-abs(x - y))),
    }[name]
    x, y = (rng.uniform(0.1, 4, MANY).astype(element) for _ in range(2))
    for a, b, found in zip(values(x), values(y), values(operator(name)(x, y)), strict=True):
        number = Fraction(function(a, b))
        bound = PLACES * spacing(dtype, number)
        assert abs(Fraction(found) - number) <= bound, (a, b, found, float(number))


# ---------------------------------------------------------------- many elements


def error_of(dtype: str, terms: list[Fraction], number: Fraction) -> Fraction:
    """How far what is added up in a wider type, and rounded once, may be from the exact number."""
    wide = "float32" if DataType(dtype).bits <= 16 else "float64"
    size = sum((abs(term) + term**2 for term in terms), Fraction(0))
    return 4 * len(terms) * spacing(wide, size) + spacing(dtype, number)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["sum", "mean", "variance", "cumsum"])
def test_sums_of_floats_are_those_of_exact_numbers_rounded_once(name, dtype, rng):
    for _ in range(examples(100)):
        x = rng.normal(size=rng.integers(1, 30)).astype(DataType(dtype).numpy)
        exact = [Fraction(v) for v in values(x)]
        mean = sum(exact, Fraction(0)) / len(exact)
        expected = {
            "sum": [sum(exact, Fraction(0))],
            "mean": [mean],
            "variance": [sum(((v - mean) ** 2 for v in exact), Fraction(0)) / len(exact)],
            "cumsum": [sum(exact[: i + 1], Fraction(0)) for i in range(len(exact))],
        }[name]
        for found, number in zip(values(getattr(R, name)(x)), expected, strict=True):
            assert abs(Fraction(found) - number) <= error_of(dtype, exact, number), (x, found)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod", "max", "min"])
def test_integers_are_combined_without_the_bits_that_have_no_room(name, dtype, rng):
    low, high = limits(dtype)
    for _ in range(examples(100)):
        x = draw(rng, dtype, int(rng.integers(1, 9)))
        whole = values(x)
        expected = {
            "sum": [sum(whole)],
            "prod": [math.prod(whole)],
            "cumsum": [sum(whole[: i + 1]) for i in range(len(whole))],
            "cumprod": [math.prod(whole[: i + 1]) for i in range(len(whole))],
            "max": [max(whole)],
            "min": [min(whole)],
        }[name]
        inside = [(number - low) % (high - low + 1) + low for number in expected]
        assert values(getattr(R, name)(x)) == inside


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", ["matmul", "einsum", "outer"])
def test_products_of_small_whole_numbers_are_exact_in_every_order(name, dtype, rng):
    element = DataType(dtype).numpy
    most = 2 if dtype.startswith("float8") else 3
    low = 0 if dtype[0] == "u" else -most
    n, k, m = 2, 2 if dtype.startswith("float8") else 5, 4
    for _ in range(examples(50)):
        a = rng.integers(low, most, (n, k), endpoint=True)
        b = rng.integers(low, most, (k, m), endpoint=True)
        x, y = a.astype(element), b.astype(element)
        if name == "outer":
            expected = [[int(p) * int(q) for q in b[0]] for p in a[0]]
            found = R.outer(x[0], y[0])
        else:
            columns = list(zip(*b.tolist()))
            expected = [
                [sum(p * q for p, q in zip(row, column)) for column in columns]
                for row in a.tolist()
            ]
            found = R.matmul(x, y) if name == "matmul" else R.einsum((x, y), "ij,jk->ik")
        assert values(found) == [number for row in expected for number in row]


# ---------------------------------------------------------------- other dtypes


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_floats_become_the_nearest_of_another_type(source, target, rng):
    x = draw(rng, source, MANY)
    for operand, found in zip(values(x), values(R.astype(x, target)), strict=True):
        if math.isfinite(operand):
            expected = rounded(target, Fraction(operand))
        else:
            expected = operand if target != "float8_e4m3fn" else math.nan
        assert same(found, expected), (operand, found, expected)


@pytest.mark.parametrize("source", BITS)
@pytest.mark.parametrize("target", ANY)
def test_integers_become_the_nearest_of_another_type_or_wrap_around(source, target, rng):
    x = draw(rng, source, MANY)
    for operand, found in zip(values(x), values(R.astype(x, target)), strict=True):
        if target == "bool":
            expected: Any = operand != 0
        elif target in INTEGERS:
            low, high = limits(target)
            expected = (operand - low) % (high - low + 1) + low
        else:
            expected = rounded(target, Fraction(operand))
        assert same(found, expected), (operand, found, expected)


@pytest.mark.parametrize("source", ["float32", "float64", "int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("target", FLOATS)
def test_a_number_near_the_middle_of_two_goes_to_the_nearer_one(source, target, rng):
    element = DataType(source).numpy
    drawn, expected = [], []
    while len(drawn) < MANY:
        number = Fraction(rounded(target, Fraction(float(rng.normal()) * 2.0 ** rng.integers(6))))
        middle = number + spacing(target, number) / 2
        if source in INTEGERS:
            room = DataType(source).bits - 9
            whole = int(middle * 2 ** int(rng.integers(room))) + int(rng.integers(-2, 3))
            low, high = limits(source)
            if not low <= whole <= high:
                continue
            x = element.type(whole)
        else:
            x = np.nextafter(element.type(float(middle)), element.type(rng.choice([-9e9, 9e9])))
        drawn.append(x)
        expected.append(rounded(target, Fraction(values(np.array([x]))[0])))
    found = values(R.astype(np.array(drawn, element), target))
    for x, number, nearest in zip(drawn, found, expected, strict=True):
        assert same(number, nearest), (x, number, nearest)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_a_number_of_python_becomes_the_nearest_of_the_type_wherever_it_is_written(dtype):
    step = spacing(dtype, 1)
    number = float(1 + step / 2) + 2.0**-40  # a little more than the middle of two
    nearest = rounded(dtype, Fraction(number))
    one = np.ones(1, DataType(dtype).numpy)
    found = [
        R.multiply(one, number),
        R.clip(one, number, 9),
        R.nn.pad(one, (0, 1), pad_value=number)[1:],
        R.dequantize(np.array([1], "int8"), np.array([number]), np.array(0, "int8"), -1, dtype),
        const([number], dtype).data,
    ]
    assert [values(x) for x in found] == [[nearest]] * len(found)


@pytest.mark.parametrize("target", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("source", ["float16", "float32"])
def test_quantized_numbers_are_the_nearest_multiples_of_the_scale(source, target, rng):
    scale = np.array(0.25, source)  # a power of two: the quotient is exact
    zero = np.array(3, target)
    x = draw(rng, source, MANY)
    low, high = limits(target)
    found = values(R.quantize(x, scale, zero, out_dtype=target))
    for operand, whole in zip(values(x), found, strict=True):
        if operand != operand:
            expected = 0
        elif math.isinf(operand):
            expected = high if operand > 0 else low
        else:
            expected = min(max(round(Fraction(operand) * 4) + 3, low), high)
        assert whole == expected, operand
    back = values(R.dequantize(np.array(found, target), scale, zero, out_dtype="float32"))
    assert back == [float((number - 3) * 0.25) for number in found]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_what_is_held_between_bounds_is_the_nearest_inside_them(dtype, rng):
    x = draw(rng, dtype, MANY)
    for operand, found in zip(values(x), values(R.clip(x, 1, 3)), strict=True):
        assert same(found, operand if operand != operand else min(max(operand, 1), 3))

"""`op.ordering`, and the operators that sort: one order for all dtypes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

import numpy as np
import pytest

from relaxscript.dtypes import DataType
from relaxscript.op.ordering import ordered_like, rank_keys
from relaxscript.script import relax as R
from relaxscript_tests import examples

FLOATS = ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float32", "float64"]
NARROW = [
    "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e4m3fnuz",
    "float8_e5m2fnuz", "float8_e4m3b11fnuz", "float8_e3m4", "float8_e8m0fnu",
]  # fmt: skip
DTYPES = [*FLOATS, "int8", "uint8", "int32", "uint64", "bool"]
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


def exact(element: Any) -> Any:
    """An element as a number that Python compares exactly; NaN is above infinity."""
    number = element.item()
    number = number if isinstance(number, (bool, int)) else float(element)
    if isinstance(number, float) and number != number:
        return (1, 0)
    if number in (float("inf"), float("-inf")):
        return (0, number)
    return (0, Fraction(number))


def draw(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Any:
    """Elements of which several are equal, NaN, infinite or one of the two zeros."""
    if dtype not in FLOATS:
        return rng.integers(0, 2 if dtype == "bool" else 5, shape).astype(dtype)
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -3.0, 2.0]
    return rng.choice(special, shape).astype(DataType(dtype).numpy)


def bits(array: Any) -> list[bytes]:
    return [element.tobytes() for element in array.ravel()]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", NARROW)
def test_keys_order_all_values_of_a_small_float_as_exact_numbers_do(dtype):
    element = DataType(dtype).numpy
    size = element.itemsize * 8
    everything = np.arange(2**size, dtype=f"uint{size}").view(element)
    with np.errstate(all="ignore"):  # signalling NaN are among them
        keys, numbers = rank_keys(everything), [exact(x) for x in everything]
    order = np.argsort(keys, kind="stable")
    for i, j in itertools.pairwise(order):
        assert (numbers[i] < numbers[j]) == (keys[i] < keys[j])
        assert (numbers[i] == numbers[j]) == (keys[i] == keys[j])


@every_dtype
def test_keys_are_equal_where_numbers_are(dtype, rng):
    x = draw(rng, dtype, (200,))
    keys, like = rank_keys(x), ordered_like(x)
    for i, j in rng.integers(0, 200, (examples(5000), 2)):
        assert (exact(x[i]) < exact(x[j])) == (keys[i] < keys[j])
        if like is not x:
            assert (exact(x[i]) < exact(x[j])) == (like[i] < like[j])


@every_dtype
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_orders_exact_numbers_and_leaves_equal_ones_where_they_are(dtype, descending, rng):
    for length in (0, 1, 7, 40):
        x = draw(rng, dtype, (3, length))
        places = R.argsort(x, axis=1, descending=descending)
        for row, found in zip(x, places):
            # `reverse` of Python's sorting keeps equal ones in their order, too.
            expected = sorted(range(length), key=lambda i: exact(row[i]), reverse=descending)
            assert found.tolist() == expected
        assert bits(R.sort(x, axis=1, descending=descending)) == bits(
            np.take_along_axis(x, places.astype("int64"), axis=1)
        )


@every_dtype
@pytest.mark.parametrize("largest", [False, True])
def test_the_first_few_are_the_first_of_all_in_order(dtype, largest, rng):
    x = draw(rng, dtype, (30,))
    values, places = R.topk(x, k=4, largest=largest)
    expected = sorted(range(30), key=lambda i: exact(x[i]), reverse=largest)[:4]
    assert places.tolist() == expected
    assert bits(values) == bits(x[expected])


@every_dtype
@pytest.mark.parametrize("sorted_", [False, True])
def test_distinct_elements_are_found_once_each(dtype, sorted_, rng):
    for length in (0, 1, 25):
        x = draw(rng, dtype, (length,))
        given = R.unique(
            x, sorted=sorted_, return_index=True, return_inverse=True, return_counts=True
        )
        met: dict[Any, list[int]] = {}
        for i in range(length):
            met.setdefault(exact(x[i]), []).append(i)
        expected = sorted(met) if sorted_ else list(met)
        found, first, inverse, counts = given
        assert [exact(e) for e in found] == expected
        assert first.tolist() == [met[e][0] for e in expected]
        assert counts.tolist() == [len(met[e]) for e in expected]
        assert [expected[i] for i in inverse] == [exact(e) for e in x]
        assert bits(found) == bits(x[first])


@every_dtype
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_distinct_slices_are_found_once_each(dtype, axis, rng):
    for shape in [(12, 2), (2, 12), (0, 3), (3, 0), (9, 1, 2)]:
        x = draw(rng, dtype, shape)
        slices = [tuple(map(exact, s.ravel())) for s in np.moveaxis(x, axis, 0)]
        found, first, inverse, counts = R.unique(
            x, axis=axis, return_index=True, return_inverse=True, return_counts=True
        )
        expected = sorted(set(slices))
        rows = [tuple(map(exact, s.ravel())) for s in np.moveaxis(found, axis, 0)]
        assert rows == expected
        assert first.tolist() == [slices.index(e) for e in expected]
        assert counts.tolist() == [slices.count(e) for e in expected]
        assert [expected[i] for i in inverse] == slices


@every_dtype
@pytest.mark.parametrize("right", [False, True])
def test_an_element_belongs_behind_the_boundaries_below_it(dtype, right, rng):
    boundaries = R.sort(draw(rng, dtype, (9,)))
    x = draw(rng, dtype, (4, 5))
    found = R.bucketize(x, boundaries, right=right)
    for element, place in zip(x.ravel(), found.ravel()):
        number = exact(element)
        below = [b for b in boundaries if exact(b) < number or (right and exact(b) == number)]
        assert place == len(below)


@every_dtype
@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min"])
def test_the_extreme_is_the_first_of_its_kind_or_the_first_nan(dtype, name, rng):
    sign = 1 if name.endswith("max") else -1

    def compare(a: Any, b: Any) -> int:
        # NaN comes before all numbers.
        return b[0] - a[0] if a[0] != b[0] else ((a < b) - (a > b)) * sign

    for _ in range(examples(100)):
        x = draw(rng, dtype, (8,)) if rng.integers(2) else draw(rng, "int8", (8,)).astype(dtype)
        numbers = [exact(e) for e in x]
        first = numbers.index(sorted(numbers, key=cmp_to_key(compare))[0])
        found = getattr(R, name)(x)
        assert (found == first) if name.startswith("arg") else exact(found) == numbers[first]

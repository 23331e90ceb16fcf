"""Tensors that follow from a few numbers: `topi.full`, `topi.arange`, `topi.eye`, `topi.trilu`."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi

from .running import computed, normal

FILLED = [
    (lambda: topi.full((2, 3), "float32", 1.5), np.full((2, 3), 1.5, "float32")),
    (lambda: topi.full((), "int8", 300), np.array(44, "int8")),
    (lambda: topi.full((0, 3), "bool", True), np.ones((0, 3), "bool")),
    (lambda: topi.arange(5), np.arange(5, dtype="float32")),
    (lambda: topi.arange(2, 9, 3, "int64"), np.arange(2, 9, 3)),
    (lambda: topi.arange(9, 2, -3, "int8"), np.arange(9, 2, -3, dtype="int8")),
    (lambda: topi.arange(3, 0), np.zeros(0, "float32")),
    (lambda: topi.eye(3), np.eye(3, dtype="float32")),
    (lambda: topi.eye(2, 3, 1, "int32"), np.eye(2, 3, 1, dtype="int32")),
    (lambda: topi.eye(3, 2, -1, "bool"), np.eye(3, 2, -1, dtype="bool")),
]


@pytest.mark.parametrize(("make", "expected"), FILLED)
def test_a_tensor_of_numbers_is_that_of_numpy(make, expected):
    found = computed(make(), {})
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("k", [-2, 0, 1])
@pytest.mark.parametrize("upper", [True, False])
def test_triangles_are_those_of_numpy(k, upper, rng):
    x, t = normal(rng, 2, 3, 4), te.placeholder((2, 3, 4), name="x")
    meaning = np.triu if upper else np.tril
    np.testing.assert_array_equal(computed(topi.trilu(t, k, upper), {t: x}), meaning(x, k))


def test_a_tensor_like_another_has_its_shape_and_dtype(rng):
    x, t = normal(rng, 2, 3), te.placeholder((2, 3), name="x")
    found = computed(topi.full_like(t, 7), {t: x})
    np.testing.assert_array_equal(found, np.full_like(x, 7))


def test_a_range_may_end_at_a_variable(rng):
    n = te.var("n", "int64")
    x, t = normal(rng, 7), te.placeholder((n,), name="x")
    found = computed(topi.add(t[0], topi.arange(0, n, 2)), {t: x})
    np.testing.assert_array_equal(found, x[0] + np.arange(0, 7, 2, dtype="float32"))


def test_the_length_of_a_range_of_numbers_is_a_number():
    assert [int(size) for size in topi.arange(1, 10, 4, "int32").shape] == [3]

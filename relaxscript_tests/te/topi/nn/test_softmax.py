"""The softmax and its logarithm."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript_tests.te.topi.running import computed, normal


@pytest.mark.parametrize("axis", [0, -1])
def test_shares_of_long_axes_are_as_near_as_of_short_ones(
    axis: int, rng: np.random.Generator
) -> None:
    shape = (3000, 2) if axis == 0 else (2, 3000)
    a, x = te.placeholder(shape, name="a"), normal(rng, *shape)
    powers = np.exp(x.astype("float64") - x.max(axis, keepdims=True))
    wanted = powers / powers.sum(axis, keepdims=True)
    np.testing.assert_allclose(computed(topi.nn.softmax(a, axis), {a: x}, "llvm"), wanted, 1e-6)
    found = computed(topi.nn.log_softmax(a, axis), {a: x}, "llvm")
    np.testing.assert_allclose(found, np.log(wanted), 1e-6)


def test_large_and_small_values_do_not_overflow() -> None:
    a = te.placeholder((3,), name="a")
    x = np.array([1000, 0, -1000], "float32")
    assert computed(topi.nn.softmax(a), {a: x}).tolist() == [1, 0, 0]
    assert computed(topi.nn.log_softmax(a), {a: x}).tolist() == [0, -1000, -2000]


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_the_fast_softmax_is_within_its_bound(axis, dtype, rng):
    x = (rng.standard_normal((4, 19)) * 10).astype(dtype)
    a = te.placeholder(x.shape, dtype, "a")
    wide = np.exp(x.astype("float64") - x.max(axis, keepdims=True).astype("float64"))
    wanted = wide / wide.sum(axis, keepdims=True)
    rounding = {"float16": 2.0**-11, "float32": 0.0, "float64": 0.0}[dtype]
    for target in ("reference", "llvm"):
        found = computed(topi.nn.fast_softmax(a, axis), {a: x}, target).astype("float64")
        assert (np.abs(found - wanted) <= (1e-6 + rounding) * wanted + 2.0**-25).all()


def test_the_fast_softmax_gives_shares_of_very_different_numbers():
    x = np.float32([1000, 0, -1000])
    a = te.placeholder((3,), "float32", "a")
    assert computed(topi.nn.fast_softmax(a), {a: x}, "llvm").tolist() == [1, 0, 0]

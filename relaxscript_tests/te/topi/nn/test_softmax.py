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

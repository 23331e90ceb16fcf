"""Functions to fewer digits stay within what they say, and say what they give at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript_tests import examples
from relaxscript_tests.te.topi.running import computed

TARGETS = ("reference", "llvm")
# The range in which a bound holds, and the bound as a part of the number.
EXACT = {
    "exp": (np.exp, (-87.3, 88.36), 4e-7),
    "erf": (np.vectorize(math.erf, otypes=["float64"]), (-12.0, 12.0), 8e-7),
    "tanh": (np.tanh, (-30.0, 30.0), 8e-7),
}


def fast(name: str, values: np.ndarray, target: str = "llvm") -> np.ndarray:
    a = te.placeholder(values.shape, values.dtype.name, "a")
    found: np.ndarray = computed(getattr(topi, f"fast_{name}")(a), {a: values}, target)
    return found


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("target", TARGETS)
def test_each_is_within_its_bound_over_the_range(name, target, rng):
    exact, (low, high), bound = EXACT[name]
    count = examples(200_000 if target == "llvm" else 20_000)
    spread = rng.uniform(low, high, count)
    # As many numbers of each size, down to the denormal ones.
    small = rng.choice([-1, 1], count) * 2.0 ** rng.uniform(-126, 0, count)
    for values in (spread.astype("float32"), small.astype("float32")):
        wanted = exact(values.astype("float64"))
        off = np.abs(fast(name, values, target) - wanted)
        assert (off <= bound * np.abs(wanted)).all()


@pytest.mark.parametrize("target", TARGETS)
def test_special_values_of_exp(target):
    values = np.float32([np.inf, -np.inf, 0, -0.0, 88.38, 1e9, -87.7, -1e9, 1e-40])
    wanted = np.float32([np.inf, 0, 1, 1, np.inf, np.inf, 0, 0, 1])
    np.testing.assert_array_equal(fast("exp", values, target), wanted)


@pytest.mark.parametrize("name", ["erf", "tanh"])
@pytest.mark.parametrize("target", TARGETS)
def test_infinities_are_near_one_and_zeros_keep_their_sign(name, target):
    found = fast(name, np.float32([np.inf, -np.inf, 0, -0.0]), target)
    np.testing.assert_allclose(found, [1, -1, 0, 0], rtol=8e-7)
    assert np.signbit(found).tolist() == [False, True, False, True]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("target", TARGETS)
def test_nan_stays_nan(name, target):
    assert np.isnan(fast(name, np.float32([np.nan, -np.nan]), target)).all()


@pytest.mark.parametrize("name", ["erf", "tanh"])
def test_what_is_bounded_is_at_most_a_little_above_one(name):
    values = np.linspace(-20, 20, 400_001, dtype="float32")
    assert np.abs(fast(name, values)).max() <= 1 + 3e-7


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("target", TARGETS)
def test_float16_is_rounded_once(name, target):
    values = np.arange(1 << 16, dtype="uint16").view("float16")
    values = values[np.abs(values) <= 10][:: 97 if target == "reference" else 1]
    exact, _, bound = EXACT[name]
    with np.errstate(under="ignore"):
        wanted = exact(values.astype("float64"))
    off = np.abs(fast(name, values, target).astype("float64") - wanted)
    # Half a unit in the last place, of denormal numbers too.
    assert (off <= (2.0**-11 + bound) * np.abs(wanted) + 2.0**-25).all()


@pytest.mark.parametrize("name", EXACT)
def test_float64_has_all_digits(name):
    values = np.linspace(-5, 5, 1001)
    exact, _, _ = EXACT[name]
    np.testing.assert_allclose(fast(name, values), exact(values), rtol=1e-14)

"""What the reductions compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.op import Operator

from .inference import refused, tensor

X = np.array([[1, 2, 4], [3, -5, 9]], np.float32)


@pytest.mark.parametrize(
    ("operator", "function"),
    [
        (R.sum, np.sum),
        (R.prod, np.prod),
        (R.max, np.max),
        (R.min, np.min),
        (R.mean, np.mean),
        (R.variance, np.var),
        (R.std, np.std),
    ],
)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_are_those_of_numpy(
    operator: Operator, function: Any, axis: Any, keepdims: bool
) -> None:
    found = operator(X, axis, keepdims)
    assert found.dtype == np.float32
    wanted = function(X.astype(np.float64), axis=axis, keepdims=keepdims)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_sums_of_integers_wrap_around() -> None:
    assert R.sum(np.array([100, 100], np.int8)).tolist() == -56
    assert R.prod(np.array([16, 16, 3], np.uint8)).tolist() == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_many_small_numbers_are_added_up_in_a_wider_type(dtype: str) -> None:
    x = np.full(100_000, 0.5, DataType(dtype).numpy)
    assert R.mean(x).astype(np.float64) == 0.5
    assert R.sum(x[:20_000]).astype(np.float64) == pytest.approx(10_000, rel=0.01)
    assert R.variance(x).astype(np.float64) == 0


def test_the_sum_of_floats_is_rounded_once() -> None:
    x = np.array([1e8, 1, -1e8], np.float32)
    assert R.sum(x).tolist() == 1


def test_nothing_has_neutral_results() -> None:
    empty = np.zeros((0, 2), np.float32)
    assert R.sum(empty, 0).tolist() == [0, 0]
    assert R.prod(empty, 0).tolist() == [1, 1]
    assert R.max(empty, 0).tolist() == [-np.inf, -np.inf]
    assert R.min(empty, 0, True).tolist() == [[np.inf, np.inf]]
    assert np.isnan(R.mean(empty, 0)).all()
    assert np.isnan(R.variance(empty, 0)).all()


@pytest.mark.parametrize(
    ("dtype", "least", "greatest"),
    [("int8", -128, 127), ("uint8", 0, 255), ("bool", False, True), ("float8_e4m3fn", -448, 448)],
)
def test_the_extremes_of_nothing_are_those_of_the_data_type(
    dtype: str, least: Any, greatest: Any
) -> None:
    empty = np.zeros(0, DataType(dtype).numpy)
    assert R.max(empty).astype(object) == least
    assert R.min(empty).astype(object) == greatest


def test_nan_is_the_largest_and_the_smallest() -> None:
    x = np.array([1.0, np.nan])
    assert np.isnan(R.max(x))
    assert np.isnan(R.min(x))


def test_the_mean_of_integers_is_refused() -> None:
    error = refused(R.mean, tensor(2, dtype="int32"))
    assert error.help == 'it takes floating-point numbers: write `R.astype(x, "float32")`'
    assert refused(R.sum, tensor(2, dtype="bool")).code == "RX0202"

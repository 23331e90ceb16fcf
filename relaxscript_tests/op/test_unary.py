"""What the operators on one tensor compute."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.op import Operator

from .inference import prim_var, refused, result, tensor

PYTHON: list[tuple[Operator, Any, list[float]]] = [
    (R.acos, math.acos, [-1, 0, 0.3]),
    (R.acosh, math.acosh, [1, 2.5]),
    (R.asin, math.asin, [-1, 0, 0.3]),
    (R.asinh, math.asinh, [-1, 0, 20]),
    (R.atan, math.atan, [-1, 0, 20]),
    (R.atanh, math.atanh, [-0.5, 0.9]),
    (R.ceil, math.ceil, [-1.5, 1.2]),
    (R.cos, math.cos, [-1, 0, 9]),
    (R.cosh, math.cosh, [-1, 3]),
    (R.erf, math.erf, [-3, -0.1, 0, 0.5, 5]),
    (R.exp, math.exp, [-5, 0, 5]),
    (R.floor, math.floor, [-1.5, 1.2]),
    (R.log, math.log, [0.1, 5]),
    (R.round, round, [-1.5, 0.5, 1.5, 2.5, 2.6]),
    (R.sigmoid, lambda v: 1 / (1 + math.exp(-v)), [-5, 0, 5]),
    (R.sin, math.sin, [-1, 0, 9]),
    (R.sinh, math.sinh, [-1, 3]),
    (R.sqrt, math.sqrt, [0, 2]),
    (R.rsqrt, lambda v: 1 / math.sqrt(v), [0.5, 2]),
    (R.tan, math.tan, [-1, 1]),
    (R.tanh, math.tanh, [-1, 1]),
    (R.square, lambda v: v * v, [-3, 2]),
    (R.abs, abs, [-3, 2]),
    (R.negative, lambda v: -v, [-3, 2]),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("operator", "function", "values"), PYTHON, ids=lambda v: repr(v)[:20])
def test_floats_are_computed_to_their_own_precision(
    operator: Operator, function: Any, values: list[float], dtype: str
) -> None:
    from relaxscript.dtypes import DataType

    x = np.array(values).astype(DataType(dtype).numpy)
    digits = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}[dtype]
    wanted = [function(float(v)) for v in x]
    found = operator(x)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=4 * 2.0**-digits, atol=0)


@pytest.mark.parametrize(
    ("operator", "values", "wanted"),
    [
        (R.abs, [-128, -3, 3], [-128, 3, 3]),
        (R.negative, [-128, 3], [-128, -3]),
        (R.square, [16, -3], [0, 9]),
        (R.sign, [-5, 0, 5], [-1, 0, 1]),
        (R.floor, [-5, 5], [-5, 5]),
        (R.ceil, [-5, 5], [-5, 5]),
        (R.round, [-5, 5], [-5, 5]),
        (R.bitwise_not, [0, 5], [-1, -6]),
    ],
)
def test_integers(operator: Operator, values: list[int], wanted: list[int]) -> None:
    found = operator(np.array(values, np.int8))
    assert found.dtype == np.int8
    assert found.tolist() == wanted


def test_the_sign_of_nan_is_nan() -> None:
    assert np.isnan(R.sign(np.array(np.nan)))


def test_bools_are_inverted() -> None:
    assert R.logical_not(np.array([True, False])).tolist() == [False, True]
    assert R.bitwise_not(np.array([True, False])).tolist() == [False, True]


def test_what_is_not_defined_is_nan_without_a_warning() -> None:
    assert np.isnan(R.log(np.array(-1.0)))
    assert np.isnan(R.sqrt(np.array(-1.0)))
    assert np.isneginf(R.log(np.array(0.0)))
    assert np.isinf(R.exp(np.array(1000.0)))


def test_the_sigmoid_of_large_numbers_does_not_overflow() -> None:
    assert R.sigmoid(np.array([-1e4, 1e4], np.float32)).tolist() == [0, 1]


def test_checks_of_floats_and_integers() -> None:
    x = np.array([1.0, np.inf, np.nan])
    assert R.isfinite(x).tolist() == [True, False, False]
    assert R.isinf(x).tolist() == [False, True, False]
    assert R.isnan(x).tolist() == [False, False, True]
    assert R.isnan(np.array([1])).tolist() == [False]


def test_clip_holds_elements_between_prim_values() -> None:
    assert R.clip(np.array([-5, 0, 5], np.int8), -1, 2).tolist() == [-1, 0, 2]
    found = R.clip(np.array([np.nan, 7.0], np.float32), 0.0, 2.0)
    assert found.dtype == np.float32
    assert np.isnan(found[0])
    assert found[1] == 2


def test_the_bounds_of_clip_are_prim_values() -> None:
    assert result(R.clip, tensor("n"), prim_var("float32"), 2) == "(n,) float32"
    error = refused(R.clip, tensor("n"), tensor(), 1)
    assert (error.operand, error.fact) == ("min", "is a tensor, not a scalar")
    error = refused(R.clip, tensor("n"), 0, tensor())
    assert error.operand == "max"

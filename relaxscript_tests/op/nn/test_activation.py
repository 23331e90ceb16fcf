"""Activation functions: values, precision, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript_tests.op.inference import infer, ranked, refused, result, tensor

nn = R.nn


def normal(v: float) -> float:
    return 0.5 * math.erfc(-v / math.sqrt(2))


FUNCTIONS: list[tuple[Any, Any]] = [
    (nn.relu, lambda v: max(v, 0.0)),
    (nn.gelu, lambda v: v * normal(v)),
    (nn.silu, lambda v: v / (1 + math.exp(-v))),
    (nn.leakyrelu, lambda v: v if v > 0 else 0.01 * v),
    (nn.softplus, lambda v: math.log1p(math.exp(v))),
    (
        nn.gelu_tanh,
        lambda v: 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
    ),
    (
        nn.selu,
        lambda v: 1.0507009873554805 * (v if v > 0 else 1.6732632423543772 * math.expm1(v)),
    ),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("operator", "function"), FUNCTIONS, ids=lambda v: repr(v)[:14])
def test_elements_are_computed_to_their_own_precision(
    operator: Any, function: Any, dtype: str
) -> None:
    x = np.array([-2.5, -1, 0, 0.5, 3]).astype(DataType(dtype).numpy)
    digits = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}[dtype]
    found = operator(x)
    assert found.dtype == x.dtype
    wanted = [function(float(v)) for v in x]
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=16 * 2.0**-digits, atol=0)


def test_gelu_keeps_its_precision_far_below_zero() -> None:
    x = np.array([-10.0, -np.inf, np.inf])
    found = nn.gelu(x)
    np.testing.assert_allclose(found[0], -10 * normal(-10), rtol=1e-14)
    assert found[1:].tolist() == [0, np.inf]


def test_infinities() -> None:
    x = np.array([-np.inf, np.inf], np.float32)
    assert nn.silu(x).tolist() == [0, np.inf]
    assert nn.relu(x).tolist() == [0, np.inf]
    assert nn.softplus(x).tolist() == [0, np.inf]


def test_relu_of_integers_and_nan() -> None:
    assert nn.relu(np.array([-3, 3], np.int8)).tolist() == [0, 3]
    assert np.isnan(nn.relu(np.array(np.nan)))
    assert refused(nn.relu, tensor(2, dtype="bool")).operand == "data"


def test_the_options_of_softplus_and_leakyrelu() -> None:
    x = np.array([-1.0, 3.0])
    np.testing.assert_allclose(nn.leakyrelu(x, 0.5), [-0.5, 3])
    np.testing.assert_allclose(nn.softplus(x, 2.0), np.log1p(np.exp(2 * x)) / 2)
    assert nn.softplus(x, 1.0, 2.0).tolist()[1] == 3


# ---------------------------------------------------------------- softmax


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax_sums_to_1(axis: int) -> None:
    x = np.array([[1, 2, 3], [1e4, -1e4, 0]], np.float32)
    found = nn.softmax(x, axis)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.sum(axis), 1, rtol=1e-6)
    wanted = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    np.testing.assert_allclose(found, wanted / wanted.sum(axis, keepdims=True), rtol=1e-6)


def test_log_softmax_keeps_small_values() -> None:
    found = nn.log_softmax(np.array([0.0, 1000.0], np.float32))
    assert found.tolist() == [-1000, 0]


def test_softmax_of_narrow_floats_is_rounded_once() -> None:
    x = np.zeros((1, 4096), np.float16)
    assert nn.softmax(x).tolist()[0][0] == 1 / 4096


def test_softmax_needs_floats_and_an_axis() -> None:
    assert refused(nn.softmax, tensor(2, dtype="int32")).help == (
        'it takes floating-point numbers: write `R.astype(data, "float32")`'
    )
    assert refused(nn.log_softmax, tensor(), -1).operand == "axis"
    assert result(nn.softmax, ranked(-1), 7) == "rank -1 float32"
    x = tensor("n", 3)
    assert infer(nn.log_softmax, x, 0) is x.struct_info


# ---------------------------------------------------------------- large tensors


@pytest.mark.parametrize("operator", [o for o, _ in FUNCTIONS] + [R.sigmoid], ids=repr)
def test_a_large_tensor_is_computed_as_its_parts_are(
    operator: Any, rng: np.random.Generator
) -> None:
    x = rng.normal(size=(3, 7, 5000)).astype("float32")
    whole = operator(x)
    parts = np.stack([[operator(row) for row in block] for block in x])
    np.testing.assert_allclose(whole, parts, rtol=2.0**-22)
    np.testing.assert_allclose(operator(x.T), whole.T, rtol=2.0**-22)


@pytest.mark.parametrize("operator", [nn.softmax, nn.log_softmax], ids=repr)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_large_softmax_is_computed_as_its_parts_are(
    operator: Any, axis: int, rng: np.random.Generator
) -> None:
    x = rng.normal(size=(40, 30, 50)).astype("float32")
    whole = operator(x, axis)
    rows, found = np.moveaxis(x, axis, -1), np.moveaxis(whole, axis, -1)
    wanted = operator(np.ascontiguousarray(rows[:2]))
    np.testing.assert_allclose(found[:2], wanted, rtol=1e-6)
    assert not np.isnan(whole).any()

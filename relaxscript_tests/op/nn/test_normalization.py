"""Normalizations: values and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.ir.module import VDevice
from relaxscript_tests.op.inference import infer, obliged, ranked, refused, result, tensor

nn = R.nn
X = np.array([[1, 2, 4], [3, -5, 9]], np.float32)


def normalized(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> np.ndarray:  # type: ignore[type-arg]
    wide = x.astype(np.float64)
    mean, variance = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    return (wide - mean) / np.sqrt(variance + epsilon)


def test_layer_norm() -> None:
    gamma, beta = np.array([1, 2, 3], np.float32), np.array([5, 6, 7], np.float32)
    plain = normalized(X, (1,), 0.5)
    found = nn.layer_norm(X, gamma, beta, axes=-1, epsilon=0.5)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, plain * gamma + beta, rtol=1e-6)
    np.testing.assert_allclose(
        nn.layer_norm(X, gamma, beta, -1, 0.5, scale=False), plain + beta, 1e-6
    )
    np.testing.assert_allclose(
        nn.layer_norm(X, gamma, beta, -1, 0.5, center=False), plain * gamma, 1e-6
    )


def test_statistics_of_nothing_are_nothing_to_warn_of() -> None:
    x, none = np.zeros((3, 0), np.float32), np.zeros(0, np.float32)
    assert nn.layer_norm(x, none, none, axes=-1).shape == (3, 0)
    assert nn.rms_norm(x, none, axes=-1).shape == (3, 0)


def test_parameters_follow_the_order_of_the_axes() -> None:
    x = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    gamma = np.arange(8, dtype=np.float64).reshape(4, 2)
    zero = np.zeros((4, 2))
    found = nn.layer_norm(x, gamma, zero, axes=[2, 0])
    np.testing.assert_allclose(found, normalized(x, (0, 2), 1e-5) * gamma.T[:, None, :])


def test_rms_norm() -> None:
    weight = np.array([1, 2, 3], np.float32)
    wide = X.astype(np.float64)
    wanted = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5) * weight
    np.testing.assert_allclose(nn.rms_norm(X, weight), wanted, rtol=1e-6)


def test_statistics_of_narrow_floats_are_computed_in_a_wider_type() -> None:
    x = np.full((1, 4096), 300, np.float16)
    x[0, 0] = 299
    one, zero = np.ones(4096, np.float16), np.zeros(4096, np.float16)
    found = nn.layer_norm(x, one, zero, -1)
    np.testing.assert_allclose(found, normalized(x, (1,), 1e-5), rtol=2e-3)


def test_the_result_is_like_the_data() -> None:
    x = tensor("n", 3)
    assert infer(nn.layer_norm, x, tensor(3), tensor(3), -1) is x.struct_info
    assert result(nn.layer_norm, ranked(2), tensor(3), tensor(3), [1]) == "rank 2 float32"
    there = tensor(3, vdevice=VDevice("llvm", 1))
    found = infer(nn.rms_norm, x, there)
    assert str(found.vdevice) == "llvm:1:global"  # type: ignore[attr-defined]
    assert result(nn.rms_norm, x, tensor(3, dtype="void")) == "(n, 3) void"


def test_parameters_have_the_dimensions_of_the_axes() -> None:
    error = refused(nn.layer_norm, tensor("n", 3), tensor(3), tensor(4), -1)
    assert error.facts == {
        "beta": "has 4 elements along axis 0",
        "data": "has 3 elements along the normalized axis 0",
    }
    error = refused(nn.layer_norm, tensor(2, 3), tensor(2, 3), tensor(3), -1)
    assert error.facts == {"gamma": "has shape (2, 3)", "axes": "names 1 of the axes of `data`"}
    assert error.help == "`gamma` has one dimension for each of `axes`"
    assert obliged(nn.rms_norm, tensor(2, "n"), tensor("m")) == ["weight: n equal m"]


@pytest.mark.parametrize(("axes", "operand"), [([2], "axes"), ([0, 0], "axes")])
def test_axes_that_there_are_not(axes: list[int], operand: str) -> None:
    assert refused(nn.layer_norm, tensor(2, 3), tensor(3), tensor(3), axes).operand == operand


def test_data_types() -> None:
    assert refused(nn.rms_norm, tensor(2, 3), tensor(3, dtype="float16")).operand == "weight"
    ints = [tensor(2, 3, dtype="int8"), tensor(3, dtype="int8")]
    assert refused(nn.rms_norm, *ints).fact == "has dtype int8"

"""Gradients of losses, poolings and lookups: those of finite differences, and where they go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import obliged, ranked, refused, result, tensor


def numerical(function: Callable[[Any], Any], x: Any, grad: Any) -> Any:
    """The gradient of the sum of `grad` times a function by central differences."""
    found, step = np.empty_like(x), 1e-6
    for place in np.ndindex(x.shape):
        high, low = x.copy(), x.copy()
        high[place] += step
        low[place] -= step
        found[place] = ((function(high) - function(low)) * grad).sum() / (2 * step)
    return found


def assert_gradient(forward: Any, backward: Any, x: Any, others: Any, settings: Any, rng: Any):
    """The operator's gradient of one random direction is that of finite differences."""

    def function(value: Any) -> Any:
        return forward(value, *others, **settings)

    grad = rng.standard_normal(function(x).shape)
    found = backward(np.asarray(grad), x, *others, **settings)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, numerical(function, x, grad), rtol=1e-6, atol=1e-7)


WINDOWS: list[dict[str, Any]] = [
    {"pool_size": 2},
    {"pool_size": [2, 3], "strides": 2, "padding": [0, 1, 1, 1]},
    {"pool_size": 3, "strides": 1, "padding": 1, "dilation": 2},
    {"pool_size": 2, "strides": 2, "ceil_mode": True},
    {"pool_size": 3, "strides": [3, 2], "padding": 1, "count_include_pad": True},
    {"pool_size": 2, "strides": 2, "layout": "NHWC", "out_layout": "NCHW"},
]


@pytest.mark.parametrize("settings", WINDOWS, ids=str)
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_gradients_of_poolings(kind: str, settings: Any, rng: np.random.Generator) -> None:
    forward = getattr(R.nn, f"{kind}_pool2d")
    backward = getattr(R.grad, f"{kind}_pool2d_backward")
    x = rng.permutation(2 * 3 * 6 * 7).reshape(2, 6, 7, 3).astype("float64")
    if settings.get("layout") != "NHWC":
        x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    assert_gradient(forward, backward, x, (), settings, rng)


def test_of_several_largest_the_first_gets_the_gradient() -> None:
    x = np.array([[1, 2, 2], [2, 1, 2]], "float32").reshape(1, 1, 2, 3)
    grad = np.array([[[[3, 5]]]], "float32")
    found = R.grad.max_pool2d_backward(grad, x, 2)
    assert found[0, 0].tolist() == [[0, 8, 0], [0, 0, 0]]
    x[0, 0, 1, 1] = np.nan
    assert R.grad.max_pool2d_backward(grad, x, 2)[0, 0].tolist() == [[0, 0, 0], [0, 8, 0]]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_losses(reduction: str, weighted: bool, rng: np.random.Generator) -> None:
    targets = np.array([[0, 2, 1], [2, -1, 2]])
    weights = (rng.uniform(0.5, 2, 3),) if weighted else (None,)
    settings = {"reduction": reduction, "ignore_index": -1}
    x = rng.standard_normal((2, 3, 3))
    assert_gradient(
        R.nn.nll_loss, R.grad.nll_loss_backward, x, (targets, *weights), settings, rng
    )  # fmt: skip
    row = (np.array(1), *weights)
    assert_gradient(
        R.nn.nll_loss, R.grad.nll_loss_backward, x[0, 0], row, settings, rng
    )  # fmt: skip


def test_gradients_of_lookups(rng: np.random.Generator) -> None:
    x = rng.standard_normal((4, 3, 2))
    for axis, indices in ((0, [3, 0, 3]), (1, [[2], [0]]), (-1, 1)):
        others = (np.array(indices),)
        assert_gradient(R.take, R.grad.take_backward, x, others, {"axis": axis}, rng)
    assert_gradient(R.take, R.grad.take_backward, x[:, 0, 0], (np.array([1, 1, 0]),), {}, rng)


def test_what_is_not_there_has_no_gradient() -> None:
    with pytest.raises(IndexError, match="a target is not among the 3 classes"):
        R.grad.nll_loss_backward(np.array(1.0), np.zeros((2, 3)), np.array([0, 3]))
    with pytest.raises(IndexError, match="an index is not among the 2 along axis 0"):
        R.grad.take_backward(np.zeros((1, 3)), np.zeros((2, 3)), np.array([-1]), 0)


def test_a_gradient_has_the_shape_of_the_operand() -> None:
    x, grad = tensor("n", 3, 8, 8), tensor("n", 3, 4, 4)
    for backward in (R.grad.max_pool2d_backward, R.grad.avg_pool2d_backward):
        assert result(backward, grad, x, 2, 2) == "(n, 3, 8, 8) float32"
        assert result(backward, ranked(-1), x, 2, 2) == "(n, 3, 8, 8) float32"
        assert refused(backward, tensor("n", 3, 5, 4), x, 2, 2).operand == "output_grad"
        assert refused(backward, tensor("n", 3, 4), x, 2, 2).fact == "has shape (n, 3, 4)"
        assert refused(backward, grad, x, 0).operand == "pool_size"
        assert obliged(backward, tensor("m", 3, 4, 4), x, 2, 2) == ["output_grad: n equal m"]
        small = tensor("n", 3, 8, 8, dtype="int8")
        assert refused(backward, tensor("n", 3, 4, 4, dtype="int8"), small, 2, 2).code == "RX0202"
    loss = R.grad.nll_loss_backward
    targets = tensor("n", dtype="int64")
    assert result(loss, tensor(), tensor("n", 10), targets) == "(n, 10) float32"
    assert result(loss, tensor("n"), tensor("n", 10), targets, None, "none") == "(n, 10) float32"
    assert refused(loss, tensor("n"), tensor("n", 10), targets).fact == "has shape (n,)"
    assert refused(loss, tensor(), tensor("n", 10), targets, None, "all").fact == "is 'all'"
    assert refused(loss, tensor(dtype="float64"), tensor("n", 10), targets).code == "RX0202"
    lookup = R.grad.take_backward
    places = tensor("m", dtype="int64")
    assert result(lookup, tensor("m", 4), tensor("n", 4), places, 0) == "(n, 4) float32"
    assert refused(lookup, tensor("m", 5), tensor("n", 4), places, 0).operand == "output_grad"

"""Models that are exported run on every executor, and what fails names the line of their author."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import RelaxWarning
from relaxscript.ir import assert_structural_equal
from relaxscript.relax.frontend import nn
from relaxscript.script import from_source, relax as R
from relaxscript_tests.end_to_end.executors import every_executor, failure
from relaxscript_tests.frontend.nn.models import random_weights


class Conv(nn.Module):
    """A convolution over parameters of its own, by operators of Relax."""

    def __init__(self, channels: int, filters: int, size: int) -> None:
        self.weight = nn.Parameter((filters, channels, size, size))
        self.bias = nn.Parameter((1, filters, 1, 1))

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return nn.wrap_nested(R.nn.conv2d(x._expr, self.weight._expr), "conv2d") + self.bias


class LeNet(nn.Module):
    """The network of LeCun for 28 x 28 images."""

    def __init__(self) -> None:
        self.conv1 = Conv(1, 6, 5)
        self.conv2 = Conv(6, 16, 5)
        self.fc1 = nn.Linear(256, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        for conv in (self.conv1, self.conv2):
            x = nn.op.relu(conv(x))
            x = nn.wrap_nested(R.nn.max_pool2d(x._expr, (2, 2), strides=(2, 2)), "pool")
        x = x.reshape(x.shape[0], 256)
        return self.fc3(nn.op.relu(self.fc2(nn.op.relu(self.fc1(x)))))


def convolved(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,fcij->nfhw", windows, weight) + bias


def pooled(x: np.ndarray) -> np.ndarray:
    n, c, h, w = x.shape
    return np.maximum(x, 0).reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))


def lenet(x: np.ndarray, w: dict[str, np.ndarray]) -> np.ndarray:
    """What the network computes, by numpy."""
    for name in ("conv1", "conv2"):
        x = pooled(convolved(x, w[f"{name}.weight"], w[f"{name}.bias"]))
    x = x.reshape(len(x), 256)
    for name in ("fc1", "fc2", "fc3"):
        x = x @ w[f"{name}.weight"].T + w[f"{name}.bias"]
        x = x if name == "fc3" else np.maximum(x, 0)
    return x


@every_executor
def test_lenet_computes_what_numpy_does(load: Callable[[Any], Any]):
    model = LeNet()
    mod, params = model.export_tvm({"forward": {"x": nn.spec.Tensor(("n", 1, 28, 28), "float32")}})
    assert_structural_equal(from_source(mod.script(show_meta=True)), mod)
    weights = {name: array * 0.1 for name, array in random_weights(model).items()}
    model.load_state_dict(weights)
    x = np.random.default_rng(5).standard_normal((2, 1, 28, 28)).astype("float32")
    got = load(mod).forward(x, *[parameter.data for _, parameter in params])
    np.testing.assert_allclose(got, lenet(x, weights), rtol=1e-3, atol=1e-3)


@every_executor
def test_what_fails_when_it_runs_names_the_line_of_the_model(load: Callable[[Any], Any]):
    class Rows(nn.Module):
        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return x.reshape(-1).reshape(3, 2)

    spec = {"forward": {"x": nn.spec.Tensor(("n", 2), "float32")}}
    with pytest.warns(RelaxWarning, match="it is checked when the program runs"):
        mod, _ = Rows().export_tvm(spec)
    run = load(mod)
    assert run.forward(np.ones((3, 2), "float32")).shape == (3, 2)
    failed = failure(lambda: run.forward(np.ones((4, 2), "float32")))
    assert failed.span is not None
    assert failed.span.filename == __file__
    assert failed.span.text == "x.reshape(-1).reshape(3, 2)"

"""Statistics and normalizations a piece at a time: the same as at once, in little memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.op import moments as statistics, pieces
from relaxscript.op.moments import moments, normalize
from relaxscript.op.pieces import apply_by_pieces

SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((7, 11), (1,)),
    ((7, 11), (0,)),
    ((5, 6, 7), (0, 2)),
    ((2, 3, 4, 5), (1, 2, 3)),
    ((2, 3, 4, 5), ()),
    ((13,), (0,)),
    ((), ()),
]


@pytest.mark.parametrize("piece", [1, 4, 30, 1 << 15])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_pieces_of_any_size_give_the_same(
    shape: Any, axes: Any, piece: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setattr(pieces, "PIECE", piece)
    monkeypatch.setattr(pieces, "_RUN", 1)
    monkeypatch.setattr(statistics, "PIECE", piece)
    x = rng.normal(size=shape).astype("float32")
    wide = x.astype("float64")
    mean, variance = moments(x, axes)
    np.testing.assert_allclose(mean, wide.mean(axes, keepdims=True), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(variance, wide.var(axes, keepdims=True), rtol=1e-12, atol=1e-15)
    gamma = rng.normal(size=[size if axis in axes else 1 for axis, size in enumerate(shape)])
    found = normalize(x, axes, 0.5, gamma, None)
    assert found.dtype == x.dtype
    wanted = (wide - mean) / np.sqrt(variance + 0.5) * gamma
    np.testing.assert_allclose(found, wanted, rtol=2.0**-23, atol=1e-15)
    assert apply_by_pieces(np.negative, x, axes).tolist() == (-x).tolist()


@pytest.mark.parametrize("size", [1, 4, 30, 1000])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_pieces_make_up_the_whole(shape: Any, axes: Any, size: int) -> None:
    seen = np.zeros(shape, int)
    for piece in pieces.pieces(shape, axes, size):
        seen[piece] += 1
        assert all(seen[piece].shape[axis] == shape[axis] for axis in axes)
    assert (seen == 1).all()


def test_neighbours_in_memory_stay_together() -> None:
    shapes = [np.zeros((500, 200))[piece].shape for piece in pieces.pieces((500, 200), (0,), 1)]
    assert shapes == [(500, 64), (500, 64), (500, 64), (500, 8)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_normalization_is_rounded_once(dtype: str, rng: np.random.Generator) -> None:
    x = (1000 + rng.normal(size=(9, 400))).astype(DataType(dtype).numpy)
    one, zero = np.ones(400, x.dtype), np.zeros(400, x.dtype)
    wide = x.astype("float64")
    exact = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    found = R.nn.layer_norm(x, one, zero, -1).astype("float64")
    digits = {"float16": 10, "bfloat16": 7, "float32": 23}[dtype]
    np.testing.assert_allclose(found, exact, rtol=2.0**-digits, atol=1e-3 * 2.0**-digits)


def peak_of(action: Any) -> int:
    tracemalloc.start()
    action()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.slow
def test_no_tensor_is_copied_whole_in_a_wider_type() -> None:
    x = np.ones((8, 16, 128, 128), "float32")
    k = np.ones((16, 16, 3, 3), "float32")
    channel, row = np.ones(16, "float32"), np.ones(128, "float32")
    actions = {
        "layer_norm": lambda: R.nn.layer_norm(x, row, row, -1),
        "layer_norm of all": lambda: R.nn.layer_norm(x, x, x, [0, 1, 2, 3]),
        "rms_norm": lambda: R.nn.rms_norm(x, row),
        "group_norm": lambda: R.nn.group_norm(x, channel, channel, 2, 1, [2, 3]),
        "instance_norm": lambda: R.nn.instance_norm(x, channel, channel, 1, [2, 3]),
        "batch_norm": lambda: R.nn.batch_norm(x, channel, channel, channel, channel, 1),
        "variance": lambda: R.variance(x),
        "mean": lambda: R.mean(x),
        "softmax": lambda: R.nn.softmax(x),
        "log_softmax": lambda: R.nn.log_softmax(x),
        "gelu": lambda: R.nn.gelu(x),
        "erf": lambda: R.erf(x),
        "max_pool2d": lambda: R.nn.max_pool2d(x, 3, 1, 1),
        "avg_pool2d": lambda: R.nn.avg_pool2d(x, 3, 1, 1),
        "adaptive_avg_pool2d": lambda: R.nn.adaptive_avg_pool2d(x, 64),
        "conv2d": lambda: R.nn.conv2d(x, k),
    }
    # The result, and what a piece takes; a convolution without padding needs no copy of its data.
    room = x.nbytes + (6 << 20)
    beyond = {name: peak for name, action in actions.items() if (peak := peak_of(action)) > room}
    assert beyond == {}

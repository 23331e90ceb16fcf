"""Channels and rows rearranged, and slopes for each channel."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import relaxscript.op as R
from relaxscript.ir.structural_equality import structural_equal
from relaxscript_tests.op.inference import obliged, ranked, refused, result, tensor

X = tensor("n", 4, "h", 5)


def test_each_channel_has_a_slope() -> None:
    data = np.array([[-1.0, 2.0], [-3.0, -4.0]])
    slopes = np.array([0.5, 0.25])
    assert R.nn.prelu(data, slopes).tolist() == [[-0.5, 2], [-1.5, -1]]
    assert R.nn.prelu(data, slopes, 0).tolist() == [[-0.5, 2], [-0.75, -1]]
    # A format without 0 has only elements above it.
    powers = np.array([[1, 2]], ml_dtypes.float8_e8m0fnu)
    assert R.nn.prelu(powers, np.array([4, 4], powers.dtype)).astype("float32").tolist() == [[1, 2]]
    assert result(R.nn.prelu, X, tensor(4)) == "(n, 4, h, 5) float32"
    assert refused(R.nn.prelu, X, tensor(3)).fact == "has 3 elements"
    assert refused(R.nn.prelu, X, tensor(4, 1)).fact == "has shape (4, 1)"
    assert obliged(R.nn.prelu, X, tensor("c")) == ["alpha: 4 equal c"]


def test_relu6_stands_for_a_clip() -> None:
    assert structural_equal(R.nn.relu6(X), R.clip(X, 0, 6))


def test_each_sample_is_a_row() -> None:
    assert R.nn.batch_flatten(np.zeros((2, 3, 4))).shape == (2, 12)
    assert result(R.nn.batch_flatten, X) == "(n, h * 20) float32"
    assert result(R.nn.batch_flatten, ranked(-1)) == "rank 2 float32"
    assert refused(R.nn.batch_flatten, tensor()).fact == "has rank 0"


def test_channels_become_neighbours() -> None:
    data = np.arange(8).reshape(1, 4, 1, 2)
    assert R.nn.pixel_shuffle(data, 2).tolist() == [[[[0, 2, 1, 3], [4, 6, 5, 7]]]]
    assert result(R.nn.pixel_shuffle, X, 2) == "(n, 1, h * 2, 10) float32"
    assert result(R.nn.pixel_shuffle, ranked(4), 2) == "rank 4 float32"
    assert refused(R.nn.pixel_shuffle, X, 3).fact == "has 4 channels"
    assert refused(R.nn.pixel_shuffle, X, 0).fact == "is 0"
    assert refused(R.nn.pixel_shuffle, tensor(2, 3), 1).fact == "has shape (2, 3)"

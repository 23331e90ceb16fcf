"""Transposed convolutions: the transpose of a convolution; shapes; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import obliged, ranked, refused, result, tensor


@pytest.mark.parametrize("seed", range(9))
def test_it_is_the_transpose_of_a_convolution(seed: int) -> None:
    """`<conv(x), y> = <x, transposed(y)>`, whatever x and y are."""
    rng = np.random.default_rng(seed)
    axes, groups = 1 + seed % 3, int(rng.integers(1, 3))
    strides, dilation = (tuple(int(n) for n in rng.integers(1, 3, axes)) for _ in range(2))
    pads = tuple(int(n) for n in rng.integers(0, 2, 2 * axes))
    x = rng.integers(-3, 4, (2, 2 * groups, *rng.integers(5, 7, axes)))
    k = rng.integers(-3, 4, (3 * groups, 2, *rng.integers(1, 3, axes)))
    forth = (R.nn.conv1d, R.nn.conv2d, R.nn.conv3d)[axes - 1]
    back = (R.nn.conv1d_transpose, R.nn.conv2d_transpose, R.nn.conv3d_transpose)[axes - 1]
    image = forth(x, k, strides, pads, dilation, groups)
    y = rng.integers(-3, 4, image.shape)
    plain = back(y, k, strides, pads, 0, dilation, groups)
    more = [a - b for a, b in zip(x.shape[2:], plain.shape[2:])]
    found = back(y, k, strides, pads, more, dilation, groups)
    assert found.shape == x.shape
    assert (image * y).sum() == (x * found).sum()


X, K = tensor("n", 3, "h", 7), tensor(3, 8, 3, 3)


def test_the_shape_of_a_transposed_convolution() -> None:
    transposed = R.nn.conv2d_transpose
    assert result(transposed, X, K) == "(n, 8, h + 2, 9) float32"
    assert result(transposed, X, K, 2, 1, 1) == "(n, 8, h * 2, 14) float32"
    assert result(transposed, X, ranked(4), out_dtype="float64") == "rank 4 float64"
    assert result(transposed, tensor(1, 6, 4, 4), tensor(6, 8, 1, 1), groups=2) == (
        "(1, 16, 4, 4) float32"
    )
    assert obliged(transposed, tensor(1, "c", 4, 4), K) == ["weight: c equal 3"]


@pytest.mark.parametrize(
    ("attributes", "operand", "fact"),
    [
        ({"output_padding": 1}, "output_padding", "is 1"),
        ({"output_padding": [0, 0, 0]}, "output_padding", "has 3 numbers"),
        ({"strides": 0}, "strides", "is 0"),
        ({"groups": 0}, "groups", "is 0"),
        ({"groups": 2}, "weight", "takes 3 channels"),
        ({"data_layout": "NHW"}, "data_layout", 'is "NHW"'),
        ({"kernel_layout": "OI"}, "kernel_layout", 'is "OI"'),
        ({"data_layout": "NHWC"}, "weight", "takes 3 channels"),
        ({"padding": [0, 5]}, "data", "has 7 elements along W"),
    ],
)
def test_attributes_that_do_not_fit(attributes: Any, operand: str, fact: str) -> None:
    error = refused(R.nn.conv2d_transpose, X, K, **attributes)
    assert (error.operand, error.fact) == (operand, fact)

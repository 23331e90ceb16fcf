"""Poolings: what each window becomes, how many there are, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import ranked, refused, result, tensor

ROW = np.array([[[1, 5, 2, 4, 3]]], "float32")
X = tensor("n", 3, "h", 28)


def test_the_largest_and_the_mean_of_windows() -> None:
    assert R.nn.max_pool1d(ROW, 2).tolist() == [[[5, 5, 4, 4]]]
    assert R.nn.max_pool1d(ROW, 2, 2).tolist() == [[[5, 4]]]
    assert R.nn.max_pool1d(ROW, 2, dilation=2).tolist() == [[[2, 5, 3]]]
    assert R.nn.avg_pool1d(ROW, 2).tolist() == [[[3, 3.5, 3, 3.5]]]


def test_padding_is_below_all_and_counts_where_it_is_told_to() -> None:
    assert R.nn.max_pool1d(-ROW, 2, 1, 1).tolist() == [[[-1, -1, -2, -2, -3, -3]]]
    assert R.nn.max_pool1d((-ROW).astype("int8"), 2, 4, 1).tolist() == [[[-1, -3]]]
    assert R.nn.avg_pool1d(ROW, 2, 2, [1, 0]).tolist() == [[[1, 3.5, 3.5]]]
    padded = R.nn.avg_pool1d(ROW, 2, 2, [1, 0], count_include_pad=True)
    assert padded.tolist() == [[[0.5, 3.5, 3.5]]]


def test_a_window_that_does_not_fit_whole_is_taken_where_that_is_asked_for() -> None:
    assert R.nn.max_pool1d(ROW, 2, 2, ceil_mode=True).tolist() == [[[5, 4, 3]]]
    for counted in (True, False):
        found = R.nn.avg_pool1d(ROW, 2, 2, ceil_mode=True, count_include_pad=counted)
        assert found.tolist() == [[[3, 3, 3]]]


def test_windows_of_about_one_size() -> None:
    assert R.nn.adaptive_avg_pool1d(ROW, 2).tolist() == [[[np.float32(8 / 3), 3]]]
    assert R.nn.adaptive_avg_pool1d(ROW, 5).tolist() == ROW.tolist()
    assert R.nn.adaptive_avg_pool1d(ROW).tolist() == ROW.tolist()
    square = np.arange(16, dtype="float64").reshape(1, 1, 4, 4)
    assert R.nn.adaptive_avg_pool2d(square, [1, 2]).tolist() == [[[[6.5, 8.5]]]]
    last = R.nn.adaptive_avg_pool2d(square.reshape(1, 4, 4, 1), 1, "NHWC")
    assert last.tolist() == [[[[7.5]]]]
    with pytest.raises(ValueError, match="there is nothing to take the mean of"):
        R.nn.adaptive_avg_pool1d(np.zeros((1, 1, 0)), 2)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, "(n, 3, h, 28) float32"),
        ({"pool_size": 2, "strides": 2}, "(n, 3, h // 2, 14) float32"),
        ({"pool_size": 2, "strides": 2, "ceil_mode": True}, "(n, 3, (h + 1) // 2, 14) float32"),
        ({"pool_size": [3, 1], "padding": [1, 0]}, "(n, 3, h, 28) float32"),
    ],
)
@pytest.mark.parametrize("operator", [R.nn.max_pool2d, R.nn.avg_pool2d], ids=repr)
def test_the_shape_of_a_pooling(operator: Any, attributes: Any, expected: str) -> None:
    assert result(operator, X, **attributes) == expected


def test_the_shape_of_an_adaptive_pooling() -> None:
    assert result(R.nn.adaptive_avg_pool2d, X, [4, 5]) == "(n, 3, 4, 5) float32"
    assert result(R.nn.adaptive_avg_pool2d, X) == "(n, 3, h, 28) float32"
    assert result(R.nn.adaptive_avg_pool3d, ranked(-1), 2) == "rank 5 float32"


def test_what_cannot_be_pooled() -> None:
    assert refused(R.nn.max_pool2d, tensor(2, 3, 4)).fact == "has shape (2, 3, 4)"
    assert refused(R.nn.max_pool2d, X, [1, 2, 3]).operand == "pool_size"
    assert refused(R.nn.max_pool2d, X, 0).fact == "is 0"
    assert refused(R.nn.max_pool2d, X, 2, layout="CHW").operand == "layout"
    assert refused(R.nn.max_pool2d, X, [1, 29]).fact == "has 28 elements along W"
    assert refused(R.nn.max_pool2d, tensor(2, 3, 4, 4, dtype="bool")).code == "RX0202"
    assert refused(R.nn.avg_pool1d, tensor(2, 3, 4, dtype="int8")).code == "RX0202"
    assert refused(R.nn.adaptive_avg_pool1d, tensor(2, 3, 4), [2, 2]).operand == "output_size"

"""Parts at indices, and places among boundaries: against numpy; what is known; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R

from .inference import obliged, ranked, refused, result, tensor

DATA = np.arange(24, dtype="float32").reshape(2, 3, 4)
ROWS, COLUMNS = np.array([[1], [0]]), np.array([2, -1, 0], "int8")
X = tensor("n", 3, 4)
FIVE, MANY = tensor(5, dtype="int64"), tensor("m", 1, dtype="int32")


def test_parts_are_those_of_numpy() -> None:
    np.testing.assert_array_equal(R.index_tensor(DATA, [ROWS, COLUMNS]), DATA[ROWS, COLUMNS])
    np.testing.assert_array_equal(R.index_tensor(DATA, [COLUMNS[:0]]), DATA[:0])
    with pytest.raises(IndexError, match="the index 2 is not among the 2 along axis 0"):
        R.index_tensor(DATA, [np.array([0, 2])])
    with pytest.raises(IndexError, match="the index -4 is not among the 3 along axis 1"):
        R.index_tensor(DATA, [np.array([0]), np.array([-4])])


def test_what_is_known_of_parts() -> None:
    assert result(R.index_tensor, X, [FIVE]) == "(5, 3, 4) float32"
    assert result(R.index_tensor, X, [MANY, FIVE]) == "(m, 5, 4) float32"
    assert result(R.index_tensor, X, [ranked(2, "int64")]) == "rank 4 float32"
    assert result(R.index_tensor, ranked(-1), [FIVE]) == "rank -1 float32"
    assert refused(R.index_tensor, X, []).fact == "is empty"
    assert refused(R.index_tensor, X, [FIVE] * 4).fact == "holds indices along 4 axes"
    assert refused(R.index_tensor, X, [X]).code == "RX0202"
    assert refused(R.index_tensor, X, [FIVE, tensor(4, dtype="int64")]).operand == "indices[1]"


def test_values_are_put_and_added() -> None:
    where = [np.array([0, 0, 1]), np.array([1, 1, -1])]
    values = np.array([[10], [20], [30]], "float32")
    put = R.index_put(DATA, where, values)
    assert put[0, 1].tolist() == [20] * 4
    assert put[1, 2].tolist() == [30] * 4
    added = R.index_put(DATA, where, values, accumulate=True) - DATA
    assert added[0, 1].tolist() == [30] * 4
    assert added.sum() == 240
    assert DATA[0, 1].tolist() == [4, 5, 6, 7]


def test_values_spread_to_the_parts() -> None:
    assert result(R.index_put, X, [FIVE], tensor(4)) == "(n, 3, 4) float32"
    assert len(obliged(R.index_put, X, [FIVE], tensor("k", 3, 4))) == 1
    assert result(R.index_put, X, [ranked(-1, "int64")], tensor(4)) == "(n, 3, 4) float32"
    error = refused(R.index_put, X, [FIVE], tensor(2, 4))
    assert error.fact == "has shape (2, 4)"
    assert error.facts["indices"] == "names parts of shape (5, 3, 4)"
    assert refused(R.index_put, X, [FIVE], tensor(1, 5, 3, 4)).operand == "values"
    assert refused(R.index_put, X, [FIVE], tensor(4, dtype="int8")).code == "RX0202"
    flags = tensor("n", dtype="bool")
    assert result(R.index_put, flags, [FIVE], tensor(5, dtype="bool")) == "(n,) bool"
    assert refused(R.index_put, flags, [FIVE], tensor(5, dtype="bool"), True).code == "RX0202"


def test_values_belong_between_boundaries() -> None:
    x, boundaries = np.array([[3, 6, 9], [0, 4, 10]]), np.array([1, 3, 5, 7, 9])
    left, right = R.bucketize(x, boundaries), R.bucketize(x, boundaries, right=True)
    assert (left.tolist(), left.dtype) == ([[1, 3, 4], [0, 2, 5]], np.int64)
    assert right.tolist() == [[2, 3, 5], [0, 2, 5]]
    assert R.bucketize(x, boundaries, True).dtype == np.int32


def test_boundaries_are_a_row() -> None:
    assert result(R.bucketize, X, tensor("k")) == "(n, 3, 4) int64"
    assert result(R.bucketize, ranked(2), ranked(-1), out_int32=True) == "rank 2 int32"
    assert refused(R.bucketize, X, X).message == "the boundaries are a row of numbers in order"
    assert refused(R.bucketize, X, tensor("k", dtype="int8")).code == "RX0202"

"""Elements in order: which, where they stand, and how many."""

from __future__ import annotations

import numpy as np

import relaxscript.op as R

from .inference import obliged, ranked, refused, result, tensor

X = tensor("n", 4)
ROW = np.array([3, 1, 2, 3, 1], "float32")


def test_elements_are_sorted_along_an_axis() -> None:
    assert R.sort(ROW).tolist() == [1, 1, 2, 3, 3]
    assert R.sort(ROW, descending=True).tolist() == [3, 3, 2, 1, 1]
    rows = np.array([[2, 1], [1, 3]])
    assert R.sort(rows, 0).tolist() == [[1, 1], [2, 3]]


def test_equal_elements_keep_their_order() -> None:
    assert R.argsort(ROW).tolist() == [1, 4, 2, 0, 3]
    assert R.argsort(ROW, descending=True).tolist() == [0, 3, 2, 1, 4]


def test_nan_counts_as_the_largest() -> None:
    row = np.array([np.nan, 1, np.inf], "float32")
    assert R.argsort(row).tolist() == [1, 2, 0]
    assert R.argsort(row, descending=True).tolist() == [0, 2, 1]


def test_the_first_elements_in_order() -> None:
    values, indices = R.topk(ROW, 2)
    assert (values.tolist(), indices.tolist()) == ([3, 3], [0, 3])
    assert R.topk(ROW, 3, ret_type="values", largest=False).tolist() == [1, 1, 2]
    assert R.topk(ROW, 0, ret_type="indices", dtype="int64").tolist() == [0, 3, 2, 1, 4]


def test_what_is_known_of_the_result() -> None:
    assert result(R.sort, X, 0) == "(n, 4) float32"
    assert result(R.argsort, X, dtype="int64") == "(n, 4) int64"
    assert result(R.topk, X, 2) == "[(n, 2) float32; (n, 2) int32]"
    assert result(R.topk, X, 3, 0, "values") == "(min(n, 3), 4) float32"
    assert result(R.topk, X, 5) == "[(n, 4) float32; (n, 4) int32]"
    assert result(R.topk, X, 0, 0, "indices") == "(n, 4) int32"
    assert result(R.topk, ranked(2), 3) == "[rank 2 float32; rank 2 int32]"


def test_all_elements_are_given_where_more_are_asked_for() -> None:
    assert obliged(R.topk, X, 3, 0) == []
    assert [found.tolist() for found in R.topk(ROW, 9)] == [
        found.tolist() for found in R.topk(ROW, 0)
    ]


def test_what_cannot_be_sorted_so() -> None:
    assert refused(R.sort, X, 2).message == "there is no axis 2"
    assert refused(R.argsort, X, dtype="bool").operand == "dtype"
    assert result(R.argsort, X, dtype="float16") == "(n, 4) float16"
    assert refused(R.topk, X, ret_type="all").fact == "is 'all'"
    assert refused(R.topk, X, dtype="bool").code == "RX0202"
    assert refused(R.argsort, tensor(), 0).message == "there is no axis 0"

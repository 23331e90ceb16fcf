"""Elements by tensors of indices, taken out and put in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R

from .inference import obliged, ranked, refused, result, tensor

X = tensor("n", 3)
ROWS = np.array([[1, 2, 3], [4, 5, 6]], "int32")


def indices(*dims: Any) -> Any:
    return tensor(*dims, dtype="int64")


def test_elements_are_gathered_along_an_axis() -> None:
    places = np.array([[0, 1, -1], [1, 0, 0]])
    assert R.gather_elements(ROWS, places).tolist() == [[1, 5, 6], [4, 2, 3]]
    assert R.gather_elements(ROWS, places[:, :2], 1).tolist() == [[1, 2], [5, 4]]
    assert result(R.gather_elements, X, indices("m", 2)) == "(m, 2) float32"
    assert result(R.gather_elements, X, ranked(2, "int64")) == "rank 2 float32"
    assert result(R.gather_elements, X, ranked(-1, "int8")) == "rank 2 float32"


def test_an_index_that_is_not_there_is_an_error() -> None:
    with pytest.raises(IndexError, match="the index 2 is not among the 2 along axis 0"):
        R.gather_elements(ROWS, np.array([[2, 0, 0]]))
    with pytest.raises(IndexError, match="the index -4 is not among the 3 along axis 1"):
        R.gather_nd(ROWS, np.array([[0, -4]]))
    with pytest.raises(IndexError, match="a place has at least one index"):
        R.gather_nd.meaning(ROWS, np.zeros((2, 0), "int64"))


def test_elements_are_scattered_along_an_axis() -> None:
    zeros, places = np.zeros((2, 3), "int32"), np.array([[1, 1, 0]])
    updates = np.array([[7, 8, 9]], "int32")
    assert R.scatter_elements(zeros, places, updates).tolist() == [[0, 0, 9], [7, 8, 0]]
    twice = np.array([[0, 0, 2]])
    added = R.scatter_elements(zeros, twice, updates, axis=1, reduction="add")
    assert added.tolist() == [[15, 0, 9], [0, 0, 0]]
    assert R.scatter_elements(ROWS, places, updates, reduction="max").tolist() == [
        [1, 2, 9],
        [7, 8, 6],
    ]


def test_parts_are_gathered_by_the_last_axis() -> None:
    assert R.gather_nd(ROWS, np.array([[0, 1], [1, -1]])).tolist() == [2, 6]
    assert R.gather_nd(ROWS, np.array([[1], [0]])).tolist() == [[4, 5, 6], [1, 2, 3]]
    assert R.gather_nd(ROWS, np.array([[2], [0]]), 1).tolist() == [3, 4]


@pytest.mark.parametrize(
    ("data", "places", "batch", "expected"),
    [
        (X, indices(5, 2), 0, "(5,) float32"),
        (X, indices(5, 1), 0, "(5, 3) float32"),
        (tensor("n", 4, 3), indices("n", 5, 1), 1, "(n, 5, 3) float32"),
        (X, indices(5, "k"), 0, "rank -1 float32"),
        (ranked(3), indices(5, 2), 0, "rank 2 float32"),
        (ranked(-1), indices(5, 2), 0, "rank -1 float32"),
    ],
)
def test_the_shape_of_gathered_parts(data: Any, places: Any, batch: int, expected: str) -> None:
    assert result(R.gather_nd, data, places, batch) == expected


def test_parts_are_scattered_by_the_last_axis() -> None:
    zeros = np.zeros((2, 3), "int32")
    places = np.array([[1], [1]])
    assert R.scatter_nd(zeros, places, ROWS, "add").tolist() == [[0, 0, 0], [5, 7, 9]]
    assert R.scatter_nd(zeros, places, ROWS).tolist() == [[0, 0, 0], [4, 5, 6]]
    assert result(R.scatter_nd, X, indices(5, "k"), ranked(-1)) == "(n, 3) float32"


def test_what_cannot_be_gathered() -> None:
    assert refused(R.gather_elements, X, tensor(2, 3)).operand == "indices"
    assert refused(R.gather_elements, X, indices(2)).fact == "has shape (2,)"
    assert refused(R.gather_elements, X, indices(2, 3), 2).message == "there is no axis 2"
    assert refused(R.gather_nd, X, indices()).fact == "has rank 0"
    assert refused(R.gather_nd, X, indices(2, 0)).operand == "indices"
    assert refused(R.gather_nd, X, indices(2, 3)).fact == "holds places along 3 axes"
    assert refused(R.gather_nd, X, indices(2, 1), 3).fact == "is 3"
    assert refused(R.gather_nd, tensor(2, 3), indices(4, 5, 1), 1).operand == "indices"


def test_what_cannot_be_scattered() -> None:
    scatter = R.scatter_elements
    assert refused(scatter, X, indices(2, 3), tensor(2, 3), 0, "mean").fact == "is 'mean'"
    assert refused(scatter, X, indices(2, 3), tensor(2, 4)).operand == "updates"
    assert refused(scatter, X, indices(2, 3), tensor(2)).fact == "has shape (2,)"
    assert refused(scatter, X, indices(2, 3), tensor(2, 3, dtype="int8")).code == "RX0202"
    flags = tensor(2, 3, dtype="bool")
    assert refused(scatter, flags, indices(2, 3), flags, 0, "add").code == "RX0202"
    assert obliged(scatter, X, indices("m", 3), tensor("k", 3)) == ["updates: m equal k"]
    assert refused(R.scatter_nd, X, indices(5, 1), tensor(5)).operand == "updates"
    assert refused(R.scatter_nd, X, indices(5, 1), tensor(5, 4)).operand == "updates"

"""Which elements there are, and where."""

from __future__ import annotations

import numpy as np

import relaxscript.op as R

from .inference import ranked, refused, result, tensor

ROW = np.array([3, 1, 3, 2, 1], "int8")


def test_each_element_once() -> None:
    assert R.unique(ROW).tolist() == [1, 2, 3]
    assert R.unique(ROW, sorted=False).tolist() == [3, 1, 2]
    rows = np.array([[1, 2], [1, 2], [0, 5]])
    assert R.unique(rows, axis=0).tolist() == [[0, 5], [1, 2]]


def test_where_and_how_often_they_are() -> None:
    found, first, inverse, counts = R.unique(ROW, True, True, True, True)
    assert found[inverse].tolist() == ROW.tolist()
    assert (first.tolist(), counts.tolist()) == ([1, 3, 0], [2, 1, 2])
    found, first, inverse, counts = R.unique(ROW, False, True, True, True)
    assert found[inverse].tolist() == ROW.tolist()
    assert (first.tolist(), counts.tolist()) == ([0, 1, 3], [2, 2, 1])


def test_how_many_there_are_is_not_known_before() -> None:
    x = tensor("n", 3)
    assert result(R.unique, x) == "rank 1 float32"
    assert result(R.unique, x, return_counts=True) == "[rank 1 float32; rank 1 int64]"
    assert result(R.unique, x, axis=1) == "rank 2 float32"
    assert result(R.unique, ranked(-1), axis=1) == "rank -1 float32"
    assert refused(R.unique, x, axis=2).message == "there is no axis 2"
    assert result(R.nonzero, x) == "rank 2 int64"


def test_the_places_of_what_is_not_zero() -> None:
    assert R.nonzero(np.array([[0, 1], [2, 0]])).tolist() == [[0, 1], [1, 0]]
    assert R.nonzero(np.array(5)).tolist() == [[0]]
    assert R.nonzero(np.zeros((2, 0))).shape == (2, 0)

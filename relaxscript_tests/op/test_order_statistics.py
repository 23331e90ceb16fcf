"""Elements in the middle of an order."""

from __future__ import annotations

import numpy as np

import relaxscript.op as R

from .inference import ranked, refused, result, tensor

X = np.array([[5, 1, 3, 3], [2, 9, 4, 7]], "float32")


def test_the_lower_of_two_in_the_middle_is_the_median() -> None:
    assert R.median(X) == 3
    values, places = R.median(X, 1)
    assert (values.tolist(), places.tolist()) == ([3, 4], [2, 2])
    values, places = R.median(X, 0, True)
    assert (values.tolist(), places.tolist()) == ([[2, 1, 3, 3]], [[1, 0, 0, 0]])
    assert places.dtype == np.int64


def test_what_is_missing_is_the_median() -> None:
    x = np.array([[1, np.nan, 2, np.nan, 3]], "float16")
    values, places = R.median(x, -1)
    assert np.isnan(values).all()
    assert places.tolist() == [1]
    assert np.isnan(R.median(x))


def test_nothing_has_no_median() -> None:
    values, places = R.median(np.zeros((2, 0), "int32"), 1)
    assert (values.tolist(), places.tolist()) == ([0, 0], [-1, -1])
    assert np.isnan(R.median(np.zeros(0, "float32")))


def test_what_is_known_of_the_result() -> None:
    x = tensor("n", 4)
    assert result(R.median, x) == "() float32"
    assert result(R.median, x, None, True) == "(1, 1) float32"
    assert result(R.median, x, -1) == "[(n,) float32; (n,) int64]"
    assert result(R.median, ranked(2), 0, True) == "[rank 2 float32; rank 2 int64]"
    assert refused(R.median, tensor(3, dtype="bool")).code == "RX0202"
    assert refused(R.median, x, 2).message == "there is no axis 2"


def test_a_median_is_along_one_axis() -> None:
    error = refused(R.median, tensor("n", 4), [0, 1])
    assert error.message == "a median is taken along one axis, or of all elements"
    assert (error.operand, error.fact) == ("axis", "names 2 axes")

"""Whether all elements along axes are true, or any."""

from __future__ import annotations

import numpy as np

import relaxscript.op as R

from .inference import ranked, refused, result, tensor

ROWS = np.array([[0, 2, 3], [0, 0, 5]], "int8")


def test_numbers_are_true_unless_they_are_zero() -> None:
    assert R.any(ROWS, 0).tolist() == [False, True, True]
    assert R.all(ROWS, 0).tolist() == [False, False, True]
    assert R.any(ROWS).tolist() is True
    assert R.all(ROWS, [1], True).tolist() == [[False], [False]]
    assert R.all(np.array([np.nan, -1.5], "float32")).tolist() is True
    assert R.any(np.array([0.0, -0.0], "float32")).tolist() is False


def test_of_nothing_all_are_true_and_none_is() -> None:
    nothing = np.zeros((0, 3), "bool")
    assert R.all(nothing, 0).tolist() == [True] * 3
    assert R.any(nothing, 0).tolist() == [False] * 3
    assert R.all(nothing).dtype == np.bool_


def test_the_result_is_true_or_false() -> None:
    assert result(R.any, tensor("n", 3), 1) == "(n,) bool"
    assert result(R.all, tensor("n", 3, dtype="int8"), -1, True) == "(n, 1) bool"
    assert result(R.all, ranked(-1)) == "() bool"
    assert refused(R.any, tensor(2, 3), 2).message == "there is no axis 2"

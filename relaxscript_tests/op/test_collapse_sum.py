"""Sums that undo a broadcast, and how many elements there are."""

from __future__ import annotations

import numpy as np

import relaxscript.op as R

from .inference import ranked, refused, result, shape, tensor

X = tensor("n", 3)


def test_what_was_repeated_is_added_up() -> None:
    data = np.arange(6).reshape(2, 3)
    assert R.collapse_sum_to.meaning(data, (1, 3)).tolist() == [[3, 5, 7]]
    assert R.collapse_sum_to.meaning(data, (3,)).tolist() == [3, 5, 7]
    assert R.collapse_sum_like(data, np.zeros((2, 1))).tolist() == [[3], [12]]
    assert R.collapse_sum_like(data, np.zeros(())).tolist() == 15


def test_the_shape_is_the_one_that_is_asked_for() -> None:
    assert result(R.collapse_sum_to, X, (1, 3)) == "(1, 3) float32"
    assert result(R.collapse_sum_to, X, shape(ndim=1)) == "rank 1 float32 held"
    assert result(R.collapse_sum_like, X, tensor(3)) == "(3,) float32"
    assert result(R.collapse_sum_like, ranked(-1), ranked(2, "int8")) == "rank 2 float32"


def test_what_broadcasting_never_makes() -> None:
    assert refused(R.collapse_sum_to, X, (2, 1, 3)).fact == "has shape (n, 3)"
    assert refused(R.collapse_sum_to, tensor(2, 3), (2, 4)).operand == "data"
    assert refused(R.collapse_sum_like, tensor(2, 3), tensor(4)).operand == "data"
    assert refused(R.collapse_sum_to, tensor(2, dtype="bool"), (1,)).code == "RX0202"


def test_how_many_elements_there_are() -> None:
    assert R.size(np.zeros((2, 0, 3))).tolist() == 0
    assert R.size(np.zeros((2, 3))).tolist() == 6
    assert result(R.size, X) == "() int64"

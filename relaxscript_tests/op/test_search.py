"""Choosing by conditions, by indices, and the places of extremes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R

from .inference import dim, held, infer, obliged, ranked, refused, result, shape, tensor

COND = tensor("n", 1, dtype="bool")
X = np.arange(6, dtype=np.float32).reshape(2, 3)


# ---------------------------------------------------------------- where


def test_where_broadcasts_all_three() -> None:
    assert result(R.where, COND, tensor(3), tensor()) == "(n, 3) float32"
    assert result(R.where, COND, tensor(3), 0.0) == "(n, 3) float32"
    assert result(R.where, COND, 1, tensor(dtype="int8")) == "(n, 1) int8"
    assert obliged(R.where, COND, tensor("m"), tensor("k")) == ["x2: m broadcast k"]


def test_the_condition_is_bool() -> None:
    error = refused(R.where, tensor(2), tensor(2), tensor(2))
    assert (error.operand, error.fact) == ("condition", "has dtype float32")
    assert error.help == 'it takes bools: write `R.astype(condition, "bool")`'


def test_both_choices_have_one_data_type() -> None:
    error = refused(R.where, COND, tensor(2), tensor(2, dtype="int8"))
    assert error.facts == {"x2": "has dtype int8", "x1": "has dtype float32"}


def test_where_keeps_a_shape_that_one_variable_holds() -> None:
    s = shape(ndim=2)
    info = infer(R.where, held(s, "bool"), held(s), held(s))
    assert info.shape is s  # type: ignore[attr-defined]


def test_where_chooses() -> None:
    found = R.where(np.array([[True], [False]]), X, np.float32(9))
    assert found.tolist() == [[0, 1, 2], [9, 9, 9]]


# ---------------------------------------------------------------- take


@pytest.mark.parametrize(
    ("x", "indices", "axis", "wanted"),
    [
        ((5,), (), None, "()"),
        ((5,), ("n",), None, "(n,)"),
        ((5, "m"), ("n", 2), 0, "(n, 2, m)"),
        ((5, "m"), ("n", 2), -1, "(5, n, 2)"),
        ((5, "m"), (), 1, "(5,)"),
    ],
)
def test_indices_stand_in_place_of_the_axis(x: Any, indices: Any, axis: Any, wanted: str) -> None:
    assert result(R.take, tensor(*x), tensor(*indices, dtype="int32"), axis) == f"{wanted} float32"


def test_a_prim_value_takes_one_slice() -> None:
    assert result(R.take, tensor(5, "m"), dim("n"), 0) == "(m,) float32"


def test_take_without_axis_needs_rank_1() -> None:
    error = refused(R.take, tensor(2, 3), tensor(4, dtype="int64"))
    assert error.message == "`R.take` needs an axis here"
    assert error.fact == "has shape (2, 3)"
    assert result(R.take, ranked(-1), tensor(4, dtype="int64")) == "rank -1 float32"


def test_ranks_add_up_where_shapes_are_not_known() -> None:
    assert result(R.take, ranked(3), ranked(2, "int64"), 0) == "rank 4 float32"
    assert result(R.take, ranked(1), tensor(dtype="int64"), 0) == "() float32"


def test_indices_are_integers() -> None:
    error = refused(R.take, tensor(2), tensor(4))
    assert error.help == 'it takes integers: write `R.astype(indices, "int64")`'


def test_an_axis_and_a_mode_that_there_are_not() -> None:
    assert refused(R.take, tensor(2), tensor(4, dtype="int64"), 1).operand == "axis"
    error = refused(R.take, tensor(2), tensor(4, dtype="int64"), 0, mode="fats")
    assert error.message == 'the mode of `R.take` is "fast", "clip" or "wrap"'
    assert error.code == "RX0204"


def test_take_takes() -> None:
    assert R.take(X, np.array([2, 0]), 1).tolist() == [[2, 0], [5, 3]]
    assert R.take(X, np.array([-1, 7]), 1, mode="clip").tolist() == [[0, 2], [3, 5]]
    assert R.take(X, np.array([-1, 7]), 1, mode="wrap").tolist() == [[2, 1], [5, 4]]


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_that_is_not_there_is_an_error(index: int) -> None:
    with pytest.raises(IndexError, match=f"the index {index} is not among the 3 along axis 1"):
        R.take(X, np.array([0, index]), 1)


def test_there_is_nothing_to_take_from_nothing() -> None:
    with pytest.raises(IndexError, match="there is nothing to take along axis 0"):
        R.take(np.zeros((0, 2)), np.array([0]), 0, mode="clip")


# ---------------------------------------------------------------- argmax, argmin


def test_places_are_int64_of_the_reduced_shape() -> None:
    assert result(R.argmax, tensor(2, "n"), 0) == "(n,) int64"
    assert result(R.argmin, tensor(2, "n"), -1, True) == "(2, 1) int64"
    assert result(R.argmax, tensor(2, "n")) == "() int64"
    assert result(R.argmax, ranked(3), 0) == "rank 2 int64"
    assert refused(R.argmax, tensor(2), 1).operand == "axis"


def test_the_first_of_several_and_the_first_nan() -> None:
    assert R.argmax(np.array([1, 3, 3])).tolist() == 1
    assert R.argmin(np.array([2, 1, 1])).tolist() == 1
    assert R.argmax(np.array([1, np.nan, 3])).tolist() == 1
    assert R.argmax(X).tolist() == 5
    assert R.argmax(X, 0).dtype == np.int64


def test_nothing_has_no_place() -> None:
    assert R.argmax(np.zeros((0, 2)), 0).tolist() == [-1, -1]
    assert R.argmin(np.zeros((2, 0)), 1, True).tolist() == [[-1], [-1]]

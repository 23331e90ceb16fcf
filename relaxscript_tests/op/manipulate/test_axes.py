"""The order of axes, new axes, and axes of one element removed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import dim, infer, obliged, ranked, refused, result, tensor

X = tensor(2, "n", 4)
n = dim("n")


# ---------------------------------------------------------------- permute_dims


@pytest.mark.parametrize(
    ("axes", "wanted"),
    [(None, "(4, n, 2)"), ([1, 0, 2], "(n, 2, 4)"), ([0, -1, 1], "(2, 4, n)")],
)
def test_permutations(axes: Any, wanted: str) -> None:
    assert result(R.permute_dims, X, axes) == f"{wanted} float32"


def test_a_permutation_that_changes_nothing_keeps_what_is_known() -> None:
    assert infer(R.permute_dims, X, [0, 1, 2]) is X.struct_info
    assert infer(R.permute_dims, ranked(1)).ndim == 1  # type: ignore[attr-defined]


def test_a_permutation_says_the_rank() -> None:
    assert result(R.permute_dims, ranked(-1), [1, 0]) == "rank 2 float32"
    assert result(R.permute_dims, ranked(-1)) == "rank -1 float32"
    assert result(R.permute_dims, ranked(3)) == "rank 3 float32"


def test_a_permutation_names_every_axis_once() -> None:
    error = refused(R.permute_dims, X, [0, 1])
    assert error.facts == {"axes": "names 2 axes", "x": "has rank 3"}
    assert error.message == "the permutation must name every axis once"
    assert refused(R.permute_dims, X, [0, 1, 1]).fact == "names 1 twice"
    assert refused(R.permute_dims, X, [0, 1, 3]).fact == "is 3"


# ---------------------------------------------------------------- expand_dims, squeeze


@pytest.mark.parametrize(
    ("axis", "wanted"),
    [
        (0, "(1, 2, n, 4)"),
        (-1, "(2, n, 4, 1)"),
        ([0, -1], "(1, 2, n, 4, 1)"),
        ([1, 2], "(2, 1, 1, n, 4)"),
        ([], "(2, n, 4)"),
    ],
)
def test_new_axes_are_those_of_the_result(axis: Any, wanted: str) -> None:
    assert result(R.expand_dims, X, axis) == f"{wanted} float32"


def test_new_axes_that_there_cannot_be() -> None:
    assert refused(R.expand_dims, X, 4).help == (
        "the axes are 0 to 3, or -4 to -1 counted from the end"
    )
    assert refused(R.expand_dims, X, [0, -5]).fact == "names axis 0 twice, as 0 and -5"
    assert result(R.expand_dims, ranked(2), [0, 1]) == "rank 4 float32"
    assert result(R.expand_dims, ranked(-1), [0, 1]) == "rank -1 float32"


@pytest.mark.parametrize(
    ("dims", "axis", "wanted"),
    [
        ((1, "n", 1), [0, -1], "(n,)"),
        ((1, 2, 1), None, "(2,)"),
        ((1, 1), None, "()"),
        ((2, 3), None, "(2, 3)"),
        ((n + 2, 1), None, "(n + 2,)"),
        ((2, 3), [], "(2, 3)"),
    ],
)
def test_axes_of_one_element_are_removed(dims: Any, axis: Any, wanted: str) -> None:
    assert result(R.squeeze, tensor(*dims), axis) == f"{wanted} float32"


def test_whether_a_symbolic_axis_is_removed_is_not_known() -> None:
    assert result(R.squeeze, tensor(1, "n")) == "rank -1 float32"
    assert result(R.squeeze, ranked(2)) == "rank -1 float32"
    assert result(R.squeeze, ranked(0)) == "rank 0 float32"
    assert result(R.squeeze, ranked(2), 0) == "rank 1 float32"
    assert result(R.squeeze, ranked(-1), 0) == "rank -1 float32"


def test_only_an_axis_of_one_element_can_be_removed() -> None:
    error = refused(R.squeeze, X, 2)
    assert error.facts == {"axis": "names axis 2", "x": "has 4 elements along axis 2"}
    assert error.message == "only an axis of one element can be removed"
    assert obliged(R.squeeze, X, 1) == ["axis: n equal 1"]
    assert result(R.squeeze, X, 1) == "(2, 4) float32"


def test_values() -> None:
    x = np.arange(6).reshape(2, 3)
    assert R.permute_dims(x).tolist() == x.T.tolist()
    assert R.squeeze(R.expand_dims(x, [0, 3]), [0, 3]).tolist() == x.tolist()

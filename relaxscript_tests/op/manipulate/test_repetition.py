"""Elements and tensors again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import OBJECT, prim_var, ranked, refused, result, tensor

X = tensor("n", 3)
ROWS = np.array([[1, 2], [3, 4]], "int8")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((X, 2), "(n * 6,) float32"),
        ((X, 2, 0), "(n * 2, 3) float32"),
        ((X, 0, -1), "(n, 0) float32"),
        ((ranked(2), 2), "rank 1 float32"),
        ((ranked(2), 2, 1), "rank 2 float32"),
    ],
)
def test_the_shape_of_repeated_elements(args: Any, expected: str) -> None:
    assert result(R.repeat, *args) == expected


@pytest.mark.parametrize(
    ("repeats", "expected"),
    [
        (2, "(n, 6) float32"),
        ([2, 1], "(n * 2, 3) float32"),
        ([5, 1, 2], "(5, n, 6) float32"),
        ([], "(n, 3) float32"),
    ],
)
def test_the_shape_of_a_repeated_tensor(repeats: Any, expected: str) -> None:
    assert result(R.tile, X, repeats) == expected


def test_a_repeated_tensor_of_which_only_the_rank_is_known() -> None:
    assert result(R.tile, ranked(2), [1, 2, 3]) == "rank 3 float32"
    assert result(R.tile, ranked(-1), 2) == "rank -1 float32"


def test_elements_and_tensors_are_repeated() -> None:
    assert R.repeat(ROWS, 2, 1).tolist() == [[1, 1, 2, 2], [3, 3, 4, 4]]
    assert R.repeat(ROWS, 2).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert R.tile(ROWS, [1, 2]).tolist() == [[1, 2, 1, 2], [3, 4, 3, 4]]


def test_nothing_is_repeated_less_than_not_at_all() -> None:
    assert refused(R.repeat, X, -1).fact == "is -1"
    assert refused(R.tile, X, [1, -2]).fact == "is -2"
    assert refused(R.repeat, X, 2, 2).message == "there is no axis 2"


def test_one_element_of_each_is_on() -> None:
    indices = np.array([1, 0, 5], "int64")
    assert R.one_hot(indices, 1, 0, 2).tolist() == [[0, 1], [1, 0], [0, 0]]
    assert R.one_hot(indices, 2.5, 0.5, 2, 0).tolist() == [[0.5, 2.5, 0.5], [2.5, 0.5, 0.5]]
    I = tensor("n", 3, dtype="int32")  # noqa: E741
    assert result(R.one_hot, I, 1, 0, 7) == "(n, 3, 7) int64"
    assert result(R.one_hot, I, prim_var("float16"), prim_var("float16"), 7, 0) == (
        "(7, n, 3) float16"
    )
    assert result(R.one_hot, ranked(1, "int8"), 1.0, 0.0, 2) == "rank 2 float32"


def test_what_cannot_be_on_or_off() -> None:
    indices = tensor(3, dtype="int32")
    assert refused(R.one_hot, tensor(3), 1, 0, 2).operand == "indices"
    assert refused(R.one_hot, indices, 1, 0.5, 2).code == "RX0202"
    assert refused(R.one_hot, indices, OBJECT, 0, 2).operand == "on_value"
    assert refused(R.one_hot, indices, 1, 0, -1).fact == "is -1"
    assert refused(R.one_hot, indices, 1, 0, 2, 2).message == "there is no axis 2"


def test_a_grid_of_rows() -> None:
    x, y = np.array([1, 2, 3]), np.array([5, 6])
    for indexing in ("ij", "xy"):
        found = R.meshgrid([x, y], indexing)
        for a, b in zip(found, np.meshgrid(x, y, indexing=indexing)):  # type: ignore[call-overload]
            np.testing.assert_array_equal(a, b)


def test_a_grid_has_an_axis_for_each_row() -> None:
    rows = [tensor("n"), tensor(4), tensor()]
    assert result(R.meshgrid, rows) == f"[{'; '.join(['(n, 4, 1) float32'] * 3)}]"
    assert result(R.meshgrid, rows, "xy") == f"[{'; '.join(['(4, n, 1) float32'] * 3)}]"
    assert result(R.meshgrid, [ranked(-1), rows[0]]) == "[rank 2 float32; rank 2 float32]"
    assert refused(R.meshgrid, []).fact == "is empty"
    assert refused(R.meshgrid, rows, "yx").message == 'the indexing of a grid is "ij" or "xy"'
    assert refused(R.meshgrid, [tensor(2, 3)]).message == "a grid is made of rows of numbers"


def test_floats_of_python_are_float32_in_a_one_hot() -> None:
    assert result(R.one_hot, tensor("n", dtype="int64"), 1.0, 0.0, 5) == "(n, 5) float32"

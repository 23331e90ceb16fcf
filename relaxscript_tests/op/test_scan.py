"""Running sums and products."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R

from .inference import ranked, refused, result, tensor

X = tensor("n", 4)
ROWS = np.array([[1, 2, 3], [4, 5, 6]], "int32")


def test_sums_and_products_run_along_an_axis() -> None:
    assert R.cumsum(ROWS, 0).tolist() == [[1, 2, 3], [5, 7, 9]]
    assert R.cumprod(ROWS, -1).tolist() == [[1, 2, 6], [4, 20, 120]]
    assert R.cumsum(ROWS).tolist() == [1, 3, 6, 10, 15, 21]


def test_the_element_itself_is_left_out_where_that_is_asked_for() -> None:
    assert R.cumsum(ROWS, 1, exclusive=True).tolist() == [[0, 1, 3], [0, 4, 9]]
    assert R.cumprod(ROWS, 0, exclusive=True).tolist() == [[1, 1, 1], [1, 2, 3]]
    assert R.cumsum(np.zeros((0, 2), "int8"), 0, exclusive=True).shape == (0, 2)


def test_small_floats_are_added_up_in_a_wider_type() -> None:
    ones = np.ones(3000, "float16")
    assert R.cumsum(ones)[-1] == 3000
    assert ones.cumsum()[-1] == 2048


@pytest.mark.parametrize("operator", [R.cumsum, R.cumprod], ids=repr)
def test_what_is_known_of_the_result(operator: R.Operator) -> None:
    assert result(operator, X, 1) == "(n, 4) float32"
    assert result(operator, X, -2, "float64") == "(n, 4) float64"
    assert result(operator, X) == "(n * 4,) float32"
    assert result(operator, ranked(-1)) == "rank 1 float32"
    assert result(operator, tensor(3, dtype="bool"), 0, "int32") == "(3,) int32"
    assert refused(operator, tensor(3, dtype="bool"), 0).code == "RX0202"
    assert refused(operator, X, 0, "bool").operand == "dtype"
    assert refused(operator, X, 2).message == "there is no axis 2"

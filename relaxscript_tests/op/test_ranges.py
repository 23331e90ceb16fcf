"""Ranges and identity matrices: what they hold, how long they are, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.ir import prim

from .inference import OBJECT, dim, prim_var, ranked, refused, result, shape, tensor

N = dim("n")


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((5,), "(5,) int64"),
        ((2, 9, 3), "(3,) int64"),
        ((9, 2, -3), "(3,) int64"),
        ((3, 0), "(0,) int64"),
        ((0.5, 3.0, 0.25), "(10,) float32"),
        ((N,), "(n,) int64"),
        ((1, N), "(max(n - 1, 0),) int64"),
        ((N, 0, -2), "((n + 1) // 2,) int64"),
        ((0, N, 0.5), "rank 1 float32"),
        ((0, prim_var("int32")), "rank 1 int64"),
        ((0, 3, prim_var("int64")), "rank 1 int64"),
    ],
)
def test_how_long_a_range_is(bounds: Any, expected: str) -> None:
    assert result(R.arange, *bounds) == expected


def test_a_range_has_the_data_type_that_is_asked_for() -> None:
    assert result(R.arange, 5, dtype="float16") == "(5,) float16"
    assert R.arange.meaning(0, 4, 1, dtype=None).dtype == np.int64
    assert R.arange.meaning(0, 2.0, 0.5, dtype=None).tolist() == [0, 0.5, 1, 1.5]
    assert R.arange.meaning(9, 2, -3, dtype=None).tolist() == [9, 6, 3]


def test_a_range_goes_from_number_to_number() -> None:
    assert refused(R.arange, 0, 5, 0).fact == "is 0"
    assert refused(R.arange, 0, float("inf")).fact == "is inf"
    assert refused(R.arange, True).fact == "is a scalar of bool"
    assert refused(R.arange, tensor(2)).fact == "is a tensor, not a scalar"
    assert refused(R.arange, 0, OBJECT).operand == "end"


def test_a_range_has_no_more_elements_than_a_dimension_counts() -> None:
    most = prim.const(2**64 - 1, "uint64")
    assert refused(R.arange, most).fact == "is 18446744073709551615"
    assert result(R.arange, N, most) == "rank 1 int64"


def test_identity_matrices() -> None:
    assert result(R.eye, 3) == "(3, 3) float32"
    assert result(R.eye, N, 4, -1, dtype="int8") == "(n, 4) int8"
    assert result(R.eye, N, prim_var("int64")) == "rank 2 float32"
    assert result(R.eye_like, tensor("n", 2, dtype="bool")) == "(n, 2) bool"
    assert result(R.eye_like, ranked(-1), 1, "int8") == "rank 2 int8"
    array = np.zeros((2, 3), "int8")
    assert R.eye_like(array, 1).tolist() == [[0, 1, 0], [0, 0, 1]]


def test_what_is_no_identity_matrix() -> None:
    assert refused(R.eye, -1).fact == "is -1"
    assert refused(R.eye, 2, 2.0).message == "the size of a matrix is an integer"
    assert refused(R.eye, 2, 2, shape(2)).operand == "k"
    assert refused(R.eye_like, tensor(2)).message == "only a matrix has a diagonal"
    assert refused(R.eye_like, tensor(2, 2), 0.5).code == "RX0202"


def test_a_hamming_window_is_a_raised_cosine() -> None:
    double = DataType("float64")
    found = R.hamming_window.meaning(4, periodic=True, alpha=0.5, beta=0.5, dtype=double)
    np.testing.assert_allclose(found, [0, 0.5, 1, 0.5], atol=1e-15)
    symmetric = R.hamming_window.meaning(
        5, periodic=False, alpha=0.54, beta=0.46, dtype=DataType("float32")
    )
    np.testing.assert_allclose(symmetric, np.hamming(5), rtol=1e-6)
    assert result(R.hamming_window, 1, False, 0.54, 0.46, "float16") == "(1,) float16"
    assert result(R.hamming_window, dim("n"), True, 0.5, 0.5, "float32") == "(n,) float32"
    assert result(R.hamming_window, prim_var("int64"), True, 0.5, 0.5, "float32") == (
        "rank 1 float32"
    )


def test_what_is_no_window() -> None:
    assert refused(R.hamming_window, -1, True, 0.5, 0.5, "float32").fact == "is -1"
    assert refused(R.hamming_window, 4, True, 0.5, 0.5, "int32").operand == "dtype"
    assert refused(R.hamming_window, 1.5, True, 0.5, 0.5, "float32").code == "RX0202"

"""Tensors of one value, and triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.ir import relax

from .inference import dim, infer, ranked, refused, result, shape, tensor

n = dim("n")


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (1.5, None, "float32"),
        (1, None, "int32"),
        (True, None, "bool"),
        (1, "float16", "float16"),
        (2.0, "int8", "int8"),
        (True, "float32", "float32"),
        (tensor(dtype="int8"), None, "int8"),
        (tensor(dtype="int8"), "float32", "float32"),
    ],
)
def test_full_has_the_data_type_of_its_value_or_the_one_asked_for(
    value: Any, dtype: Any, wanted: str
) -> None:
    assert result(R.full, (n, 2), value, dtype) == f"(n, 2) {wanted}"


def test_a_number_that_the_data_type_does_not_hold() -> None:
    error = refused(R.full, (2,), 1.5, "int8")
    assert (error.operand, error.code) == ("fill_value", "RX0202")


def test_a_data_type_to_fill_with_that_is_none() -> None:
    error = refused(R.full, (2,), 1.5, "flaot32")
    assert (error.operand, error.code) == ("dtype", "RX0204")


def test_a_tensor_is_filled_with_one_value() -> None:
    error = refused(R.full, (2,), tensor(2))
    assert error.message == "a tensor is filled with one value, of rank 0"
    assert error.help == "write `R.broadcast_to(fill_value, shape)`"
    assert refused(R.full_like, tensor(2), ranked(1)).fact == "has rank 1"


def test_shapes_in_variables() -> None:
    s = shape(ndim=2)
    for operator, rest in ((R.full, (1.0,)), (R.zeros, ("float32",)), (R.ones, ("float32",))):
        assert infer(operator, s, *rest).shape is s  # type: ignore[attr-defined]
        assert result(operator, shape("n"), *rest) == "(n,) float32"


def test_a_dimension_is_never_below_0() -> None:
    for operator, rest in ((R.full, (1.0,)), (R.zeros, ("float32",)), (R.ones, ("float32",))):
        error = refused(operator, (2, -1), *rest)
        assert error.message == "a tensor has no dimension below 0"
        assert (error.operand, error.fact, error.code) == (
            "shape", "has the dimension -1", "RX0204",
        )  # fmt: skip


def test_a_dimension_fits_in_int64() -> None:
    error = refused(R.zeros, (1 << 63,), "float32")
    assert error.fact == f"has the dimension {1 << 63}, which does not fit in int64"
    assert result(R.zeros, ((1 << 63) - 1,), "float32") == f"({(1 << 63) - 1},) float32"


def test_without_arrays_a_call_is_built() -> None:
    assert isinstance(R.zeros((2, 3), "float32"), relax.Call)


def test_like_another_tensor() -> None:
    x = tensor("n", 2)
    for operator in (R.zeros_like, R.ones_like):
        assert infer(operator, x) is x.struct_info
        assert result(operator, x, "int8") == "(n, 2) int8"
    assert infer(R.full_like, x, 1.5) is x.struct_info
    assert result(R.full_like, x, 7, "int8") == "(n, 2) int8"


def test_values() -> None:
    x = np.ones((2, 3), np.int8)
    assert R.zeros_like(x).tolist() == [[0] * 3] * 2
    assert R.ones_like(x, "float32").dtype == np.float32
    assert R.full_like(x, 7).tolist() == [[7] * 3] * 2
    assert R.tril(x, -1).tolist() == [[0, 0, 0], [1, 0, 0]]
    assert R.triu(x, 1).tolist() == [[0, 1, 1], [0, 0, 1]]
    assert R.triu(x).tolist() == [[1, 1, 1], [0, 1, 1]]


def test_only_matrices_have_triangles() -> None:
    assert refused(R.tril, tensor(2)).message == "only matrices have triangles"
    assert refused(R.triu, ranked(1)).fact == "has rank 1"
    error = refused(R.tril, tensor(2, 3), tensor())
    assert (error.operand, error.fact) == ("k", "is a tensor, not a scalar")

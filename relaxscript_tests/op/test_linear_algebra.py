"""Matrix products: shapes, what never fits and what may fit, and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.ir import prim
from relaxscript.ir.struct_info import TensorStructInfo

from .inference import dim, obliged, ranked, refused, result, tensor

n = dim("n")


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (("n", 64), (64, "m"), "(n, m)"),
        ((64,), (64, "m"), "(m,)"),
        (("n", 64), (64,), "(n,)"),
        ((64,), (64,), "()"),
        (("b", "n", 64), (64, 10), "(b, n, 10)"),
        (("n", 64), ("b", 64, 10), "(b, n, 10)"),
        (("b", 1, 2, 3), (4, 3, 5), "(b, 4, 2, 5)"),
        ((64,), ("b", 64, 10), "(b, 10)"),
        (("b", 2, 64), (64,), "(b, 2)"),
        ((0, 3), (3, 4), "(0, 4)"),
        ((2, 0), (0, 4), "(2, 4)"),
        ((2, n * 2), (n + n, 3), "(2, 3)"),
    ],
)
def test_shapes(a: Any, b: Any, wanted: str) -> None:
    assert result(R.matmul, tensor(*a), tensor(*b)) == f"{wanted} float32"
    assert obliged(R.matmul, tensor(*a), tensor(*b)) == []


def test_inner_dimensions_that_never_agree() -> None:
    error = refused(R.matmul, tensor("n", 64), tensor(63, 64))
    assert error.code == "RX0203"
    assert error.message == "`R.matmul` cannot multiply these operands"
    assert error.facts == {"x2": "has 63 rows", "x1": "has 64 columns"}
    assert error.help == "the last axis of `x1` must equal the last-but-one axis of `x2`"


def test_the_dimension_to_blame_is_named_for_its_place() -> None:
    rows = prim.IntImm("int64", 63)
    w = tensor(rows, 64)
    error = refused(R.matmul, tensor("n", 64), w)
    assert isinstance(w.struct_info, TensorStructInfo)
    assert error.dims == {"x2": rows}


def test_vectors_have_elements() -> None:
    error = refused(R.matmul, tensor(3), tensor(4))
    assert error.facts == {"x2": "has 4 elements", "x1": "has 3 elements"}
    assert error.help == "the last axis of `x1` must equal the only axis of `x2`"


def test_inner_dimensions_that_may_agree_are_a_deferred_check() -> None:
    assert obliged(R.matmul, tensor(2, "n"), tensor("m", 3)) == ["x2: n equal m"]
    assert result(R.matmul, tensor(2, "n"), tensor("m", 3)) == "(2, 3) float32"
    assert obliged(R.matmul, tensor(2, "n"), tensor(5)) == ["x2: n equal 5"]


def test_axes_before_the_last_two_broadcast() -> None:
    error = refused(R.matmul, tensor(2, 3, 4), tensor(5, 4, 6))
    assert error.facts == {"x2": "has shape (5, 4, 6)", "x1": "has shape (2, 3, 4)"}
    assert str(error.help).startswith("the axes before the last two")
    assert obliged(R.matmul, tensor("n", 3, 4), tensor("m", 4, 6)) == ["x2: n broadcast m"]
    assert result(R.matmul, tensor("n", 3, 4), tensor("m", 4, 6)) == "rank 3 float32"


def test_scalars_are_no_matrices() -> None:
    error = refused(R.matmul, tensor(2, 3), tensor())
    assert (error.operand, error.fact) == ("x2", "has rank 0")
    assert error.help == "write `R.multiply(x1, x2)`"
    assert refused(R.matmul, ranked(0), ranked(2)).operand == "x1"


@pytest.mark.parametrize(
    ("a", "b", "rank"),
    [(2, 2, 2), (1, 2, 1), (3, 1, 2), (3, 4, 4), (-1, 2, -1), (2, -1, -1)],
)
def test_ranks(a: int, b: int, rank: int) -> None:
    assert result(R.matmul, ranked(a), ranked(b)) == f"rank {rank} float32"


def test_two_vectors_give_a_scalar_whatever_their_lengths() -> None:
    assert result(R.matmul, ranked(1), ranked(1)) == "() float32"


def test_the_data_type_of_the_result_can_be_chosen() -> None:
    x = tensor(2, 3, dtype="float16")
    assert result(R.matmul, x, tensor(3, 4, dtype="float16"), "float32") == "(2, 4) float32"
    assert refused(R.matmul, x, tensor(3, 4)).code == "RX0202"
    assert refused(R.matmul, tensor(2, 3, dtype="bool"), tensor(3, 4, dtype="bool")).operand == "x1"


def test_narrow_floats_are_added_up_in_a_wider_type() -> None:
    x = np.full((1, 4096), 1.0, np.float16)
    found = R.matmul(x, np.ones((4096, 1), np.float16))
    assert found.dtype == np.float16
    assert found.tolist() == [[4096.0]]


def test_products_are_added_up_in_the_chosen_type() -> None:
    x = np.full((1, 3), 100, np.int8)
    assert R.matmul(x, x.T, out_dtype="int32").tolist() == [[30000]]
    assert R.matmul(x, x.T).tolist() == [[(30000 + 128) % 256 - 128]]


def test_the_result_of_two_vectors_is_an_array_of_rank_0() -> None:
    found = R.matmul(np.ones(3, np.float32), np.ones(3, np.float32))
    assert isinstance(found, np.ndarray)
    assert found.shape == ()


def test_linear_stands_for_matmul_permute_dims_and_add() -> None:
    call = R.linear.build((tensor("n", 3), tensor(4, 3), tensor(4)))
    assert call.op.name == "relax.add"  # type: ignore[attr-defined]
    product = call.args[0]  # type: ignore[attr-defined]
    assert product.op.name == "relax.matmul"
    assert product.args[1].op.name == "relax.permute_dims"


def test_linear_without_bias_is_a_product() -> None:
    call = R.linear.build((tensor("n", 3), tensor(4, 3)), {"out_dtype": "float64"})
    assert call.op.name == "relax.matmul"  # type: ignore[attr-defined]
    assert call.attrs["out_dtype"] == "float64"  # type: ignore[attr-defined]

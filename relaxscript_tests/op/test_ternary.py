"""Operators on three tensors: what goes together."""

from __future__ import annotations

import pytest

import relaxscript.op as R
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal

from .inference import infer, refused, result, tensor

TWO, THREE, FOUR = tensor(2, 3), tensor(4, 2, 3), tensor(1, 1, 2, 3)


@pytest.mark.parametrize(
    ("operands", "blamed"),
    [((TWO, THREE, TWO), "x2"), ((TWO, TWO, FOUR), "x3"), ((FOUR, tensor(), TWO), "x3")],
)
def test_tensors_that_are_multiplied_and_added_have_one_rank(operands, blamed) -> None:
    error = refused(R.ewise_fma, *operands)
    assert error.operand == blamed
    assert error.message == "the tensors that are multiplied and added have one rank"


def test_numbers_go_with_tensors_of_any_rank() -> None:
    assert result(R.ewise_fma, THREE, 2.0, tensor()) == "(4, 2, 3) float32"


def test_one_shape_in_a_variable_is_that_of_the_result() -> None:
    x = Var("x", TensorStructInfo(Var("s", ShapeStructInfo(ndim=2)), "float32"))
    assert structural_equal(infer(R.ewise_fma, x, x, x), x.struct_info)
    assert structural_equal(infer(R.concat, [x]), x.struct_info)
    assert structural_equal(infer(R.strided_slice, x, [], [], []), x.struct_info)


def test_a_piece_that_is_the_whole_is_the_tensor() -> None:
    assert result(R.split, TWO, 1) == "(2, 3) float32"
    assert result(R.split, TWO, [1]) == "[(1, 3) float32; (1, 3) float32]"


def test_a_single_element_is_unique() -> None:
    assert result(R.unique, tensor()) == "(1,) float32"


def test_a_product_in_a_data_type_takes_operands_of_two() -> None:
    half = tensor(2, 3, dtype="float16")
    assert result(R.matmul, half, tensor(3, 4), "float32") == "(2, 4) float32"
    assert refused(R.matmul, half, tensor(3, 4)).code == "RX0202"

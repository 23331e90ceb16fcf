"""What people write as operands becomes the expressions of the call."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import ObjectStructInfo, TensorStructInfo
from relaxscript.op import Operator
from relaxscript.opdef.operands import wrong_kind
from relaxscript_tests.op.inference import (
    OBJECT,
    dim,
    prim_var,
    ranked,
    refused,
    result,
    shape,
    tensor,
)

X = tensor(2, 3)
I8 = tensor(2, 3, dtype="int8")
B = tensor(2, 3, dtype="bool")


def second(operator: Operator, x: Any, y: Any) -> Any:
    return operator.build((x, y)).args[1]


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("x", "number", "dtype"),
    [
        (X, 1, "float32"),
        (X, 0.1, "float32"),
        (X, float("inf"), "float32"),
        (tensor(2, dtype="float16"), 2.5, "float16"),
        (tensor(2, dtype="bfloat16"), 3, "bfloat16"),
        (I8, -128, "int8"),
        (tensor(2, dtype="uint8"), 255, "uint8"),
        (B, True, "bool"),
    ],
)
def test_a_number_takes_the_data_type_of_the_tensor(x: Any, number: Any, dtype: str) -> None:
    operator = R.logical_and if dtype == "bool" else R.add
    for call in (operator.build((x, number)), operator.build((number, x))):
        constant = next(arg for arg in call.args if isinstance(arg, relax.Constant))
        assert (constant.dtype, constant.data.shape) == (dtype, ())
        assert constant.data == np.array(number, constant.data.dtype)


@pytest.mark.parametrize(
    ("x", "number", "fact"),
    [
        (I8, 1.5, "is the float 1.5, which int8 does not hold"),
        (I8, 1.0, "is the float 1.0, which int8 does not hold"),
        (I8, 128, "is the int 128, which int8 does not hold"),
        (tensor(2, dtype="uint8"), -1, "is the int -1, which uint8 does not hold"),
        (X, (1 << 24) + 1, "is the int 16777217, which float32 does not hold"),
        (X, 10**400, f"is the int {10**400}, which float32 does not hold"),
        (X, True, "is the bool True, which float32 does not hold"),
        (tensor(2, dtype="float16"), 1e6, "is the float 1000000.0, which float16 does not hold"),
        (B, 1, "is the int 1, which bool does not hold"),
    ],
)
def test_a_number_that_the_data_type_does_not_hold_is_refused(
    x: Any, number: Any, fact: str
) -> None:
    for error in (refused(R.add, x, number), refused(R.add, number, x)):
        assert error.fact == fact
        assert error.code == "RX0202"
    assert "R.astype" in str(refused(R.add, x, number).help)


def test_a_number_beside_a_tensor_of_unknown_data_type_is_refused() -> None:
    error = refused(R.add, ranked(1, "void"), 1.0)
    assert "the dtype it should have is not known" in error.fact
    assert error.help == 'write it with its dtype: `R.const(1.0, "float32")`'


def test_a_number_alone_has_its_natural_data_type() -> None:
    indices = R.take.build((X, 1, 0)).args[1]
    assert indices.dtype == "int64"
    condition = R.where.build((True, X, 0.0)).args[0]
    assert condition.dtype == "bool"


def test_numbers_without_any_tensor_have_their_natural_data_type() -> None:
    assert [arg.dtype for arg in R.add.build((1, 2)).args] == ["int64", "int64"]  # type: ignore[attr-defined]


def test_a_number_of_an_enumeration_is_a_number() -> None:
    class Three(IntEnum):
        THREE = 3

    assert second(R.add, X, Three.THREE).data == 3
    assert R.take.build((X, Three.THREE, 0)).args[1].dtype == "int64"  # type: ignore[attr-defined]


def test_a_number_beside_an_array_takes_its_data_type() -> None:
    assert second(R.add, np.ones(2, np.float16), 1).dtype == "float16"


def test_a_number_beside_a_prim_value_takes_its_data_type() -> None:
    assert second(R.add, prim_var("int32"), 1).dtype == "int32"


# ---------------------------------------------------------------- arrays and expressions


def test_an_array_becomes_a_constant() -> None:
    constant = second(R.add, X, np.ones((2, 3), np.float32))
    assert isinstance(constant, relax.Constant)
    assert result(R.add, X, np.ones((2, 3), np.float32)) == "(2, 3) float32"


def test_a_numpy_scalar_keeps_its_data_type() -> None:
    assert second(R.add, X, np.float32(1)).dtype == "float32"
    assert refused(R.add, X, np.float64(1)).code == "RX0202"


def test_an_array_of_objects_is_refused() -> None:
    error = refused(R.add, X, np.array(["a"]))
    assert error.fact.startswith("is an array whose")
    assert error.code == "RX0202"


def test_a_literal_scalar_expression_becomes_a_prim_value() -> None:
    assert isinstance(second(R.add, X, prim.const(1, "float32")), relax.PrimValue)


def test_a_scalar_expression_is_computed_by_a_call() -> None:
    call = second(R.add, tensor(2, dtype="int64"), dim("n") * 2)
    assert call.op.name == "relax.compute_prim_value"
    assert isinstance(call.args[0], relax.ShapeExpr)


@pytest.mark.parametrize("value", ["a", None, object(), [1, 2]])
def test_a_value_that_is_no_tensor_is_refused(value: Any) -> None:
    error = refused(R.add, X, value)
    assert error.operand == "x2"
    assert error.fact.endswith("not a tensor")
    assert error.code == "RX0201"


def test_a_prim_value_counts_as_a_tensor_of_rank_0_beside_a_tensor() -> None:
    assert result(R.add, X, prim_var("float32")) == "(2, 3) float32"
    assert refused(R.add, X, prim_var("int64")).code == "RX0202"


def test_prim_values_alone_are_not_for_operators_that_are_not_binary() -> None:
    p = prim_var("float32")
    for operator, operands in ((R.ewise_fma, (p, p, p)), (R.exp, (p,))):
        error = refused(operator, *operands)
        assert error.fact == "is a scalar, not a tensor"


def test_a_prim_value_is_no_matrix() -> None:
    assert refused(R.matmul, X, prim_var("float32")).fact == "is a scalar, not a tensor"


def test_an_object_must_be_cast() -> None:
    error = refused(R.add, X, OBJECT)
    assert error.operand == "x2"
    assert error.fact == "is an object of unknown kind, not a tensor"
    assert "`R.match_cast(x2, R.Tensor(...))`" in str(error.help)
    assert error.code == "RX0201"


def test_a_shape_is_no_tensor() -> None:
    error = refused(R.add, X, shape(2, 3))
    assert error.fact == "is a shape, not a tensor"
    assert error.help is None


# ---------------------------------------------------------------- tuples, shapes, texts, results


def test_an_operand_that_a_call_made_by_hand_leaves_out_is_none() -> None:
    assert wrong_kind("end", None, "prim").fact == "is None, not a scalar"


def test_a_list_of_tensors_becomes_a_tuple() -> None:
    (fields,) = R.concat.build(([X, np.zeros((1, 3), np.float32)],)).args
    assert isinstance(fields, relax.Tuple)
    assert isinstance(fields.fields[1], relax.Constant)


def test_a_member_of_a_list_that_is_no_tensor_is_named_by_its_place() -> None:
    error = refused(R.concat, [X, "a"])
    assert error.operand == "tensors[1]"
    assert error.fact == "is a Python `str`, not a tensor"


def test_what_is_no_tuple_is_refused_where_tensors_are_joined() -> None:
    assert refused(R.concat, X).fact == "is a tensor, not a tuple"


def test_a_shape_is_written_as_a_list_a_number_or_an_expression() -> None:
    for written in ([6], (6,), 6, np.int64(6), relax.ShapeExpr([6])):
        assert result(R.reshape, X, written) == "(6,) float32"
    assert result(R.zeros, (dim("n"), relax.PrimValue(2)), "int8") == "(n, 2) int8"


@pytest.mark.parametrize("value", ["a", None, 1.5, True])
def test_what_is_no_shape_is_refused(value: Any) -> None:
    error = refused(R.zeros, value, "float32")
    assert error.operand == "shape"
    assert error.fact.endswith("not a shape")


def test_a_tensor_is_no_shape() -> None:
    assert refused(R.zeros, X, "float32").fact == "is a tensor, not a shape"
    error = refused(R.zeros, OBJECT, "float32")
    assert "R.match_cast(shape, R.Shape(ndim=...))" in str(error.help)


@pytest.mark.parametrize("value", [1.5, True, "n", np.int8, np.ones(2, "int64")])
def test_a_dimension_that_is_no_integer_is_refused(value: Any) -> None:
    error = refused(R.zeros, (2, value), "float32")
    assert error.fact == f"has the dimension `{value!r}`, which is no integer"
    assert error.code == "RX0204"


def test_a_format_is_a_text() -> None:
    assert R.print.build((X,), {"format": relax.StringImm("{}")}).args[0].value == "{}"
    error = refused(R.print, X, format=3)
    assert (error.operand, error.fact) == ("format", "is a Python `int`, not a string")


def test_a_callee_is_a_function_or_its_name() -> None:
    info = TensorStructInfo((2,), "float32")
    assert isinstance(R.call_tir.build(("f", (), info)).args[0], relax.GlobalVar)
    assert isinstance(R.call_dps_packed.build(("f", (), info)).args[0], relax.ExternFunc)
    assert refused(R.call_tir, 3, (), info).fact == "is a Python `int`, not a function"
    assert (
        refused(R.call_dps_packed, 3, (), info).fact == "is a Python `int`, not a packed function"
    )


def test_the_description_of_results_may_be_an_annotation_that_is_not_called() -> None:
    call = R.call_pure_packed.build(("f",), {"sinfo_args": [ObjectStructInfo, ObjectStructInfo()]})
    assert len(call.sinfo_args) == 2


def test_a_description_that_is_no_struct_info_is_refused() -> None:
    error = refused(R.call_pure_packed, "f", sinfo_args="float32")
    assert error.fact == "is a Python `str`, not an annotation"
    assert error.code == "RX0204"


def test_one_argument_that_is_no_tuple_stands_for_a_tuple_of_one() -> None:
    info = TensorStructInfo((2, 3), "float32")
    call = R.call_dps_packed.build(("f", X, info))
    assert isinstance(call.args[1], relax.Tuple)
    assert call.args[1].fields == (X,)

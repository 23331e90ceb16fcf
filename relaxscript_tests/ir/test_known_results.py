"""What is known of a call's result stays known where variables take the places of others."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.ir.known_results import renamed_call
from relaxscript.ir.relax import Call, Constant, Expr, GlobalVar, Tuple, Var
from relaxscript.ir.struct_info import FuncStructInfo, TensorStructInfo
from relaxscript.ir.walk import substitute
from relaxscript.op import add, concat
from relaxscript.op.calls import call_tir

ROW = TensorStructInfo((2, 3), "float32")


def typed(call: Expr) -> Call:
    assert isinstance(call, Call)
    assert call.struct_info is call.known_info
    return call


def test_a_call_of_variables_of_which_the_same_is_known_has_the_result_that_it_had():
    x, y = Var("x", ROW), Var("y", ROW)
    call = typed(add(x, x))
    made = substitute(call, {x: y})
    assert made.args == (y, y)
    assert made.known_info is call.known_info


def test_the_same_is_known_of_tensors_of_the_same_numbers():
    x, y = Var("x", ROW), Var("y", TensorStructInfo((2, 3), "float32"))
    call = typed(add(x, x))
    assert substitute(call, {x: y}).known_info is call.known_info


@pytest.mark.parametrize(
    "info",
    [
        TensorStructInfo((1, 3), "float32"), TensorStructInfo((2, 3), "float64"),
        TensorStructInfo((2, 3), "float32", "llvm:1"), TensorStructInfo(None, "float32", ndim=2),
        TensorStructInfo(("n", 3), "float32"),
    ],
    ids=str,
)  # fmt: skip
def test_of_a_call_of_variables_of_which_something_else_is_known_nothing_is_known(info):
    x = Var("x", ROW)
    call = typed(add(x, Var("w", TensorStructInfo((1, 3), "float32"))))
    assert substitute(call, {x: Var("y", info)}).known_info is None


@pytest.mark.parametrize(("rows", "is_known"), [(2, True), (1, False)])
def test_the_same_is_known_of_a_constant_of_the_same_numbers(rows, is_known):
    x, value = Var("x", ROW), Constant(np.zeros((rows, 3), "float32"))
    call = typed(add(x, x))
    assert value.struct_info.dtype == "float32"
    assert (substitute(call, {x: value}).known_info is call.known_info) == is_known


def test_the_fields_of_a_tuple_are_operands():
    x, y, z = Var("x", ROW), Var("y", ROW), Var("z", TensorStructInfo((4, 3), "float32"))
    call = typed(concat(Tuple([x, x]), axis=0))
    assert substitute(call, {x: y}).known_info is call.known_info
    assert substitute(call, {x: z}).known_info is None


def test_a_function_may_give_something_else_by_now():
    x, y, f = Var("x", ROW), Var("y", ROW), GlobalVar("f")
    call = call_tir(f, Tuple([x]), ROW)
    typed(call)
    assert renamed_call(call, call.op, (f, Tuple([y]))).known_info is call.known_info
    local = Var("g", FuncStructInfo([ROW], ROW))
    before = Call(local, [x])
    typed(before)
    assert renamed_call(before, local, (y,)).known_info is None

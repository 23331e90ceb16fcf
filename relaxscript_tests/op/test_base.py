"""Shapes as values, scalars, printing, assertions, closures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.errors import OperandError, VMError
from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, ShapeStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.op import PlainContext
from relaxscript.runtime.values import Closure, Prim, Shape

from .inference import OBJECT, dim, held, infer, prim_var, ranked, refused, result, shape, tensor

n = dim("n")


# ---------------------------------------------------------------- shapes


def test_the_shape_of_a_tensor() -> None:
    assert result(R.shape_of, tensor("n", 2)) == "shape (n, 2)"
    assert result(R.shape_of, ranked(2)) == "shape of rank 2"
    assert result(R.shape_of, ranked(-1)) == "shape of rank -1"
    assert result(R.shape_of, held(shape("n"))) == "shape (n,)"
    found = R.shape_of(np.zeros((2, 0)))
    assert isinstance(found, Shape)
    assert found == (2, 0)


def test_a_shape_as_a_tensor_and_back() -> None:
    assert result(R.shape_to_tensor, shape("n", 2)) == "(2,) int64"
    assert result(R.shape_to_tensor, shape(ndim=-1)) == "rank 1 int64"
    assert result(R.tensor_to_shape, tensor(3, dtype="int64")) == "shape of rank 3"
    assert result(R.tensor_to_shape, tensor("n", dtype="int64")) == "shape of rank -1"
    assert result(R.tensor_to_shape, ranked(-1, "void")) == "shape of rank -1"
    found = R.tensor_to_shape(np.array([2, 3]))
    assert isinstance(found, Shape)
    assert found == (2, 3)


def test_a_tensor_that_is_no_shape() -> None:
    error = refused(R.tensor_to_shape, tensor(2, 3, dtype="int64"))
    assert error.message == "the dimensions of a shape are a tensor of rank 1"
    assert error.fact == "has shape (2, 3)"
    error = refused(R.tensor_to_shape, tensor(2, dtype="int32"))
    assert error.message == "the dimensions of a shape are int64"
    assert error.fix == {"expr": 'R.astype({}, "int64")'}


def test_a_negative_dimension_is_no_shape() -> None:
    with pytest.raises(VMError, match="cannot be negative"):
        R.tensor_to_shape(np.array([-1]))


def test_a_scalar_expression_is_computed() -> None:
    assert result(R.compute_prim_value, (n * 2,)) == "int64 n * 2"
    call = R.compute_prim_value.build(((n * 2,),))
    assert R.compute_prim_value.evaluate(call, [(-6,)]) == -6


@pytest.mark.parametrize(
    ("value", "fact"),
    [((n, n), "is a shape of 2 dimensions"), (shape(ndim=-1), "is a shape"), (shape("n"), "is a")],
)
def test_one_scalar_is_computed_at_a_time(value: Any, fact: str) -> None:
    error = refused(R.compute_prim_value, value)
    assert error.message == "one scalar expression is computed at a time"
    assert error.fact.startswith(fact)


def test_the_null_object() -> None:
    assert result(R.null_value) == "object"
    assert R.null_value.evaluate(R.null_value.build(()), []) is None


# ---------------------------------------------------------------- printing and asserting


def test_print_is_impure_and_gives_unit() -> None:
    assert not R.print.pure
    assert result(R.print, tensor(2), OBJECT, "text") == "[]"


def test_the_format_stands_before_the_values_in_the_call() -> None:
    x = tensor(2)
    call = R.print.build((x, x), {"format": "{} {}"})
    assert call.args[0].value == "{} {}"  # type: ignore[attr-defined]
    assert call.args[1:] == (x, x)
    assert R.print.operand_names(call) == ("format", "values[0]", "values[1]")


def test_print_prints(capsys: pytest.CaptureFixture[str]) -> None:
    x = tensor(2)
    plain = R.print.build((x, x))
    assert R.print.evaluate(plain, ["", np.array([1, 2]), 3]) == ()
    formatted = R.print.build((x, x), {"format": "x = {:.1f}, p = {}"})
    R.print.evaluate(formatted, ["x = {:.1f}, p = {}", np.array(2.0), Prim(3, "int32")])
    assert capsys.readouterr().out == "[1 2] 3\nx = 2.0, p = 3\n"


def test_a_condition_is_one_bool() -> None:
    assert result(R.assert_op, tensor(dtype="bool")) == "[]"
    assert result(R.assert_op, prim_var("bool"), tensor(2), "{}") == "[]"
    assert result(R.assert_op, ranked(-1, "void")) == "[]"
    error = refused(R.assert_op, tensor(2, dtype="bool"))
    assert error.message == "a condition is one bool, a tensor of rank 0"
    assert refused(R.assert_op, tensor()).fact == "has dtype float32"
    assert refused(R.assert_op, prim_var("int64")).fact == "has dtype int64"
    assert refused(R.assert_op, shape(2)).fact == "is a shape, not a tensor"


def test_an_assertion_that_holds_says_nothing() -> None:
    call = R.assert_op.build((tensor(dtype="bool"),))
    assert R.assert_op.evaluate(call, [np.array(True), ""]) == ()


@pytest.mark.parametrize(
    ("format", "args", "said"),
    [
        ("", [], r"Assertion Failed \[RX"),
        ("", [7], "Assertion Failed: 7"),
        ("x is {}", [7], "x is 7"),
    ],
)
def test_an_assertion_that_fails_says_why(format: str, args: list[int], said: str) -> None:
    call = R.assert_op.build((tensor(dtype="bool"), args, format))
    with pytest.raises(VMError, match=said) as caught:
        R.assert_op.evaluate(call, [np.array(False), format, *args])
    assert caught.value.diagnostic.code == "RX0611"


# ---------------------------------------------------------------- closures


def test_closures() -> None:
    call = R.make_closure.build((OBJECT, (tensor(2),)))
    assert result(R.make_closure, OBJECT, (tensor(2),)) == "object"
    closure = R.make_closure.evaluate(call, [lambda a, b: b - a, (5,)])
    info = ShapeStructInfo(None, 2)
    invoked = R.invoke_closure.build((OBJECT, (tensor(2),), info))
    assert R.invoke_closure.evaluate(invoked, [closure, (3,)]) == 2
    assert R.invoke_closure.infer(invoked, PlainContext()) is info
    assert not R.invoke_closure.pure
    assert R.invoke_pure_closure.pure


def test_several_descriptions_are_a_tuple_and_none_an_object() -> None:
    two = R.invoke_closure.build((OBJECT, (), [ShapeStructInfo(None, 2)] * 2))
    assert described_as(two) == "TupleStructInfo"
    assert described_as(R.invoke_closure.build((OBJECT, (), []))) == "ObjectStructInfo"


def described_as(call: relax.Call) -> str:
    return type(R.invoke_closure.infer(call, PlainContext())).__name__


def test_a_result_of_rank_0_is_no_numpy_scalar() -> None:
    assert isinstance(R.sum(np.ones(3)), np.ndarray)


def test_the_message_of_an_operand_error_names_the_operand() -> None:
    with pytest.raises(OperandError, match="`expr` is a shape, not a tensor"):
        R.shape_of.infer(R.shape_of.build((shape(2),)), PlainContext())


def test_closures_of_relax_functions_stay_closures() -> None:
    call = R.make_closure.build((OBJECT, (tensor(2),)))
    closure = R.make_closure.evaluate(call, [Closure("f", lambda a, b: a - b), (5,)])
    assert isinstance(closure, Closure)
    assert closure(7) == 2


def function(*operands: relax.Var) -> relax.Var:
    """A function that takes such operands and returns what the first one is."""
    infos = [operand.struct_info for operand in operands]
    return relax.Var("f", FuncStructInfo(infos, infos[0]))


def test_a_closure_is_what_is_left_of_its_function() -> None:
    callee = function(tensor("n", 2), tensor("n"), shape("n"))
    left = infer(R.make_closure, callee, (tensor(5), shape(5)))
    assert structural_equal(left, function(tensor(5, 2)).struct_info)


def test_of_a_packed_function_and_of_captured_values_in_a_variable_nothing_is_known() -> None:
    packed = relax.Var("f", FuncStructInfo.opaque_func())
    assert result(R.make_closure, packed, (tensor(2),)) == "object"
    call = relax.Call(relax.Op("relax.make_closure"), (function(tensor(2)), OBJECT))
    assert isinstance(R.make_closure.infer(call, PlainContext()), ObjectStructInfo)
    later = relax.GlobalVar("later")
    assert result(R.make_closure, later, (tensor(2),)) == "object"


def test_whether_a_captured_value_fits_may_be_left_to_the_run() -> None:
    call = R.make_closure.build((function(tensor(4)), (tensor("n"),)))
    context = PlainContext()
    R.make_closure.infer(call, context)
    assert [o.operand for o in context.deferred_checks] == ["args[0]"]


@pytest.mark.parametrize(
    ("value", "described"), [(n > 3, "bool"), (prim.Cast("float32", n), "float32")]
)
def test_a_scalar_expression_of_any_data_type_is_computed(value: Any, described: str) -> None:
    assert result(R.compute_prim_value, value).startswith(described)

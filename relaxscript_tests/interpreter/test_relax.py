"""The evaluator of Relax: what it does with nodes made by hand, and what it promises on its own."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import relaxscript.op as op
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.interpreter import Interpreter, RelaxClosure
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Constant,
    DataTypeImm,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import ObjectStructInfo, ShapeStructInfo, TensorStructInfo
from relaxscript.runtime import Prim, Shape, register_func, remove_global_func
from relaxscript.runtime.coercion import call_packed
from relaxscript.script import from_source, ir as I, relax as R

OBJECT = ObjectStructInfo()


def run(body, params=(), args=()):
    """The value of a function with this body."""
    function = Function(params, body, None, attrs={"global_symbol": "main"})
    return Interpreter(IRModule({"main": function}))["main"](*args)


def test_leaves_evaluate_to_what_they_say():
    assert run(PrimValue(5)) == 5
    assert run(PrimValue(prim.const(5, "int32"))) == Prim(5, "int32")
    assert run(PrimValue(0.5)) == 0.5
    assert run(StringImm("word")) == "word"
    assert run(DataTypeImm("int8")) == "int8"
    assert run(ShapeExpr([2, 3])) == Shape([2, 3])
    assert run(Tuple((PrimValue(1), Tuple(())))) == (1, ())
    assert run(TupleGetItem(Tuple((PrimValue(1), PrimValue(2))), 1)) == 2


def test_nested_expressions_need_no_normal_form():
    x = Var("x", TensorStructInfo((2,), "float32"))
    body = op.add(op.multiply(x, x), op.nn.relu(op.negative(x)))
    np.testing.assert_array_equal(run(body, [x], [np.array([1, -2], "float32")]), [1, 6])


def test_variables_evaluate_to_the_same_object_each_time():
    x, y = Var("x", OBJECT), Var("y", OBJECT)
    token = object()
    body = SeqExpr([BindingBlock([VarBinding(y, x)])], Tuple((x, y)))
    assert run(body, [x], [token]) == (token, token)


def test_the_operands_of_a_call_are_evaluated_from_left_to_right_after_the_callee():
    order = []
    register_func("test.note", lambda x: order.append(x) or (lambda *args: None))
    register_func("test.take", lambda *args: None)

    def note(number):
        return Call(ExternFunc("test.note"), (PrimValue(number),))

    try:
        run(Call(ExternFunc("test.take"), (note(1), Tuple((note(2), note(3))), note(4))))
    finally:
        remove_global_func("test.note")
        remove_global_func("test.take")
    assert order == [1, 2, 3, 4]


def test_variables_of_a_branch_are_gone_after_it():
    n = prim.Var("n", "int64")
    x = Var("x", TensorStructInfo(ndim=1))
    inner = Var("inner", OBJECT)
    cast = MatchCast(inner, x, TensorStructInfo((n,), "float32"))
    branch = SeqExpr([BindingBlock([cast])], PrimValue(0))
    body = Tuple((If(Constant(np.array(True)), branch, PrimValue(0)), inner))
    with pytest.raises(DiagnosticError, match="the variable `inner` is not defined here"):
        run(body, [x], [np.ones(2, "float32")])
    body = Tuple((If(Constant(np.array(True)), branch, PrimValue(0)), ShapeExpr([n])))
    with pytest.raises(DiagnosticError, match="the shape variable `n` is not defined here"):
        run(body, [x], [np.ones(2, "float32")])


def test_a_condition_must_be_a_bool_scalar():
    c = Var("c", OBJECT)
    body = If(c, PrimValue(1), PrimValue(0))
    assert run(body, [c], [np.array(True)]) == 1
    for wrong in (np.array([True]), np.array(1), 1):
        with pytest.raises(VMError, match="must be a Bool scalar"):
            run(body, [c], [wrong])


def test_every_variable_must_be_what_it_says():
    x = Var("x", OBJECT)
    y = Var("y", TensorStructInfo((2,), "float32"))
    body = SeqExpr([BindingBlock([VarBinding(y, x)])], y)
    assert run(body, [x], [np.ones(2, "float32")]).shape == (2,)
    with pytest.raises(VMError, match=r"`y\.shape\[0\]` is 3; must be 2"):
        run(body, [x], [np.ones(3, "float32")])


def test_the_result_must_be_what_the_function_declares():
    x = Var("x", OBJECT)
    function = Function([x], x, ShapeStructInfo(ndim=2), attrs={"global_symbol": "f"})
    f = Interpreter(IRModule({"f": function}))["f"]
    assert f(Shape([1, 2])) == (1, 2)
    with pytest.raises(VMError, match="the length of the result of `f` is 3; must be 2"):
        f(Shape([1, 2, 3]))


def test_only_functions_can_be_called():
    x = Var("x", OBJECT)
    with pytest.raises(VMError, match="an int cannot be called"):
        run(Call(x, ()), [x], [5])


def test_a_global_name_that_the_module_has_not_is_named():
    with pytest.raises(VMError, match="the module has no function `g`"):
        run(Call(GlobalVar("g"), ()))


def test_a_single_function_is_a_module_of_its_own():
    x = Var("x", OBJECT)
    assert Interpreter(Function([x], x, attrs={"global_symbol": "same"})).same(5) == 5


@I.ir_module
class Deep:
    @R.function
    def down(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Deep
        if R.less_equal(n, R.const(0, "int64")):
            r = n
        else:
            r = cls.down(R.subtract(n, R.const(1, "int64")))
        return r

    @R.function(pure=False)
    def through(f: R.Callable) -> R.Object:
        r = f(R.str("again"))
        return r


@pytest.mark.slow
def test_recursion_leaves_the_limit_of_python_alone():
    before = sys.getrecursionlimit()
    assert Interpreter(Deep).down(np.array(before)) == 0
    assert sys.getrecursionlimit() == before


def test_recursion_through_packed_functions_ends_with_an_error():
    interpreter = Interpreter(Deep)

    def again(word):
        return interpreter.through(again)

    with pytest.raises(VMError, match="nest deeper than Python allows") as caught:
        interpreter.through(again)
    assert caught.value.code == "RX0609"


def test_items_attributes_and_call_give_the_same_function():
    interpreter = Interpreter(Deep)
    assert isinstance(interpreter["down"], RelaxClosure)
    assert interpreter.call("down", [np.array(1)]) == interpreter.down(np.array(1)) == 0


def test_arguments_in_other_forms_are_converted():
    x = Var("x", ShapeStructInfo(ndim=2))
    assert run(x, [x], [[2, 3]]) == Shape([2, 3])
    masked = Var("t", TensorStructInfo((2,), "float32"))
    with pytest.raises(VMError, match="`t`: a masked array is no tensor"):
        run(masked, [masked], [np.ma.masked_array(np.ones(2, "float32"))])


@I.ir_module
class Names:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return x

    @R.function(private=True)
    def hidden(x: R.Tensor((2,), "float32")):
        return x

    @R.function(pure=False)
    def calls(x: R.Tensor((2,), "float32")):
        y = R.call_packed("test.again", x, sinfo_args=R.Object)
        return y


def test_functions_that_are_not_public_are_not_found():
    interpreter = Interpreter(Names)
    with pytest.raises(VMError, match="there is no function `mian`") as caught:
        interpreter["mian"]
    assert caught.value.code == "RX0607"
    assert "did you mean `main`?" in str(caught.value)
    with pytest.raises(VMError, match="`hidden` is private"):
        interpreter["hidden"]


def test_calls_through_packed_functions_may_not_nest_for_ever():
    interpreter = Interpreter(Names)
    register_func("test.again", lambda x: interpreter.calls(x))
    try:
        with pytest.raises(VMError, match="nest deeper than Python allows") as caught:
            interpreter.calls(np.ones(2, "float32"))
        assert caught.value.code == "RX0609"
        assert isinstance(caught.value.__cause__, RecursionError)
    finally:
        remove_global_func("test.again")


def test_a_prim_func_that_the_module_lacks_is_named():
    info = TensorStructInfo((2,), "float32")
    x = Var("x", info)
    call = Call(Op("relax.call_tir"), (GlobalVar("gone"), Tuple([x])), None, (info,))
    with pytest.raises(VMError, match="the module has no PrimFunc `gone`"):
        run(call, [x], [np.ones(2, "float32")])


def test_an_error_of_a_packed_function_that_is_a_value_is_told():
    with pytest.raises(VMError, match="`f` raised ZeroDivisionError: division by zero") as caught:
        call_packed("f", lambda: 1 / 0, [])
    assert caught.value.code == "RX0604"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_interpreter_is_shown_by_the_functions_of_its_module():
    module = from_source("@R.function\ndef main(x: R.Object):\n    return x\n")
    assert repr(Interpreter(module)) == "<Interpreter of main>"

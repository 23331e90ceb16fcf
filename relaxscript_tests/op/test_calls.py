"""Calls of PrimFuncs and packed functions: their forms, their results, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript as rx
import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.ir import relax
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import ArgumentError, PlainContext
from relaxscript_tests.end_to_end.executors import every_executor

from .inference import OBJECT, described, dim, refused, result, shape, tensor

INFO = TensorStructInfo((dim("n"), 2), "float32")
F = relax.GlobalVar("f")
X = tensor("n", 2)


def test_the_form_of_call_tir() -> None:
    call = R.call_tir.build((F, [X], INFO), {"tir_vars": [dim("n")]})
    assert call.args[0] is F
    assert call.args[1].fields == (X,)  # type: ignore[attr-defined]
    assert call.args[2].values == (dim("n"),)  # type: ignore[attr-defined]
    assert call.sinfo_args == (INFO,)
    assert call.attrs is None


def test_the_integers_are_left_out_where_there_are_none() -> None:
    assert len(R.call_tir.build((F, (X,), INFO)).args) == 2


def test_one_result_is_a_tensor_and_several_are_a_tuple() -> None:
    assert result(R.call_tir, F, (X,), INFO) == "(n, 2) float32"
    assert result(R.call_tir, F, (X,), [INFO]) == "(n, 2) float32"
    assert result(R.call_tir, F, (X,), [INFO, INFO]) == "[(n, 2) float32; (n, 2) float32]"
    assert result(R.call_tir, F, (X,), TupleStructInfo([INFO])) == "[(n, 2) float32]"
    assert result(R.call_tir, F, (X,), []) == "[]"
    assert result(R.call_dps_packed, "f", (X,), [INFO, INFO]) == "[(n, 2) float32; (n, 2) float32]"


@pytest.mark.parametrize("operator", [R.call_tir, R.call_dps_packed])
@pytest.mark.parametrize(
    ("info", "fact"),
    [
        (TensorStructInfo(None, "float32", None, 2), "does not say the dimensions of a tensor"),
        (TensorStructInfo((2,), "void"), "does not say the dtype of a tensor"),
        (ObjectStructInfo(), "describes an object of unknown kind"),
        ([INFO, FuncStructInfo([], INFO)], "describes a function"),
        (None, "describes no result"),
    ],
)
def test_results_that_could_not_be_allocated(operator: R.Operator, info: Any, fact: str) -> None:
    error = refused(operator, F if operator is R.call_tir else "f", (X,), info)
    assert (error.operand, error.fact, error.code) == ("out_sinfo", fact, "RX0204")
    assert error.help == 'write for example `out_sinfo=R.Tensor((n, 64), "float32")`'


def test_what_is_called_by_call_tir_is_a_name_of_the_module() -> None:
    error = refused(R.call_tir, OBJECT, (X,), INFO)
    assert error.fact == "is an object of unknown kind"
    assert error.message == "`R.call_tir` calls a PrimFunc of the module by its name"
    assert error.code == "RX0201"


def test_arguments_are_tensors() -> None:
    error = refused(R.call_tir, F, (X, shape(2)), INFO)
    assert (error.operand, error.fact) == ("args[1]", "is a shape, not a tensor")
    error = refused(R.call_tir, F, (OBJECT,), INFO)
    assert "R.match_cast(args[0], R.Tensor(...))" in str(error.help)


def test_the_integers_are_a_shape() -> None:
    assert refused(R.call_tir, F, (X,), INFO, X).operand == "tir_vars"


def test_a_tuple_in_a_variable_becomes_a_literal_in_normal_form() -> None:
    held = relax.Var("t", TupleStructInfo([INFO, INFO]))
    call = R.call_tir.normalize(R.call_tir.build((F, held, INFO)))
    assert [field.index for field in call.args[1].fields] == [0, 1]  # type: ignore[attr-defined]
    assert R.call_tir.normalize(call) is call
    other = R.call_tir.build((F, (X,), INFO)).replace(args=(F, X))
    assert R.call_tir.normalize(other) is other


def test_results_are_allocated_and_written() -> None:
    calls: list[Any] = []

    def f(x: Any, n: int, y: Any) -> None:
        calls.append(n)
        y[...] = x * n

    out = TensorStructInfo((2,), "float32")
    call = R.call_tir.build((F, (X,), out, (3,)))
    found = R.call_tir.evaluate(call, [f, (np.array([1, 2], np.float32),), (3,)], out)
    assert found.tolist() == [3, 6]
    assert found.dtype == np.float32
    assert calls == [3]


@pytest.mark.parametrize("operator", [R.call_tir, R.call_dps_packed])
def test_several_results_come_as_the_tuple_that_is_described(operator: R.Operator) -> None:
    a, b = TensorStructInfo((2,), "float32"), TensorStructInfo((), "int8")

    def f(x: Any, y: Any, z: Any) -> None:
        y[...], z[...] = x, 7

    x = np.ones(2, np.float32)
    for sinfo in (TupleStructInfo([a, b]), (a, b), [a, b]):
        call = operator.build((F if operator is R.call_tir else "f", (X,), [a, b]))
        y, z = operator.evaluate(call, [f, (x,)], sinfo)
        assert (y.tolist(), z.tolist(), z.dtype) == ([1, 1], 7, np.int8)
    assert operator.function(f, (x,), (TupleStructInfo([a, b]),))[1] == 7
    nested = operator.function(f, (x,), TupleStructInfo([TupleStructInfo([a]), b]))
    assert type(nested[0]) is tuple


# ---------------------------------------------------------------- packed functions


def test_packed_functions_are_called_by_name_or_value() -> None:
    opaque = relax.Var("f", FuncStructInfo.opaque_func())
    for callee in ("f", relax.ExternFunc("f"), opaque, OBJECT):
        assert result(R.call_dps_packed, callee, (X,), INFO) == "(n, 2) float32"
        assert result(R.call_pure_packed, callee, X, sinfo_args=INFO) in (
            "(n, 2) float32",
            "object",
        )


@pytest.mark.parametrize("operator", [R.call_dps_packed, R.call_pure_packed])
def test_what_is_no_packed_function(operator: R.Operator) -> None:
    def call(callee: Any) -> Any:
        if operator is R.call_dps_packed:
            return refused(operator, callee, (X,), INFO)
        return refused(operator, callee, X, sinfo_args=INFO)

    error = call(relax.Var("g", FuncStructInfo([INFO], INFO)))
    assert error.fact == "is a Relax function, not a packed function"
    assert error.help == "call it directly: `func(...)`"
    assert call(X).fact == "is a tensor, not a packed function"


def test_a_pure_call_describes_its_result() -> None:
    error = refused(R.call_pure_packed, "f", X, sinfo_args=[])
    assert error.message == "`R.call_pure_packed` describes its result"
    with pytest.raises(ArgumentError, match=r"`R.call_pure_packed` needs `sinfo_args`"):
        R.call_pure_packed.build(("f", X))


def test_a_packed_function_may_derive_its_result() -> None:
    def derive(call: relax.Call, context: Any = None) -> StructInfo:
        return call.args[0].struct_info

    f = relax.Var("f", FuncStructInfo.opaque_func(derive_func=derive))
    assert result(R.call_pure_packed, f, X, sinfo_args=OBJECT.struct_info) == "(n, 2) float32"


def test_several_descriptions_of_a_pure_call_are_a_tuple() -> None:
    call = R.call_pure_packed.build(("f", X), {"sinfo_args": [INFO, INFO]})
    info = R.call_pure_packed.infer(call, PlainContext())
    assert described(info) == "[(n, 2) float32; (n, 2) float32]"


def test_the_result_of_a_packed_function_is_passed_on_untouched() -> None:
    result = object()
    call = R.call_pure_packed.build(("f", X), {"sinfo_args": INFO})
    assert R.call_pure_packed.evaluate(call, [lambda x: result, np.ones(2)]) is result


def test_call_packed_is_a_call_of_an_extern_func() -> None:
    call = R.call_packed("f", X, 3, "text", np.float32(1), sinfo_args=INFO, axis=1)
    assert isinstance(call, relax.Call)
    assert isinstance(call.op, relax.ExternFunc)
    kinds = [type(arg).__name__ for arg in call.args]
    assert kinds == ["Var", "PrimValue", "StringImm", "Constant"]
    assert call.sinfo_args == (INFO,)
    assert call.attrs == {"axis": 1}


def test_call_packed_takes_tuples_data_types_and_scalar_expressions() -> None:
    call = R.call_packed("f", (X, dim("n")), DataType("int8"), dim("n") * 2)
    assert isinstance(call, relax.Call)
    first, second, third = call.args
    assert isinstance(first, relax.Tuple)
    assert isinstance(first.fields[1], relax.Call)
    assert isinstance(second, relax.DataTypeImm)
    assert isinstance(third, relax.Call)
    assert call.attrs is None


def test_what_stands_for_others_shows_its_name() -> None:
    assert repr(R.call_packed) == "R.call_packed"
    assert R.linear.__doc__
    assert [p.name for p in R.linear.parameters] == ["data", "weight", "bias", "out_dtype"]


def test_call_packed_names_the_argument_that_is_no_value() -> None:
    from relaxscript.errors import DiagnosticError, OperandError

    with pytest.raises(OperandError, match=r"`args\[1\]` is a Python `object`, not a value"):
        R.call_packed.build(("f", X, object()))
    with pytest.raises(DiagnosticError, match=r"`R.call_packed` cannot take these operands"):
        R.call_packed("f", X, object())
    with pytest.raises(ArgumentError, match=r"`R.call_packed` needs `func`"):
        R.call_packed.build((), {"axis": 1})


def test_a_dps_call_says_which_tuple_it_needs() -> None:
    call = R.call_dps_packed.build(("f", (X,), INFO)).replace(args=(relax.ExternFunc("f"), X))
    from relaxscript.errors import OperandError

    with pytest.raises(OperandError, match="`args` is a tensor, not a tuple"):
        R.call_dps_packed.infer(call, PlainContext())


PYTHON_FUNCTION = """
@R.function
def main(x: R.Tensor((2, 3), "float32")):
    y = R.call_py_func("test.double_of", x, out_sinfo=R.Tensor((2, 3), "float32"))
    pair = R.call_py_func(
        "test.pair_of", y, x, out_sinfo=[R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")]
    )
    return pair
"""


def test_a_python_function_is_called_by_its_name() -> None:
    rx.register_func("test.double_of", lambda x: 2 * x)
    rx.register_func("test.pair_of", lambda x, y: (x, y))
    try:
        module = rx.IRModule({"main": rx.from_source(PYTHON_FUNCTION)})
        x = np.ones((2, 3), "float32")
        twice, once = rx.jit(module).main(x)
        assert (twice.max(), once.max()) == (2, 1)
        assert "R.call_pure_packed(" in module.script()
    finally:
        for name in ("test.double_of", "test.pair_of"):
            rx.remove_global_func(name)


DYNAMIC = """
@I.ir_module
class M:
    @T.prim_func
    def add_n(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), n: T.int64):
        for i in range(4):
            with T.block("y"):
                v = T.axis.spatial(4, i)
                y[v] = x[v] + T.Cast("float32", n)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.builtin.alloc_tensor((4,), "float32", 0)
        _ = R.vm.call_tir_dyn(M.add_n, (x, y, R.shape([3])))
        return y
"""


@every_executor
def test_a_prim_func_writes_into_the_tensors_it_is_called_on(load: Any) -> None:
    run = load(rx.from_source(DYNAMIC)).main
    assert run(np.arange(4, dtype="float32")).tolist() == [3, 4, 5, 6]


def test_a_dynamic_call_ends_with_the_shape_of_its_integers() -> None:
    with pytest.raises(rx.DiagnosticError, match="the last of them is the shape") as caught:
        R.vm.call_tir_dyn("f", (tensor(4), tensor(4)))
    assert "R.shape([])" in str(caught.value)

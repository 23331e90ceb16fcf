"""Derivation of StructInfo, rule by rule of the spec."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import op
from relaxscript.analysis import Context, call_purity, derive_struct_info, function_struct_info
from relaxscript.errors import DiagnosticError, InternalError, OperandError
from relaxscript.ir import IRModule, structural_equal
from relaxscript.ir.node import node
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import Buffer, Evaluate, PrimFunc


def tensor(*dims, dtype="float32"):
    return TensorStructInfo(dims, dtype)


n, m = PrimVar("n", "int64"), PrimVar("m", "int64")
x = Var("x", tensor(n, 4))


@pytest.mark.parametrize(
    ("expr", "info"),
    [
        (x, tensor(n, 4)),
        (Constant(np.zeros((2, 3), "int8")), tensor(2, 3, dtype="int8")),
        (PrimValue(3), PrimStructInfo(value=3)),
        (StringImm("s"), ObjectStructInfo()),
        (DataTypeImm("int8"), ObjectStructInfo()),
        (Tuple([x, PrimValue(3)]), TupleStructInfo([tensor(n, 4), PrimStructInfo(value=3)])),
        (ShapeExpr([n, 2]), ShapeStructInfo([n, 2])),
        (TupleGetItem(Tuple([x, ShapeExpr([2])]), 1), ShapeStructInfo([2])),
        (
            If(Var("c", tensor(dtype="bool")), x, Var("y", tensor(m, 4))),
            TensorStructInfo(None, "float32", ndim=2),
        ),
        (SeqExpr([], x), tensor(n, 4)),
        (op.exp(x), tensor(n, 4)),
        (Call(ExternFunc("f"), [x]), ObjectStructInfo()),
        (Call(ExternFunc("f"), [x], None, [tensor(2)]), tensor(2)),
        (
            Call(ExternFunc("f"), [x], None, [tensor(2), tensor(3)]),
            TupleStructInfo([tensor(2), tensor(3)]),
        ),
    ],
)  # fmt: skip
def test_each_kind_of_expression_has_its_rule(expr, info):
    assert structural_equal(expr.struct_info, info)


def test_a_derived_struct_info_is_kept():
    call = op.exp(x)
    assert call.struct_info is call.struct_info


def test_an_unknown_kind_of_expression_is_our_mistake():
    @node
    class Strange(Expr):
        pass

    with pytest.raises(InternalError, match="there is no derivation rule for Strange"):
        derive_struct_info(Strange())


def function(param, result):
    return Var("f", FuncStructInfo([param], result))


def test_a_call_substitutes_the_dimensions_of_its_arguments():
    call = Call(function(tensor(n, 4), tensor(4, n)), [Var("y", tensor(m, 4))])
    assert structural_equal(call.struct_info, tensor(4, m))


def test_an_argument_that_cannot_fit_is_refused():
    with pytest.raises(DiagnosticError, match="argument 1 does not fit the function's parameter"):
        _ = Call(function(tensor(n, 4), tensor(n)), [Var("y", tensor(m, 5))]).struct_info


def test_an_argument_that_may_fit_is_a_deferred_check():
    found = []
    context = Context(require=found.append)
    derive_struct_info(Call(function(tensor(7, 4), tensor(7)), [x]), context)
    assert [(o.operand, o.relation) for o in found] == [("argument 1", "fits")]


def test_the_first_scalar_of_a_name_may_have_any_value():
    found = []
    context = Context(require=found.append)
    named, unknown = PrimStructInfo("int64", n), Var("i", PrimStructInfo("int64"))
    callee = Var("f", FuncStructInfo([named, named], ObjectStructInfo()))
    derive_struct_info(Call(callee, [unknown, unknown]), context)
    assert [o.operand for o in found] == ["argument 2"]


def test_dimensions_that_stay_unknown_are_erased():
    result = TensorStructInfo([PrimVar("k", "int64")], "float32")
    callee = Var("f", FuncStructInfo([tensor(n, 4)], result))
    context = Context()
    context.shape_scope = {n}
    info = derive_struct_info(Call(callee, [x]), context)
    assert (info.shape, info.ndim, info.dtype) == (None, 1, "float32")


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (
            Call(function(tensor(n, 4), tensor(n)), [x, x]),
            "the function takes 1 argument, not 2",
        ),
        (Call(x, [x]), "only a function can be called"),
        (TupleGetItem(Tuple([x]), 1), "the tuple has no field 1"),
        (TupleGetItem(x, 0), "only a tuple can be indexed by a constant"),
        (Tuple([Op("relax.add")]), "the operator `relax.add` may only be called"),
        (GlobalVar("f"), "the module has no function `f`"),
    ],
)
def test_what_has_no_struct_info_says_why(expr, message):
    with pytest.raises(OperandError, match=message):
        derive_struct_info(expr)


def test_a_global_variable_is_what_its_module_says():
    f = Function([x], SeqExpr([], x), tensor(n, 4))
    mod = IRModule({"f": f})
    info = Context(mod).struct_info(GlobalVar("f"))
    assert structural_equal(info, FuncStructInfo([tensor(n, 4)], tensor(n, 4)))
    assert structural_equal(mod.struct_info("f"), info)


def test_the_declared_result_is_the_result():
    f = Function([x], SeqExpr([], x), ObjectStructInfo())
    assert isinstance(function_struct_info(f).ret, ObjectStructInfo)
    g = Function([x], SeqExpr([], x))
    assert structural_equal(function_struct_info(g), FuncStructInfo([x.struct_info], x.struct_info))


def test_a_prim_func_takes_tensors_and_scalars_and_is_impure():
    a, k = PrimVar("a", "handle"), PrimVar("k", "int64")
    func = PrimFunc([a, k], Evaluate(0), None, {a: Buffer("A", (n, 4), "int8")})
    info = function_struct_info(func)
    assert structural_equal(info.params[0], tensor(n, 4, dtype="int8"), map_free_vars=True)
    assert info.params[1].dtype == "int64"
    assert (info.ret.fields, info.purity) == ((), False)


def test_purity_is_that_of_the_operator_or_the_callee():
    assert call_purity(op.exp(x))
    assert not call_purity(op.print(x))
    assert not call_purity(Call(ExternFunc("f"), [x]))
    assert call_purity(Call(function(tensor(n), tensor(n)), [x]))
    impure = Var("f", FuncStructInfo([tensor(n)], tensor(n), False))
    assert not call_purity(Call(impure, [x]))


def test_the_condition_of_an_if_leaves_the_least_upper_bound():
    c = Var("c", tensor(dtype="bool"))
    info = If(c, x, ShapeExpr([2])).struct_info
    assert isinstance(info, ObjectStructInfo)

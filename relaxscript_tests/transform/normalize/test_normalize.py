"""Functions that were made by hand come into normal form."""

from __future__ import annotations

import pytest

from relaxscript import op
from relaxscript.analysis import ill_formed
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Function,
    GlobalVar,
    If,
    MatchCast,
    SeqExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import ObjectStructInfo, TensorStructInfo
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript.transform import Normalize


def function(body, **options):
    x = Var("x", TensorStructInfo((4,), "float32"))
    return Function([x], body(x), **options)


def module(**functions):
    return IRModule({k: f.with_attr("global_symbol", k) for k, f in functions.items()})


def test_operands_are_bound_and_results_typed():
    made = Normalize()(module(main=function(lambda x: op.exp(op.add(x, x)))))
    expected = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        add = R.add(x, x)
        gv = R.exp(add)
        return gv
""")
    assert_same(made, expected)
    assert Normalize()(made) is made


def test_functions_without_declared_result_are_typed_before_their_callers():
    mod = module(main=function(lambda x: Call(GlobalVar("zlast"), [x])), zlast=function(op.exp))
    made = Normalize()(mod)
    assert repr(made["main"].ret_struct_info) == 'R.Tensor((4,), "float32")'


def test_recursion_without_a_declared_result_is_an_error():
    mod = module(main=function(lambda x: Call(GlobalVar("main"), [x])))
    with pytest.raises(DiagnosticError, match="`main` is recursive and has no return annotation"):
        Normalize()(mod)


def test_operands_that_do_not_go_together_are_an_error():
    y = Var("y", TensorStructInfo((3,), "float32"))
    x = Var("x", TensorStructInfo((4,), "float32"))
    with pytest.raises(DiagnosticError, match="RX0203"):
        Normalize()(module(main=Function([x, y], op.add(x, y))))


def test_variables_of_which_nothing_is_known_get_the_struct_info_of_their_value():
    a, b, c = Var("a"), Var("b"), Var("c")
    info = TensorStructInfo(dtype="float32", ndim=1)

    def body(x):
        casts = [VarBinding(a, op.add(x, x)), MatchCast(b, a, info)]
        return SeqExpr([BindingBlock([*casts, VarBinding(c, op.exp(op.exp(b)))])], c)

    made = Normalize()(module(main=function(body, ret_struct_info=ObjectStructInfo())))
    expected = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Object:
        a = R.add(x, x)
        b = R.match_cast(a, R.Tensor(dtype="float32", ndim=1))
        exp = R.exp(b)
        c = R.exp(exp)
        return c
""")
    assert_same(made, expected)


def test_what_is_bound_in_a_branch_is_described_there():
    a, b = Var("a"), Var("b")
    flag = Var("flag", TensorStructInfo((), "bool"))

    def branch(var, value):
        return SeqExpr([BindingBlock([VarBinding(var, value)])], var)

    x = Var("x", TensorStructInfo((4,), "float32"))
    body = If(flag, branch(a, op.exp(x)), branch(b, op.exp(op.exp(x))))
    made = Normalize()(module(main=Function([flag, x], body)))
    assert ill_formed(made) == ()


def test_what_only_well_formedness_forbids_is_left_for_it_to_find():
    mod = module(main=function(lambda x: op.print(x, format="{}"), is_pure=True))
    assert [d.code for d in ill_formed(Normalize()(mod))] == ["RX0401"]

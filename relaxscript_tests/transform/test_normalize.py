"""Functions that were made by hand come into normal form."""

from __future__ import annotations

import pytest

from relaxscript import op
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Function, GlobalVar, Var
from relaxscript.ir.struct_info import TensorStructInfo
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
    with pytest.raises(
        DiagnosticError, match="`main` is recursive and does not declare its result"
    ):
        Normalize()(mod)


def test_operands_that_do_not_go_together_are_an_error():
    y = Var("y", TensorStructInfo((3,), "float32"))
    x = Var("x", TensorStructInfo((4,), "float32"))
    with pytest.raises(DiagnosticError, match="RX0203"):
        Normalize()(module(main=Function([x, y], op.add(x, y))))

"""What an ill-formed program meets on its way: its own mistakes, in its printed text."""

from __future__ import annotations

import pytest

from relaxscript import analysis, build, op, transform
from relaxscript.analysis.well_formedness import diagnose_ill_formed
from relaxscript.errors import Diagnostic, DiagnosticError, InternalError, OperandError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Expr,
    Function,
    GlobalVar,
    SeqExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.transform import PassContext

F4 = TensorStructInfo((4,), "float32")


def module_of(value: Expr, x: Var) -> IRModule:
    """A module whose `main` returns a value that a variable of type `F4` holds."""
    v = Var("v", F4)
    body = SeqExpr([BindingBlock([VarBinding(v, value)])], v)
    return IRModule({"main": Function([x], body, F4).with_attr("global_symbol", "main")})


X = Var("x", F4)
WRONG = {
    "unknown function": (Call(GlobalVar("nobody"), [X]), "RX0302", "cls.nobody"),
    "unknown variable": (op.add(X, Var("y", F4)), "RX0302", "y"),
    "no function": (Call(X, [X]), "RX0201", "x"),
    "operator as value": (Call(op.add.op, [op.add.op, X]), "RX0309", "R.add"),
}


@pytest.mark.parametrize(("value", "code", "culprit"), WRONG.values(), ids=WRONG)
def test_building_says_what_is_wrong_in_the_printed_text(value, code, culprit):
    with pytest.raises(DiagnosticError) as caught:
        build(module_of(value, X))
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.span is not None
    assert found.span.text.startswith(culprit)


def test_a_pass_that_cannot_do_with_it_says_it_as_building_does():
    with pytest.raises(DiagnosticError) as caught:
        transform.RemoveRedundantChecks()(module_of(Call(GlobalVar("nobody"), [X]), X))
    (found,) = caught.value.diagnostics
    assert found.code == "RX0302"
    assert found.span is not None
    assert found.span.text == "cls.nobody"


def test_a_pass_that_does_not_look_at_what_is_wrong_does_its_work():
    kept = transform.KillAfterLastUse()(module_of(Call(GlobalVar("nobody"), [X]), X))
    assert "cls.nobody(x)" in kept.script()


def test_what_a_pass_of_ones_own_raises_stays_what_it_is():
    def stop(mod: IRModule, ctx: PassContext) -> IRModule:
        raise LookupError("mine")

    stopped = transform.module_pass(opt_level=0, name="Stop")(stop)
    with pytest.raises(LookupError, match="mine"):
        stopped(module_of(Call(GlobalVar("nobody"), [X]), X))


def test_an_error_with_a_place_or_about_options_stays_what_it_is():
    ill = module_of(Call(GlobalVar("nobody"), [X]), X)
    with pytest.raises(DiagnosticError) as caught, diagnose_ill_formed(ill):
        raise DiagnosticError(Diagnostic("RX0703", "there is no such option", None))
    assert caught.value.diagnostics[0].code == "RX0703"


def test_an_internal_error_on_a_well_formed_program_is_ours():
    with (
        pytest.raises(InternalError, match="ours"),
        diagnose_ill_formed(module_of(op.add(X, X), X)),
    ):
        raise InternalError("ours")


def test_operands_are_refused_with_a_code_even_where_no_program_is_to_blame():
    well = module_of(op.add(X, X), X)
    assert analysis.well_formed(well)
    with pytest.raises(DiagnosticError) as caught, diagnose_ill_formed(well):
        raise OperandError("x", "is odd", message="no", code="RX0203")
    assert caught.value.diagnostics[0].code == "RX0203"


def test_a_diagnostic_prints_as_it_is_shown():
    (found,) = analysis.ill_formed(module_of(Call(GlobalVar("nobody"), [X]), X))
    assert str(found).startswith("error[RX0302]: the module has no function `nobody`\n")
    assert "<" in found._repr_html_()

"""The criteria on programs that were built: `well_formed`, and places in the printed text.

The pairs of programs are those of `analysis/test_formation.py`, each an offender and its twin that
keeps the rule.
"""

from __future__ import annotations

import pytest

import relaxscript as relax
from relaxscript.analysis import ill_formed, well_formed
from relaxscript.errors import render
from relaxscript_tests.analysis.test_well_formedness import CASES, offender

from .rules import RULES, accepts, rejects

ALL = [rule for rule in RULES if rule.startswith("criterion ")]
pairs = pytest.mark.parametrize(
    ("code", "make"), [case[:2] for case in CASES], ids=[f"{c[0]}-{c[1].__name__}" for c in CASES]
)


@accepts(*ALL)
@pairs
def test_a_built_program_that_keeps_the_criterion_is_well_formed(code, make):
    assert well_formed(offender(make)[1], check_struct_info=False)


@rejects(*ALL)
@pairs
def test_a_built_program_that_breaks_the_criterion_is_refused_in_its_printed_text(code, make):
    wrong = offender(make)[0]
    assert not well_formed(wrong)
    (found,) = ill_formed(wrong)
    assert found.code == code
    assert found.span.filename == "<script>"
    assert found.span.source.text == wrong.script()
    first = render([found]).splitlines()[0]
    assert first == f"error[{code}]: {found.message}"


F4 = relax.TensorStructInfo((4,), "float32")


@rejects("criterion 7.3")
def test_a_builder_refuses_a_choice_in_a_dataflow_block():
    x, c = relax.Var("x", F4), relax.Var("c", relax.TensorStructInfo((), "bool"))
    branch = relax.SeqExpr([], x)
    bb = relax.BlockBuilder()
    with pytest.raises(relax.DiagnosticError, match="RX0307"):
        with bb.function("main", [x, c]), bb.dataflow():
            bb.emit(relax.If(c, branch, branch))


@rejects("criterion 1")
def test_a_builder_refuses_a_result_that_belongs_to_a_dataflow_block():
    x = relax.Var("x", F4)
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.exp(x))
        with pytest.raises(relax.DiagnosticError, match="RX0301"):
            bb.emit_func_output(y)
        bb.emit_func_output(x)


@accepts("criterion 12", "criterion 13")
def test_what_a_builder_writes_is_public_under_its_own_name():
    x = relax.Var("x", F4)
    bb = relax.BlockBuilder()
    for _ in range(2):
        with bb.function("main", [x := relax.Var("x", F4)]):
            bb.emit_func_output(bb.emit(relax.op.exp(x)))
    mod = bb.finalize()
    assert well_formed(mod)
    symbols = {var.name_hint: f.attrs["global_symbol"] for var, f in mod.functions.items()}
    assert symbols == {"main": "main", "main1": "main1"}


@rejects("criterion 8")
def test_recursion_through_others_names_them():
    x, y = relax.Var("x", F4), relax.Var("y", F4)

    def calling(name, var):
        return relax.Function([var], relax.SeqExpr([], relax.Call(relax.GlobalVar(name), [var])))

    mod = relax.IRModule({"f": calling("g", x), "g": calling("f", y)})
    found = [d.message for d in ill_formed(mod) if d.code == "RX0308"]
    assert found == [
        "`f` is recursive (through `g`) and has no return annotation",
        "`g` is recursive (through `f`) and has no return annotation",
    ]
    with pytest.raises(relax.DiagnosticError, match=r"`\w` is recursive \(through `\w`\)"):
        relax.transform.Normalize()(mod)

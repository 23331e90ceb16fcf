"""`R.rewriter`: a class of two functions is a rewriter, which prints and parses back."""

from __future__ import annotations

import pytest

from relaxscript.dpl import ExprPatternRewriter, PatternMatchingRewriter, is_op, wildcard
from relaxscript.errors import DiagnosticError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, ir as I, relax as R


@R.rewriter
class Twice:
    @R.function
    def pattern(x: R.Tensor(("n",), "float32")):
        return R.add(x, x)

    @R.function
    def replacement(x: R.Tensor(("n",), "float32")):
        return R.multiply(x, R.const(2, "float32"))


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            gv = R.add(x, x)
            R.output(gv)
        return gv


def test_a_class_of_two_functions_is_a_rewriter():
    assert isinstance(Twice, PatternMatchingRewriter)
    assert "R.multiply(x, R.const(2.0" in Twice(Model).script()
    assert "R.multiply(x, R.const(2.0" in Twice(Model["main"]).script()


def test_a_rewriter_prints_and_parses_back():
    text = Twice.script()
    assert "@R.rewriter\nclass Twice:" in text
    again = from_source(text)
    assert again.script() == text
    assert_structural_equal(again(Model), Twice(Model))


def test_a_rewriter_of_a_python_function_has_no_script():
    rewriter = ExprPatternRewriter(is_op("relax.exp")(wildcard()), lambda matched, _: matched)
    with pytest.raises(DiagnosticError) as raised:
        rewriter.script()
    assert "has no script: what it does is a Python function" in str(raised.value)


def mistakes(text: str) -> list[str]:
    header = "from relaxscript.script import ir as I, relax as R\n\n"
    with pytest.raises(DiagnosticError) as raised:
        from_source(header + text)
    return [f"{d.span} {d.message}" for d in raised.value.diagnostics]


def test_what_describes_no_rewriter_is_said_at_its_place():
    text = """@R.rewriter
class Rule:
    @R.function
    def pattern(x: R.Tensor((2,), "float32")):
        return R.add(x, x)
"""
    (said,) = mistakes(text)
    assert said.startswith("<text>:4:7 a module that describes a rewriter has a Relax function")
    text += """
    @R.function
    def replacement(x: R.Tensor((2,), "float32")):
        return R.ad(x, x)
"""
    (said,) = mistakes(text)
    assert said == "<text>:11:16 `R` has no `ad`"


def test_a_rewriter_that_raises_is_said_at_its_class():
    with pytest.raises(DiagnosticError) as raised:

        @R.rewriter
        class Rule:
            @R.function
            def pattern(x: R.Tensor((2,), "float32")):
                return x

            @R.function
            def replacement(x: R.Tensor((2,), "float32")):
                return R.exp(x)

    assert "returns something else than results of calls" in raised.value.diagnostics[0].message


def test_only_classes_are_decorated():
    for wrong in (3, Model["main"]):
        with pytest.raises(DiagnosticError) as raised:
            R.rewriter(wrong)
        assert raised.value.diagnostics[0].message == "`R.rewriter` decorates a class"
        assert raised.value.diagnostics[0].help == (
            "write `pattern` and `replacement` as functions of a class"
        )

"""Arithmetic on patterns is refused with the pattern that was meant."""

from __future__ import annotations

import operator

import pytest

from relaxscript.dpl import is_const, is_op, is_var, wildcard

from . import mistake_of

INFIX = {
    "+": (operator.add, "relax.add"),
    "-": (operator.sub, "relax.subtract"),
    "*": (operator.mul, "relax.multiply"),
    "/": (operator.truediv, "relax.divide"),
    "//": (operator.floordiv, "relax.floor_divide"),
    "%": (operator.mod, "relax.floor_mod"),
    "**": (operator.pow, "relax.power"),
    "@": (operator.matmul, "relax.matmul"),
}
COMPARISONS = {
    "<": (operator.lt, "relax.less"),
    "<=": (operator.le, "relax.less_equal"),
    ">": (operator.gt, "relax.greater"),
    ">=": (operator.ge, "relax.greater_equal"),
}


@pytest.mark.parametrize("symbol", [*INFIX, *COMPARISONS])
def test_an_operator_between_patterns_is_refused_by_the_pattern_of_its_call(symbol):
    apply, name = {**INFIX, **COMPARISONS}[symbol]
    mistake = mistake_of(lambda: apply(is_var("x"), wildcard()))
    assert (mistake.code, mistake.message) == ("RX0201", f"patterns have no operator `{symbol}`")
    assert mistake.help == f'write `is_op("{name}")(is_var("x"), wildcard())`'
    assert mistake.span is not None
    assert 'apply(is_var("x"), wildcard())' in mistake.span.text


@pytest.mark.parametrize("symbol", INFIX)
def test_a_number_before_a_pattern_is_a_constant_in_the_help(symbol):
    apply, name = INFIX[symbol]
    mistake = mistake_of(lambda: apply(2, wildcard()))
    assert mistake.help == f'write `is_op("{name}")(is_const(), wildcard())`'


def test_operators_of_one_pattern_are_refused_as_well():
    mistake = mistake_of(lambda: -wildcard())
    assert mistake.message == "patterns have no operator `-`"
    assert mistake.help == 'write `is_op("relax.negative")(wildcard())`'
    assert mistake_of(lambda: abs(wildcard())).help == 'write `is_op("relax.abs")(wildcard())`'


def test_long_operands_are_left_out_of_the_help():
    long = is_op("relax.nn.conv2d")(wildcard(), is_const()).has_dtype("float32")
    assert (
        mistake_of(lambda: long + wildcard()).help == 'write `is_op("relax.add")(..., wildcard())`'
    )


def test_what_the_help_says_is_what_matches():
    from relaxscript import relax

    x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
    meant = eval(
        mistake_of(lambda: wildcard() + is_var()).help.removeprefix("write `").removesuffix("`"),
        {"is_op": is_op, "wildcard": wildcard, "is_var": is_var},
    )
    assert meant.match(relax.op.add(x, x))

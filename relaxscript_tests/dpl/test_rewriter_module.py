"""Rewriters that a module describes by `pattern` and `replacement`."""

from __future__ import annotations

import pytest

from relaxscript.dpl import PatternMatchingRewriter
from relaxscript.ir.module import IRModule
from relaxscript.relax.analysis import well_formed
from relaxscript.script import from_source, ir as I, relax as R, tir as T

from . import block, mistake_of
from .test_rewriter import operators_of


def test_parameters_stand_for_operands_and_shape_variables_for_dimensions():
    @I.ir_module
    class Rule:
        @R.function
        def pattern(a: R.Tensor(("m", "n"), "float32"), b: R.Tensor(("m", "n"), "float32")):
            c = R.add(a, b)
            d = R.nn.relu(c)
            return d

        @R.function
        def replacement(a: R.Tensor(("p", "q"), "float32"), b: R.Tensor(("p", "q"), "float32")):
            c = R.maximum(a, b)
            d = R.multiply(c, R.broadcast_to(R.const(1, "float32"), R.shape_of(c)))
            return d

    func = PatternMatchingRewriter.from_module(Rule)(block())
    assert operators_of(func)[0] == "maximum"
    assert "add" not in operators_of(func)
    assert well_formed(func)


def test_a_shape_that_mentions_shape_variables_is_compared_when_they_are_known():
    @I.ir_module
    class Rule:
        @R.function
        def pattern(a: R.Tensor(("m", "n"), "float32")):
            m, n = T.int64(), T.int64()
            return R.reshape(a, (m * n,))

        @R.function
        def replacement(a: R.Tensor(("m", "n"), "float32")):
            return R.flatten(a)

    @R.function
    def main(x: R.Tensor((2, "k"), "float32")):
        k = T.int64()
        with R.dataflow():
            a = R.reshape(x, (k * 2,))
            b = R.reshape(x, (2, k))
            gv = (a, b)
            R.output(gv)
        return gv

    func = PatternMatchingRewriter.from_module(Rule)(main)
    assert operators_of(func) == ["flatten", "reshape"]


def test_operands_of_other_struct_infos_are_left_alone():
    @I.ir_module
    class Rule:
        @R.function
        def pattern(a: R.Tensor(("n", "n"), "float32")):
            return R.permute_dims(a)

        @R.function
        def replacement(a: R.Tensor(("n", "n"), "float32")):
            return R.nn.relu(a)

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 3), "float32")):
        with R.dataflow():
            gv = (R.permute_dims(x), R.permute_dims(y))
            R.output(gv)
        return gv

    func = PatternMatchingRewriter.from_module(Rule)(main)
    assert sorted(operators_of(func)) == ["nn.relu", "permute_dims"]


def test_attributes_of_the_pattern_are_those_of_what_it_matches():
    @I.ir_module
    class Rule:
        @R.function
        def pattern(a: R.Tensor(dtype="float32", ndim=2)):
            return R.sum(a, axis=[1], keepdims=True)

        @R.function
        def replacement(a: R.Tensor(dtype="float32", ndim=2)):
            return R.max(a, axis=[1], keepdims=True)

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.sum(x, axis=[1], keepdims=True)
            b = R.sum(x, axis=[0], keepdims=True)
            gv = (a, b)
            R.output(gv)
        return gv

    assert operators_of(PatternMatchingRewriter.from_module(Rule)(main)) == ["max", "sum"]


@I.ir_module
class Pair:
    @R.function
    def pattern(a: R.Tensor(dtype="float32", ndim=2), b: R.Tensor(dtype="float32", ndim=2)):
        c = R.add(a, b)
        d = R.nn.relu(c)
        return c, d

    @R.function
    def replacement(a: R.Tensor(dtype="float32", ndim=2), b: R.Tensor(dtype="float32", ndim=2)):
        c = R.maximum(a, b)
        return c, R.exp(c)


def test_several_results_replace_several_bindings():
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.relu(a)
            gv = R.multiply(a, b)
            R.output(gv)
        return gv

    func = PatternMatchingRewriter.from_module(Pair)(main)
    assert operators_of(func) == ["maximum", "exp", "multiply"]


# ---------------------------------------------------------------- mistakes


def mistake_in(pattern: str, replacement: str, params: str = 'a: R.Tensor((2, 3), "float32")'):
    """The mistake of a rewriter with these bodies."""
    text = f"""
from relaxscript.script import ir as I, relax as R

@I.ir_module
class Rule:
    @R.function
    def pattern(a: R.Tensor((2, 3), "float32")):
        {pattern}

    @R.function
    def replacement({params}):
        {replacement}

    @R.function
    def other(a: R.Tensor((2, 3), "float32")):
        return a
"""
    return mistake_of(lambda: PatternMatchingRewriter.from_module(from_source(text)))


def test_both_functions_are_there_with_the_same_parameters():
    assert mistake_of(lambda: PatternMatchingRewriter.from_module(3)).message == (
        "a rewriter is made of a module, not of a int"
    )
    mistake = mistake_of(lambda: PatternMatchingRewriter.from_module(IRModule({})))
    assert mistake.message == "a module that describes a rewriter has a Relax function `pattern`"
    mistake = mistake_in("return R.exp(a)", "return R.exp(b)", 'b: R.Tensor((2, 4), "float32")')
    assert mistake.message == (
        'the parameter `a` of `pattern` is `R.Tensor((2, 3), "float32")`, and in `replacement` '
        '`R.Tensor((2, 4), "float32")`'
    )
    mistake = mistake_in("return R.exp(a)", "return R.const(1)", "")
    assert mistake.message == "`pattern` has 1 parameter, and `replacement` 0"


@pytest.mark.parametrize("name", ["pattern", "replacement"])
def test_a_function_with_nearly_its_name_is_meant(name):
    text = """
@R.rewriter
class Twice:
    @R.function
    def pattern(a: R.Tensor((2, 3), "float32")):
        return R.add(a, a)

    @R.function
    def replacement(a: R.Tensor((2, 3), "float32")):
        return R.exp(a)
"""
    misspelt = name.replace("t", "", 1)
    mistake = mistake_of(lambda: from_source(text.replace(f"def {name}", f"def {misspelt}")))
    assert mistake.message == f"a module that describes a rewriter has a Relax function `{name}`"
    assert mistake.help == f"did you mean `{name}`?"
    assert misspelt in mistake.span.source.line(mistake.span.line)


def test_only_calls_and_tuples_are_matched_and_made():
    cast = 'b = R.match_cast(a, R.Tensor((2, 3), "float32"))\n        return R.exp(b)'
    mistake = mistake_in(cast, "return R.exp(a)")
    assert mistake.message == (
        "`pattern` of a rewriter has a match_cast, and only calls and tuples are matched"
    )
    mistake = mistake_in("return R.exp(a)", cast)
    assert mistake.message.startswith("`replacement` of a rewriter has a match_cast")
    mistake = mistake_in("return a", "return R.exp(a)")
    assert mistake.message.startswith("`pattern` of a rewriter returns something else than")
    mistake = mistake_in("return R.exp(a)", "return Rule.other(a)")
    assert mistake.message.startswith("`replacement` calls `other` of its own module")


def test_a_replacement_that_can_never_fit_is_refused_where_it_is_read():
    mistake = mistake_in("return R.exp(a)", "return R.sum(a)")
    assert mistake.message == (
        '`pattern` returns `R.Tensor((2, 3), "float32")`, and `replacement` '
        '`R.Tensor((), "float32")`'
    )
    assert (mistake.code, mistake.help) == ("RX0709", "return a value of the same StructInfo")
    assert mistake.span is not None
    params = 'a: R.Tensor(("n",), "float32")'
    assert mistake_in("return R.exp(a)", "return R.concat((a, a))", params).code == "RX0709"

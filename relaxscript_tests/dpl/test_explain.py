"""Explanations: which part of a pattern stopped at which expression, and why."""

from __future__ import annotations

import pytest

from relaxscript import relax
from relaxscript.dpl import (
    ExternFuncPattern,
    FunctionPattern,
    PatternContext,
    explain_match,
    is_const,
    is_dfv,
    is_expr,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from relaxscript.ir.relax import Var
from relaxscript.relax import op
from relaxscript.relax.analysis import get_var2val
from relaxscript.script import relax as R

from . import block, mistake_of, projections, variables

X = Var("x", relax.TensorStructInfo((2, 3), "float32"))
Y = Var("y", relax.TensorStructInfo((2, 3), "float32"))
T = Var("t", relax.TupleStructInfo([X.struct_info, X.struct_info]))
SAME = wildcard()


def test_the_source_line_and_the_part_of_the_pattern_are_marked():
    func = block()
    pattern = is_op("relax.nn.relu")(is_op("relax.exp")(wildcard()))
    lines = explain_match(pattern, variables(func)["b"], get_var2val(func)).split("\n")
    assert lines[0] == "no match: `a` is a call of the operator `relax.add`, not of `relax.exp`"
    assert lines[1].endswith("dpl/__init__.py:29:17")
    assert lines[3].endswith("            a = R.add(x, y)")
    assert lines[4].split()[1] == "^^^^^^^^^^^"
    assert lines[-3:] == [
        "in the pattern",
        '    is_op("relax.nn.relu")(is_op("relax.exp")(wildcard()))',
        "                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    ]


@pytest.mark.parametrize(
    ("pattern", "expr", "reason"),
    [
        (
            is_op("relax.exp")(is_var()),
            X,
            "`x` is a variable, whose value is not known here, not",
        ),
        (wildcard()(is_var()), op.add(X, Y), "`R.add(x, y)` has 2 arguments, not 1"),
        (is_op("relax.add")(SAME, SAME), op.add(X, Y), "`y` is another value than `x`, which this"),
        (is_expr(Y), X, "`x` is not `y`"),
        (is_var("z"), X, "`x` is called `x`, not `z`"),
        (is_dfv(), X, "`x` is not a variable of a dataflow block"),
        (is_var(), relax.const(1), '`R.const(1, "int32")` is a constant, not a variable that'),
        (is_const(), X, "`x` is a variable, not a constant"),
        (is_gv("f"), relax.GlobalVar("g"), "is `g`, not `f`"),
        (is_gv(), X, "`x` is a variable, not a function of the module"),
        (ExternFuncPattern("f"), relax.ExternFunc("g"), "is `g`, not `f`"),
        (ExternFuncPattern(), relax.GlobalVar("g"), "not a packed function"),
        (is_tuple([is_var()]), relax.Tuple([X, Y]), "`(x, y)` has 2 fields, not 1"),
        (is_tuple([]), X, "`x` is a variable, not a tuple"),
        (is_tuple_get_item(is_var(), 0), relax.TupleGetItem(T, 1), "`t[1]` is field 1, not 0"),
        (is_tuple_get_item(is_var()), X, "`x` is a variable, not a field of a tuple"),
        (~is_var(), X, "`x` matches `is_var()`, which is rejected"),
        (
            wildcard()
            .has_struct_info(relax.ObjectStructInfo())
            .has_struct_info(relax.TensorStructInfo(dtype="float32", ndim=3)),
            X,
            '`x` is `R.Tensor((2, 3), "float32")`, which is not sure to be',
        ),
        (wildcard().has_type(relax.ObjectType()), X, "is a `"),
        (wildcard().has_dtype("int8"), X, "`x` is float32, not int8"),
        (wildcard().has_dtype("int8"), relax.Tuple([]), "has no dtype, not int8"),
        (wildcard().has_shape((2, 4)), X, "whose shape is not known to be `(2, 4)`"),
        (is_shape((2, 4)), relax.ShapeExpr((2, 3)), "is `R.shape([2, 3])`, not `(2, 4)`"),
        (
            wildcard().has_attr({"axes": 1}),
            op.sum(X),
            "no attribute `axes`; did you mean `axis`?",
        ),
        (wildcard().has_attr({"keepdims": True}), op.sum(X), "`keepdims=False`, not True"),
        (wildcard().has_attr({"axis": 1}), X, "`x` is a variable, which has no attributes"),
        (FunctionPattern([], wildcard()), block(), "has 2 parameters, not 0"),
        (FunctionPattern([], wildcard()), X, "`x` is a variable, not a function"),
    ],
)
def test_each_reason_says_what_is_there_and_what_is_wanted(pattern, expr, reason: str):
    assert reason in explain_match(pattern, expr).split("\n")[0]


def test_calls_of_functions_are_told_from_calls_of_operators():
    func = Var("f", relax.FuncStructInfo([X.struct_info], X.struct_info))
    for callee, noun in (
        (relax.GlobalVar("g"), "the function `g`"),
        (relax.ExternFunc("g"), "the packed function `g`"),
        (func, "a variable"),
    ):
        said = explain_match(is_op("relax.exp")(wildcard()), relax.Call(callee, [X]))
        assert f"is a call of {noun}, not of `relax.exp`" in said


def test_the_way_that_came_farthest_is_told():
    either = is_op("relax.exp")(wildcard()) | is_op("relax.add")(wildcard(), is_const())
    assert "is a variable, not a constant" in explain_match(either, op.add(X, Y))


def test_what_matches_says_so():
    assert explain_match(wildcard(), X) == "the pattern matches"
    with PatternContext() as ctx:
        is_op("relax.add")(wildcard(), wildcard())
    assert explain_match(ctx, block().body.blocks[0]) == "the patterns of the context match"


def test_what_is_rejected_and_does_not_match_is_no_reason():
    pattern = is_op("relax.subtract")(~is_op("relax.exp")(op_of()), is_const())
    said = explain_match(pattern, op.subtract(op.nn.relu(X), Y))
    assert said.startswith("no match: `y` is a variable, not a constant")


def op_of():
    return is_op("relax.add")(wildcard(), wildcard())


def test_long_patterns_are_shown_around_the_part():
    pattern = is_const()
    for _ in range(20):
        pattern = is_op("relax.exp")(pattern)
    expr = X
    for _ in range(20):
        expr = op.exp(expr)
    shown = explain_match(pattern, expr).split("\n")[-2:]
    assert shown[0].startswith("    ...")
    start = shown[1].index("^")
    assert shown[0][start : start + len("is_const()")] == "is_const()"


# ---------------------------------------------------------------- contexts


def test_a_context_without_any_candidate_says_so():
    with PatternContext() as ctx:
        is_op("relax.exp")(wildcard())
    said = explain_match(ctx, block().body.blocks[0])
    assert said == 'no binding of the block can be `is_op("relax.exp")(wildcard())`'


def test_a_use_that_is_not_there_is_told():
    with PatternContext() as ctx:
        relu = is_op("relax.nn.relu")(wildcard())
        relu.used_by(is_op("relax.multiply")(wildcard(), wildcard()), 1)
    said = explain_match(ctx, block().body.blocks[0])
    assert said.startswith("no match: `")
    with PatternContext() as ctx:
        first = is_op("relax.matmul")(wildcard(), wildcard())
        total = is_op("relax.add")(first, wildcard())
        first >> total
        wildcard() ^ first
        is_var("y") ^ total
    assert "no match: " in explain_match(ctx, projections().body.blocks[0])


def test_a_value_that_others_use_too_is_told():
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.nn.relu(a)
            gv = R.add(a, b)
            R.output(gv)
        return gv

    with PatternContext() as ctx:
        exp = is_op("relax.exp")(wildcard())
        exp >> is_op("relax.nn.relu")(exp)
    said = explain_match(ctx, main.body.blocks[0])
    assert said.startswith("no match: `a` is not used by `b`, and by nothing else (`>>`)")


def test_shapes_that_are_not_known_to_be_the_same_are_told():
    with PatternContext() as ctx:
        weight = wildcard()
        product = is_op("relax.matmul")(wildcard(), weight)
        product.same_shape_as(weight)
    said = explain_match(ctx, projections().body.blocks[0])
    assert said.startswith("no match: `a` is not known to be of one shape with the others")


def test_only_expressions_are_explained():
    assert mistake_of(lambda: explain_match(wildcard(), 3)).message == (
        "patterns match expressions, not a int"
    )


def test_only_patterns_are_explained():
    x = Var("x", R.Tensor((2,), "float32"))
    mistake = mistake_of(lambda: explain_match(x, is_var("x")))
    assert mistake.message == "what is explained is no pattern: `x`"
    assert mistake.help == "write `is_expr(x)`"

"""Relax functions: every statement and expression, in the form that parses back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError, InternalError
from relaxscript.ir import assert_structural_equal, prim, relax
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)  # fmt: skip
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, TupleStructInfo
from relaxscript.script import from_source
from relaxscript.script.printer.module import script

from .programs import add, body_of, call, comes_back, function, sequence, tensor, text

n = prim.Var("n", "int64")
INFO = tensor(n, 4)
OBJECT = ObjectStructInfo()
UNIT = TupleStructInfo(())


def var(name: str, info: Any = INFO) -> Var:
    return Var(name, info)


x = var("x")
c = var("c", tensor(dtype="bool"))


# ---------------------------------------------------------------- functions


def test_a_function_is_written_with_header_declarations_and_bindings():
    y = var("y")
    f = function([x], (y, add(x, x)), result=y, ret=INFO)
    assert script(f) == text("""
        # from relaxscript.script import tir as T
        # from relaxscript.script import relax as R


        @R.function
        def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
            n = T.int64()
            y: R.Tensor((n, 4), "float32") = R.add(x, x)
            return y
    """)
    comes_back(f)


def test_a_shape_variable_that_the_body_does_not_use_is_not_declared():
    assert body_of(function([x], result=x, ret=INFO)) == "return x"


def test_a_shape_variable_of_another_data_type_is_always_declared():
    other = prim.Var("n", "int32")
    p = var("p", tensor(other))
    f = function([p], result=p, ret=tensor(other))
    assert body_of(f) == "n = T.int32()\nreturn p"
    with pytest.raises(DiagnosticError, match="a dimension is an int64, and `n` is int32"):
        comes_back(f)


@pytest.mark.parametrize(
    ("attrs", "pure", "decorator", "first"),
    [
        ({"global_symbol": "main"}, True, "@R.function", "return x"),
        ({"global_symbol": "main"}, False, "@R.function(pure=False)", "return x"),
        (None, True, "@R.function(private=True)", "return x"),
        (None, False, "@R.function(pure=False, private=True)", "return x"),
        ({"global_symbol": "main", "k": (1, "a"), "d": {"e": None, "f": 1.5}}, True, "@R.function",
         'R.func_attr({"k": [1, "a"], "d": {"e": None, "f": 1.5}})'),
    ],
)  # fmt: skip
def test_options_and_attributes_are_written_where_they_are_not_as_usual(
    attrs: Any, pure: bool, decorator: str, first: str
):
    f = Function([x], sequence(result=x), INFO, pure, attrs)
    assert script(f).split("\n")[3] == decorator
    assert body_of(f).split("\n")[0] == first
    comes_back(f)


def test_a_symbol_that_is_no_name_is_an_attribute():
    f = Function([x], sequence(result=x), INFO, attrs={"global_symbol": "a.b"})
    assert "def a_b(" in script(f)
    assert body_of(f) == 'R.func_attr({"global_symbol": "a.b"})\nreturn x'
    assert_structural_equal(from_source(script(f)), f)


def test_a_function_may_be_printed_by_another_name():
    f = Function([x], sequence(result=x), INFO, attrs={"global_symbol": "other"})
    assert "def mine(" in script(f, name="mine")
    assert body_of(f, name="mine") == "return x"


def test_a_parameter_without_struct_info_has_no_annotation():
    careless = Function.make((Var("p"),), PrimValue(1))
    assert "def main(p):" in script(careless)


# ---------------------------------------------------------------- bindings


def dataflow(*bindings: VarBinding, result: Any) -> Function:
    return Function(
        [x], SeqExpr([DataflowBlock(bindings)], result), INFO, attrs={"global_symbol": "main"}
    )


def test_a_dataflow_block_says_what_leaves_it():
    lv, gv, gv1 = DataflowVar("lv", INFO), var("gv"), var("gv1")
    f = dataflow(
        VarBinding(lv, add(x, x)),
        VarBinding(gv, add(lv, x)),
        VarBinding(gv1, add(gv, lv)),
        result=gv1,
    )
    assert body_of(f) == text("""
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((n, 4), "float32") = R.add(x, x)
            gv: R.Tensor((n, 4), "float32") = R.add(lv, x)
            gv1: R.Tensor((n, 4), "float32") = R.add(gv, lv)
            R.output(gv, gv1)
        return gv1
    """)
    comes_back(f)


def test_names_of_a_dataflow_block_are_free_after_it():
    lv, gv, later = DataflowVar("y", INFO), var("gv"), var("y")
    block = DataflowBlock([VarBinding(lv, add(x, x)), VarBinding(gv, add(lv, x))])
    after = BindingBlock([VarBinding(later, add(gv, gv))])
    f = Function([x], SeqExpr([block, after], later), INFO, attrs={"global_symbol": "main"})
    assert "\ny: R.Tensor" in body_of(f)
    comes_back(f)


def test_a_name_is_given_after_the_right_side_was_written():
    first, second = var("y"), var("y")
    f = function([x], (first, add(x, x)), (second, add(first, first)), result=second, ret=INFO)
    assert 'y_1: R.Tensor((n, 4), "float32") = R.add(y, y)' in body_of(f)
    comes_back(f)


def test_an_annotation_that_the_call_says_itself_is_left_out():
    y = var("y", OBJECT)
    z = var("z", OBJECT)
    f = function(
        [x], (y, Call(ExternFunc("f"), [x], None, [OBJECT])),
        (z, Call(ExternFunc("f"), [x], None, [tensor(2)])), result=z, ret=OBJECT, is_pure=False,
    )  # fmt: skip
    assert body_of(f).split("\n")[:2] == [
        'y = R.call_packed("f", x, sinfo_args=R.Object)',
        'z: R.Object = R.call_packed("f", x, sinfo_args=R.Tensor((2,), "float32"))',
    ]
    comes_back(f)


def test_without_all_annotations_only_those_stay_that_the_parser_cannot_find():
    y, z = var("y"), var("z", OBJECT)
    f = function([x], (y, add(x, x)), (z, add(y, x)), result=z, ret=OBJECT)
    assert body_of(f, show_all_struct_info=False) == text("""
        y = R.add(x, x)
        z: R.Object = R.add(y, x)
        return z
    """)
    comes_back(f, show_all_struct_info=False)


def test_a_match_cast_is_annotated_only_where_its_variable_says_more_or_less():
    m = prim.Var("m", "int64")
    y, z = var("y", tensor(m, 4)), var("z", OBJECT)
    f = function(
        [x], MatchCast(y, x, tensor(m, 4)), MatchCast(z, y, tensor(4, m)), result=y, ret=OBJECT
    )
    assert body_of(f) == text("""
        m = T.int64()
        y = R.match_cast(x, R.Tensor((m, 4), "float32"))
        z: R.Object = R.match_cast(y, R.Tensor((4, m), "float32"))
        return y
    """)


def test_a_call_for_its_effect_stands_alone_unless_its_value_is_used():
    unused, used = var("_", UNIT), var("_", UNIT)
    printing = call("print", StringImm(""), x)
    f = function([x], (unused, printing), (used, printing), result=used, ret=UNIT, is_pure=False)
    assert body_of(f) == "R.print(x)\n_: R.Tuple = R.print(x)\nreturn _"
    assert body_of(f, syntax_sugar=False).startswith("_: R.Tuple = R.print(x)\n__1: R.Tuple")
    comes_back(f)


def test_a_variable_that_stands_for_another_is_bound():
    y = var("y")
    f = function([x], (y, x), result=y, ret=INFO)
    assert body_of(f) == 'n = T.int64()\ny: R.Tensor((n, 4), "float32") = x\nreturn y'
    comes_back(f)


# ---------------------------------------------------------------- if


def choice(yes: Any, no: Any) -> Function:
    y = var("y")
    return function([x, c], (y, If(c, yes, no)), result=y, ret=INFO)


def test_both_branches_bind_the_result_at_their_end():
    a, b, d = var("a"), var("y_then"), var("y_else")
    f = choice(
        sequence((a, add(x, x)), (b, add(a, x)), result=b), sequence((d, add(x, x)), result=d)
    )
    assert body_of(f) == text("""
        n = T.int64()
        if c:
            a: R.Tensor((n, 4), "float32") = R.add(x, x)
            y: R.Tensor((n, 4), "float32") = R.add(a, x)
        else:
            y: R.Tensor((n, 4), "float32") = R.add(x, x)
        return y
    """)
    comes_back(f)


def test_a_branch_that_is_a_variable_is_told_from_one_that_binds_it():
    b = var("b")
    f = choice(sequence(result=x), sequence((b, x), result=b))
    assert body_of(f, show_all_struct_info=False) == text("""
        n = T.int64()
        if c:
            y = x
        else:
            y: R.Tensor((n, 4), "float32") = x
        return y
    """)
    comes_back(f)


def test_a_branch_whose_result_is_bound_earlier_ends_with_its_name():
    a, b = var("a"), var("b")
    f = choice(sequence((a, add(x, x)), (b, add(a, a)), result=a), sequence(result=x))
    assert "\n    y = a\nelse:\n    y = x\n" in body_of(f)
    comes_back(f)


def test_names_of_one_branch_are_free_in_the_other():
    def branch() -> SeqExpr:
        a, b = var("a"), var("b")
        return sequence((a, add(x, x)), (b, add(a, x)), result=b)

    f = choice(branch(), branch())
    assert "a_1" not in script(f)
    comes_back(f)


def test_an_if_inside_of_an_if_binds_the_same_name():
    def leaf() -> SeqExpr:
        v = var("v")
        return sequence((v, add(x, x)), result=v)

    inner = var("inner")
    f = choice(sequence((inner, If(c, leaf(), leaf())), result=inner), leaf())
    assert body_of(f).count("y: R.Tensor") == 3
    comes_back(f)


def test_a_branch_that_ends_with_a_dataflow_block_gives_its_output():
    lv, out = DataflowVar("lv", INFO), var("out")
    block = DataflowBlock([VarBinding(lv, add(x, x)), VarBinding(out, add(lv, x))])
    f = choice(SeqExpr([block], out), sequence(result=x))
    assert "        R.output(out)\n    y = out\nelse:" in body_of(f)
    comes_back(f)


# ---------------------------------------------------------------- local functions


def closure() -> tuple[Var, Function, prim.Var]:
    k = prim.Var("k", "int64")
    p, q = var("p", tensor(k, 4)), var("q", tensor(k, 4))
    inner = Function([p], sequence((q, add(p, x)), result=q), tensor(k, 4))
    return var("g", FuncStructInfo([tensor(k, 4)], tensor(k, 4))), inner, k


def test_a_local_function_is_defined_where_it_is_bound():
    g, inner, _ = closure()
    y = var("y")
    f = function([x], (g, inner), (y, Call(g, [x])), result=y, ret=INFO)
    assert body_of(f) == text("""
        n = T.int64()

        @R.function
        def g(p: R.Tensor(("k", 4), "float32")) -> R.Tensor(("k", 4), "float32"):
            k = T.int64()
            q: R.Tensor((k, 4), "float32") = R.add(p, x)
            return q

        y: R.Tensor((n, 4), "float32") = g(x)
        return y
    """)


def test_a_dimension_of_the_outer_function_is_no_string_in_a_local_one():
    p = var("p")
    g = var("g", FuncStructInfo([INFO], INFO))
    f = function([x], (g, Function([p], sequence(result=p), INFO)), result=g, ret=OBJECT)
    assert 'def g(p: R.Tensor((n, 4), "float32")) -> R.Tensor((n, 4), "float32"):' in body_of(f)
    assert body_of(f).startswith("n = T.int64()\n")


def test_a_local_function_may_be_recursive_and_impure():
    g, inner, k = closure()
    (p,) = inner.params
    r = var("r", tensor(k, 4))
    recursive = Function([p], sequence((r, Call(g, [p])), result=r), tensor(k, 4), False)
    printed = body_of(function([x], (g, recursive), result=x, ret=INFO, is_pure=False))
    assert "@R.function(pure=False)" in printed
    assert 'r: R.Tensor((k, 4), "float32") = g(p)' in printed


# ---------------------------------------------------------------- expressions

t = var("t", TupleStructInfo([INFO, OBJECT]))

EXPRESSIONS = [
    (Tuple([x, t]), "(x, t)"),
    (Tuple([x]), "(x,)"),
    (Tuple([]), "R.tuple()"),
    (Tuple([Tuple([x]), PrimValue(1)]), "((x,), R.prim_value(1))"),
    (TupleGetItem(t, 1), "t[1]"),
    (ShapeExpr([n, n * 2, 3]), "R.shape([n, n * 2, 3])"),
    (ShapeExpr([prim.const(3, "int32")]), "R.shape([3])"),
    (PrimValue(3), "R.prim_value(3)"),
    (PrimValue(-3), "R.prim_value(-3)"),
    (PrimValue(0.5), "R.prim_value(0.5)"),
    (PrimValue(True), "R.prim_value(True)"),
    (PrimValue(prim.const(3, "int32")), "R.prim_value(T.int32(3))"),
    (PrimValue(prim.const(0.5, "float32")), "R.prim_value(T.float32(0.5))"),
    (call("compute_prim_value", ShapeExpr([n * 2])), "R.prim_value(n * 2)"),
    (StringImm('a"b'), "R.str('a\"b')"),
    (DataTypeImm("float16"), 'R.dtype("float16")'),
    (ExternFunc("my.f"), 'R.ExternFunc("my.f")'),
    (GlobalVar("f"), "cls.f"),
    (Constant(np.float32(1)), 'R.const(1.0, "float32")'),
    (Op("relax.nn.relu"), "R.nn.relu"),
    (Call(GlobalVar("f"), [x, t]), "cls.f(x, t)"),
    (Call(t, [x]), "t(x)"),
    (Call(TupleGetItem(t, 1), [x]), "t[1](x)"),
]


@pytest.mark.parametrize(("e", "expected"), EXPRESSIONS, ids=[shown for _, shown in EXPRESSIONS])
def test_an_expression_is_written(e: relax.Expr, expected: str):
    assert script(e) == expected
    assert repr(e) == expected


def test_an_expression_that_nobody_knows_is_our_mistake():
    class Strange(relax.Expr):
        pass

    with pytest.raises(InternalError, match="does not know the expression Strange"):
        script(Strange())


def test_what_stands_inside_of_an_expression_is_bound_before_it():
    y = var("y")
    f = function([x, c], (y, add(x, If(c, x, add(x, x)))), result=y)
    assert body_of(f) == text("""
        n = T.int64()
        if c:
            gv = x
        else:
            gv = R.add(x, x)
        y: R.Tensor((n, 4), "float32") = R.add(x, gv)
        return y
    """)


def test_a_sequence_inside_of_a_binding_comes_before_it():
    a, y = var("a"), var("y")
    f = function([x], (y, sequence((a, add(x, x)), result=a)), result=y)
    assert body_of(f).split("\n")[1:3] == [
        'a: R.Tensor((n, 4), "float32") = R.add(x, x)',
        'y: R.Tensor((n, 4), "float32") = a',
    ]


# ---------------------------------------------------------------- other functions of the module


def test_the_module_has_a_short_name_where_it_is_used():
    y = var("y")
    f = function([x], (y, Call(GlobalVar("g"), [x])), result=y)
    assert body_of(f).split("\n")[1:3] == [
        "cls = Module",
        'y: R.Tensor((n, 4), "float32") = cls.g(x)',
    ]
    assert "self = Module" in body_of(f, module_alias="self")
    assert "cls" not in body_of(f, module_alias="")
    assert "Module.g(x)" in body_of(f, module_alias="")


def test_a_closure_uses_the_short_name_of_its_function():
    p, y = var("p"), var("y")
    inner = Function([p], sequence((y, Call(GlobalVar("g"), [p])), result=y), INFO)
    g = var("h", FuncStructInfo([INFO], INFO))
    assert body_of(function([x], (g, inner), result=x)).count("cls = Module") == 1

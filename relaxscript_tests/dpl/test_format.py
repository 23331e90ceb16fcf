"""Patterns as text: it reads like the constructors, and makes the pattern again."""

from __future__ import annotations

import pytest

from relaxscript import dpl, relax
from relaxscript.dpl import (
    ExternFuncPattern,
    FunctionPattern,
    PatternContext,
    PatternSeq,
    has_dtype,
    is_call_packed,
    is_call_tir,
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
from relaxscript.dpl.format import format_with_places

SHARED = wildcard()
X = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (is_var(), "is_var()"),
        (is_dfv("x"), 'is_dfv("x")'),
        (is_gv("f"), 'is_gv("f")'),
        (ExternFuncPattern("f"), 'ExternFuncPattern("f")'),
        (is_call_packed("f"), 'ExternFuncPattern("f")(varg_default_wildcard=True)'),
        (is_call_tir("f"), 'is_op("relax.call_tir")(is_gv("f"), wildcard())'),
        (
            is_op("relax.add")(SHARED, SHARED),
            'is_op("relax.add")((p0 := wildcard()), p0)',
        ),
        (
            is_op("relax.add")(wildcard(), varg_default_wildcard=True),
            'is_op("relax.add")(wildcard(), varg_default_wildcard=True)',
        ),
        (FunctionPattern(None, is_const()), "FunctionPattern(None, is_const())"),
        (FunctionPattern([is_var()], is_const()), "FunctionPattern([is_var()], is_const())"),
        (is_tuple([is_var(), is_const()]), "is_tuple([is_var(), is_const()])"),
        (is_tuple([is_var()], unordered=True), "is_tuple([is_var()], unordered=True)"),
        (is_tuple_get_item(is_var(), 1), "is_tuple_get_item(is_var(), 1)"),
        (is_tuple_get_item(is_var()), "is_tuple_get_item(is_var())"),
        (~is_var() | (is_const() & is_const()), "(~is_var() | (is_const() & is_const()))"),
        (has_dtype("int8").has_shape((2,)), 'wildcard().has_dtype("int8").has_shape((2,))'),
        (is_shape((2, 3)), "is_shape((2, 3))"),
        (
            is_op("relax.sum")(is_var()).has_attr({"axis": [1]}),
            "is_op(\"relax.sum\")(is_var()).has_attr({'axis': (1,)})",
        ),
        (
            is_var().has_struct_info(X.struct_info),
            'is_var().has_struct_info(R.Tensor((2, 3), "float32"))',
        ),
        (is_expr(X), "is_expr(x)"),
        (is_expr(relax.const(1)), 'is_expr(R.const(1, "int32"))'),
    ],
)
def test_a_pattern_reads_like_its_constructors(pattern: dpl.DFPattern, text: str):
    assert repr(pattern) == text


def test_the_text_of_a_pattern_makes_it_again():
    shared = wildcard()
    pattern = (is_op("relax.add")(shared, ~is_const()) | is_tuple([shared])).has_dtype
    texts = [repr(is_op("relax.add")(shared, ~is_const()) | is_tuple([shared, is_shape((1,))]))]
    assert pattern
    for text in texts:
        assert repr(eval(text, vars(dpl).copy())) == text


def test_a_type_is_a_part_of_the_text():
    assert repr(wildcard().has_type(relax.ObjectType())).startswith("wildcard().has_type(")


def test_each_part_has_its_place_in_the_text():
    inner = is_var("x")
    text, places = format_with_places(is_op("relax.nn.relu")(inner))
    start, end = places[inner]
    assert text[start:end] == 'is_var("x")'


def test_sequences_and_contexts_read_as_they_are_written():
    with PatternContext() as ctx:
        a, b, c = is_var("a"), is_op("relax.nn.relu")(wildcard()), wildcard()
        seq = a ^ b >> c
    assert repr(seq) == 'is_var("a") ^ is_op("relax.nn.relu")(wildcard()) >> wildcard()'
    assert repr(PatternSeq([a, c], only_use=True)) == 'is_var("a") >> wildcard()'
    assert '    is_var("a") ^ is_op("relax.nn.relu")(wildcard())' in repr(ctx).split("\n")

"""What no pattern may be, since it would match nothing: said where it is made."""

from __future__ import annotations

import pytest

from relaxscript import relax
from relaxscript.dpl import (
    CallPattern,
    DataflowVarPattern,
    FunctionPattern,
    has_dtype,
    is_const,
    is_expr,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from relaxscript.relax import op

from . import block, mistake_of

NOTHING = "nothing can match this pattern: "


def test_an_unknown_operator_is_refused_with_the_nearest_there_is():
    def misspelt():
        return is_op("relax.nn.rleu")

    mistake = mistake_of(misspelt)
    assert (mistake.code, mistake.message) == ("RX0101", "there is no operator `relax.nn.rleu`")
    assert mistake.help == "did you mean `relax.nn.relu`?"
    assert mistake.span is not None
    assert mistake.span.text == 'is_op("relax.nn.rleu")'
    assert mistake_of(lambda: is_op("add")).help == "did you mean `relax.add`?"
    assert mistake_of(lambda: is_op(op.add)).message == "there is no operator `Operator`"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: is_op("relax.add")(wildcard()),
            "`relax.add` has 2 operands (x1, x2), and the pattern of its call 1",
        ),
        (
            lambda: is_op("relax.sum")(wildcard(), wildcard(), varg_default_wildcard=True),
            "`relax.sum` has 1 operand (x), and the pattern of its call 2",
        ),
        (
            lambda: is_const()(wildcard()),
            NOTHING + "`is_const()` is a constant, and only a function can be called",
        ),
        (
            lambda: has_dtype("int8").has_dtype("int32"),
            NOTHING + '`wildcard().has_dtype("int8")` has the dtype int8, not int32',
        ),
        (
            lambda: is_expr(relax.const(1)).has_dtype("float32"),
            NOTHING + '`is_expr(R.const(1, "int32"))` has the dtype int32, not float32',
        ),
        (
            lambda: is_shape((2, 3)).has_dtype("int64"),
            NOTHING + "`is_shape((2, 3))` is a shape, and only tensors and scalars have a dtype",
        ),
        (
            lambda: (
                wildcard()
                .has_struct_info(relax.TupleStructInfo([]))
                .has_struct_info(relax.PrimStructInfo("int64"))
            ),
            NOTHING + "`wildcard().has_struct_info(R.Tuple)` is `R.Tuple`, which no "
            '`R.Prim("int64")` is',
        ),
        (
            lambda: is_expr(relax.PrimValue(1)).has_shape(()),
            NOTHING + "`is_expr(R.prim_value(1))` is a scalar, and only tensors have a shape",
        ),
        (
            lambda: wildcard().has_shape((2, 3)).has_shape((2, 4)),
            NOTHING + "`wildcard().has_shape((2, 3))` is `R.Tensor((2, 3))`, which no "
            "`R.Tensor((2, 4))` is",
        ),
        (
            lambda: is_var("x") & is_const(),
            NOTHING + '`is_var("x")` is a variable, and `is_const()` is a constant',
        ),
        (
            lambda: has_dtype("int8") & has_dtype("int32"),
            NOTHING + '`wildcard().has_dtype("int8")` has the dtype int8, not int32',
        ),
        (
            lambda: is_tuple([wildcard()]) & is_tuple([]),
            NOTHING + "no tuple has both 1 and 0 fields",
        ),
        (
            lambda: is_const().has_struct_info(relax.ShapeStructInfo((2,))),
            NOTHING + "`is_const()` is a constant, and `R.Shape([2])` describes a shape",
        ),
        (
            lambda: is_gv().has_attr({"axis": 1}),
            NOTHING + "`is_gv()` is a function of the module, and only calls and functions have "
            "attributes",
        ),
        (lambda: ~wildcard(), "nothing can match `~wildcard()`: a wildcard matches everything"),
        (
            lambda: is_tuple_get_item(is_tuple([wildcard()]), 1),
            "no field of a tuple is at index 1: the tuple has 1 field",
        ),
        (
            lambda: is_tuple_get_item(wildcard(), -2),
            "no field of a tuple is at index -2: fields count from 0",
        ),
        (
            lambda: is_tuple_get_item(is_const()),
            NOTHING + "`is_const()` is a constant, and only a tuple has fields",
        ),
    ],
)
def test_a_pattern_that_can_match_nothing_is_refused(make, message: str):
    mistake = mistake_of(make)
    assert (mistake.code, mistake.message) == ("RX0709", message)


def test_attributes_belong_behind_the_call():
    mistake = mistake_of(lambda: is_op("relax.sum").has_attr({"axis": 1}))
    assert mistake.message.endswith("is an operator, and only calls and functions have attributes")
    assert mistake.help == "put it behind the call: `is_op(...)(...).has_attr(...)`"


def test_patterns_that_contradict_nothing_are_made():
    assert (
        wildcard()
        .has_shape((2, 3))
        .has_dtype("int8")
        .has_struct_info(relax.TensorStructInfo(dtype="int8", ndim=2))
    )
    assert (is_var() | is_const()).has_dtype("int8")
    assert is_var() | wildcard()
    assert is_op("relax.concat")(wildcard())
    assert is_op("tir.exp")
    assert has_dtype("int8") & is_const()
    assert wildcard() & is_var()
    assert is_tuple([wildcard()]) | is_tuple([])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: is_op("relax.add")(wildcard(), 1), "the argument 1 is no pattern: `1`"),
        (lambda: wildcard() | None, "the right side of `|` is no pattern: `None`"),
        (lambda: CallPattern(wildcard(), 3), "the arguments are a list of patterns, not `3`"),
        (lambda: FunctionPattern([], 3), "the body is no pattern: `3`"),
        (lambda: is_expr(3), "`is_expr` takes an expression, not `3`"),
        (lambda: wildcard().has_struct_info(3), "`has_struct_info` takes a StructInfo, not `3`"),
        (lambda: wildcard().has_type(3), "`has_type` takes a type, not `3`"),
        (lambda: wildcard().has_dtype("float33"), '"float33" is not a dtype'),
        (
            lambda: wildcard().has_shape(3),
            "`has_shape` takes a list or tuple of dimensions, not `3`",
        ),
        (
            lambda: is_shape(["n"]),
            '`is_shape` would make a new variable of "n", which equals no dimension',
        ),
        (
            lambda: is_shape([1.5]),
            "`is_shape` takes a list or tuple of dimensions: a dimension is a whole number",
        ),
        (
            lambda: wildcard().has_attr({"f": len}),
            "the attribute `f` cannot hold a Python function",
        ),
    ],
)
def test_what_is_no_part_of_a_pattern_is_refused(make, message: str):
    mistake = mistake_of(make)
    assert mistake.code == "RX0709"
    assert mistake.message.startswith(message)


def test_an_expression_among_patterns_is_told_how_to_be_one():
    x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
    mistake = mistake_of(lambda: is_op("relax.nn.relu")(x))
    assert mistake.help == "write `is_expr(x)`"


def test_patterns_are_frozen():
    with pytest.raises(AttributeError, match="cannot assign to field 'name_hint'"):
        DataflowVarPattern("x").name_hint = "y"  # type: ignore[misc]


def test_an_attribute_that_the_operator_lacks_is_refused_with_the_nearest_that_it_has():
    mistake = mistake_of(lambda: is_op("relax.sum")(wildcard()).has_attr({"axes": [1]}))
    assert mistake.message == NOTHING + "`relax.sum` has no attribute `axes`"
    assert (mistake.code, mistake.help) == ("RX0709", "did you mean `axis`?")
    mistake = mistake_of(lambda: is_op("relax.sum")(wildcard()).has_attr({"dtype": "int8"}))
    assert mistake.help == "there are `axis`, `keepdims`"
    mistake = mistake_of(lambda: is_op("relax.exp")(wildcard()).has_attr({"axis": 1}))
    assert mistake.help == "it has none"


def test_a_function_in_the_place_of_a_pattern_is_named_and_not_printed():
    func = block()
    mistake = mistake_of(lambda: relax.dpl.rewrite_call(func, wildcard(), lambda *_: None))
    assert mistake.message == "what is rewritten is no pattern: it is a function"
    assert mistake.help == "give the pattern here, such as `is_op(...)(...)`"

"""Scalar expressions: what is written means the expression, and says dtypes where it must."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, strategies as st

from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError
from relaxscript.ir import prim, relax, tir
from relaxscript.ir.prim import (
    EQ,
    GT,
    LT,
    Add,
    And,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Div,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Ramp,
    Select,
    Shuffle,
    SizeVar,
    StringImm,
    Sub,
    Var,
    const,
)  # fmt: skip
from relaxscript.ir.relax import GlobalVar
from relaxscript.script.printer.module import script

from .programs import function, tensor

i, j, n = Var("i", "int32"), Var("j", "int32"), Var("n", "int64")
x, y = Var("x", "float32"), Var("y", "float32")
A = tir.Buffer("A", (16, 16), "float32")

CASES = [
    (i + 1, "i + 1"),
    (1 + i, "1 + i"),
    ((i + 1) * 2, "(i + 1) * 2"),
    (i + (j + 1), "i + (j + 1)"),
    (i - j - 1, "i - j - 1"),
    (i - (j - 1), "i - (j - 1)"),
    (i // 2 % 3, "i // 2 % 3"),
    (i // (j % 3), "i // (j % 3)"),
    (-i, "0 - i"),
    (n * 2 + 1, "n * 2 + 1"),
    (x * 2.0, "x * 2.0"),
    (x / y, "x / y"),
    (Div(i, j), "T.truncdiv(i, j)"),
    (Mod(i, j), "T.truncmod(i, j)"),
    (FloorDiv(x, y), "T.FloorDiv(x, y)"),
    (FloorMod(x, y), "T.FloorMod(x, y)"),
    (Max(i, const(0)), "T.max(i, 0)"),
    (Min(n, const(0, "int64")), "T.min(n, T.int64(0))"),
    (Max(x, FloatImm("float32", 0)), "T.max(x, T.float32(0.0))"),
    (i < 2, "i < 2"),
    (LT(const(2), i), "T.int32(2) < i"),
    (EQ(i + 1, j), "i + 1 == j"),
    (LT(LT(i, j), const(True)), "(i < j) < T.bool(True)"),
    (And(And(i < 1, j < 2), i < 3), "i < 1 and j < 2 and i < 3"),
    (And(i < 1, And(j < 2, i < 3)), "i < 1 and (j < 2 and i < 3)"),
    (Or(And(i < 1, j < 2), Not(i < 3)), "i < 1 and j < 2 or not i < 3"),
    (And(Or(i < 1, j < 2), Not(And(i < 3, j < 3))), "(i < 1 or j < 2) and not (i < 3 and j < 3)"),
    (Select(i < j, i, const(0)), "T.Select(i < j, i, 0)"),
    (Cast("float32", i), 'T.Cast("float32", i)'),
    (Ramp(i, const(1), 4), "T.Ramp(i, 1, 4)"),
    (Broadcast(x, 4), "T.Broadcast(x, 4)"),
    (Shuffle([Broadcast(x, 2)], [const(0), const(1)]), "T.Shuffle([T.Broadcast(x, 2)], [0, 1])"),
    (Let(i, j + 1, i * i), "T.Let(i * i, where={i: j + 1})"),
    (BufferLoad(A, (i, const(0))), "A[i, 0]"),
    (BufferLoad(A, (i, const(0, "int64"))), "A[i, T.int64(0)]"),
    (BufferLoad(tir.Buffer("B", ()), ()), "B[()]"),
    (BufferLoad(A, (i, Ramp(j, const(1), 4)), Broadcast(const(True), 4)),
     "A.vload([i, T.Ramp(j, 1, 4)], predicate=T.Broadcast(T.bool(True), 4))"),
    (Call("float32", "tir.exp", (x,)), "T.exp(x)"),
    (Call("float32", "tir.pow", (x, FloatImm("float32", 2))), "T.pow(x, T.float32(2.0))"),
    (Call("int32", "tir.shift_left", (i, const(2))), "T.shift_left(i, 2)"),
    (Call("bool", "tir.isnan", (x,)), "T.isnan(x)"),
    (Call("int32", "tir.if_then_else", (i < j, i, j)), "T.if_then_else(i < j, i, j)"),
    (Call("float32", "tir.reinterpret", (i,)), 'T.reinterpret("float32", i)'),
    (Call("int8", "tir.call_extern", (StringImm("f"), i)), 'T.call_extern("int8", "f", i)'),
    (Call("int32", "tir.undef", ()), 'T.undef()'),
    (Call("float64", "tir.exp", (x,)), 'T.exp(x, dtype="float64")'),
    (Call("int32", "my.intrinsic", (i,)), 'T.Call("int32", "my.intrinsic", [i])'),
    (Call("void", GlobalVar("f"), (i, const(1))), "Module.f(i, 1)"),
    (const(3), "T.int32(3)"),
    (const(3, "int8"), "T.int8(3)"),
    (const(-3, "int64"), "T.int64(-3)"),
    (const(True), "T.bool(True)"),
    (const(1.5), "T.float32(1.5)"),
    (const(-0.0, "float16"), "T.float16(-0.0)"),
    (const(float("inf"), "float32"), 'T.float32(float("inf"))'),
    (x * float("nan"), 'x * T.float32(float("nan"))'),
    (const(1e300, "float64"), "T.float64(1e+300)"),
    (Add(const(1), const(2)), "T.int32(1) + 2"),
    (Add(Add(const(1), const(2)), i), "T.int32(1) + 2 + i"),
    (Mul(const(2, "int64"), n) + 1, "2 * n + 1"),
    (StringImm("a"), '"a"'),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), CASES, ids=[text for _, text in CASES])
def test_a_scalar_is_written(expression: prim.PrimExpr, expected: str):
    assert script(expression) == expected


class Strange(prim.PrimExpr):
    pass


def test_a_scalar_that_nobody_knows_is_our_mistake():
    with pytest.raises(InternalError, match="does not know the scalar Strange"):
        script(Strange())


def test_a_load_outside_of_a_prim_func_is_our_mistake():
    with pytest.raises(InternalError, match="is outside of a PrimFunc"):
        script(relax.ShapeExpr([BufferLoad(tir.Buffer("S", (1,), "int64"), (i,))]))


def test_a_callee_that_is_no_name_is_our_mistake():
    with pytest.raises(InternalError, match="does not know the callee"):
        script(Call.make(DataType("int32"), i, ()))


def test_a_long_sum_is_written_without_recursion():
    total: prim.PrimExpr = i
    for _ in range(3_000):
        total = total + j
    assert script(total, line_width=10**9) == "i" + " + j" * 3_000


def test_a_size_variable_is_declared_as_one():
    info = tensor(SizeVar("n", "int64"))
    v = relax.Var("v", info)
    assert "n = T.int64(is_size_var=True)" in script(function([v], result=v, ret=info))


# ---------------------------------------------------------------- the law of precedence

ARITHMETIC = {Add: ast.Add, Sub: ast.Sub, Mul: ast.Mult, FloorDiv: ast.FloorDiv, FloorMod: ast.Mod}
COMPARISONS = {LT: ast.Lt, GT: ast.Gt, EQ: ast.Eq}
LOGIC = {And: ast.And, Or: ast.Or}

numbers = st.recursive(
    st.sampled_from([i, j]),
    lambda inner: st.builds(lambda make, a, b: make(a, b), st.sampled_from(list(ARITHMETIC)),
        inner, inner),
    max_leaves=12,
)  # fmt: skip
conditions = st.recursive(
    st.builds(lambda make, a, b: make(a, b), st.sampled_from(list(COMPARISONS)), numbers, numbers),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(lambda make, a, b: make(a, b), st.sampled_from(list(LOGIC)), inner, inner),
    ),
    max_leaves=6,
)


def structure(e: Any) -> Any:
    """An expression as nested tuples: what stands on the left and right of which operator."""
    match e:
        case Var(name=name):
            return name
        case IntImm(value=value):
            return value
        case Not(a):
            return (ast.Not, structure(a))
    table = {**ARITHMETIC, **COMPARISONS, **LOGIC}
    return (table[type(e)], structure(e.a), structure(e.b))


def structure_of_text(tree: ast.expr) -> Any:
    """The same from Python's own reading of a text; chains of `and` group to the left."""
    match tree:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=op, operand=operand):
            return (type(op), structure_of_text(operand))
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ):
            return (type(op), structure_of_text(left), structure_of_text(right))
        case ast.BoolOp(op=op, values=[first, *rest]):
            made = structure_of_text(first)
            for value in rest:
                made = (type(op), made, structure_of_text(value))
            return made
    raise AssertionError(ast.dump(tree))


@pytest.mark.slow
@given(st.one_of(numbers, conditions))
def test_python_reads_the_structure_that_was_meant(expression: prim.PrimExpr):
    read = ast.parse(script(expression), mode="eval").body
    assert structure_of_text(read) == structure(expression)


@pytest.mark.slow
@given(st.one_of(numbers, conditions))
def test_no_parentheses_can_be_left_out(expression: prim.PrimExpr):
    written = script(expression)
    for start, letter in enumerate(written):
        if letter == "(":
            end = _matching(written, start)
            without = written[:start] + written[start + 1 : end] + written[end + 1 :]
            assert _read_or_none(without.strip()) != structure(expression), written


def _matching(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    raise AssertionError(text)


def _read_or_none(text: str) -> Any:
    try:
        return structure_of_text(ast.parse(text, mode="eval").body)
    except (AssertionError, SyntaxError):
        return None

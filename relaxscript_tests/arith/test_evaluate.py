"""Concrete evaluation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from relaxscript.arith import EvaluationError, evaluate
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Buffer
from relaxscript_tests.arith.scalars import M, N, integer, shift

NUMBERS = st.integers(-50, 50)


@pytest.mark.slow
@given(NUMBERS, NUMBERS.filter(bool))
def test_floor_division_is_pythons_and_division_is_cs(a: int, b: int) -> None:
    x, y = integer(a), integer(b)
    assert evaluate(x // y) == a // b
    assert evaluate(x % y) == a % b
    assert evaluate(prim.Div(x, y)) == math.trunc(a / b)
    assert evaluate(prim.Mod(x, y)) == math.fmod(a, b)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        ((N + 3) // 4 * 4, 8),
        (prim.Max(N, M) - prim.Min(N, M), 3),
        (prim.Select(N < M, N, M), 2),
        (prim.And(N < M, N > M), False),
        (prim.Or(N < M, N > M), True),
        (prim.Not(prim.EQ(N, M)), True),
        (prim.And(N < M, prim.FloorDiv(N, 0) > 1), False),
        (prim.Or(N > M, prim.FloorDiv(N, 0) > 1), True),
        (prim.Let(Var("k", "int64"), N, M), 2),
        (prim.Call("int64", "tir.if_then_else", (N < M, prim.FloorDiv(N, 0), M)), 2),
        (prim.Cast("int8", integer(200)), -56),
        (prim.Cast("uint8", integer(-1)), 255),
        (prim.Cast("int64", prim.FloatImm("float32", -2.7)), -2),
        (prim.Cast("bool", N), True),
        (prim.FloatImm("float32", 0.1) * prim.FloatImm("float32", 0.1), 0.010000000707805157),
        (prim.IntImm("bool", 1), True),
    ],
)
def test_an_expression_has_its_value(e: PrimExpr, expected: float) -> None:
    assert evaluate(e, {N: 5, M: 2}) == expected


def test_a_let_binds_its_variable() -> None:
    k = Var("k", "int64")
    assert evaluate(prim.Let(k, N + 1, k * k), {N: 2}) == 9


@pytest.mark.parametrize(
    ("e", "message"),
    [
        (N, "`n` has no value"),
        (prim.FloorDiv(integer(1), 0), "something is divided by zero"),
        (prim.And(prim.FloorDiv(N, 0) > 1, prim.IntImm("bool", 0)), "`n` has no value"),
        (
            prim.Or(prim.IntImm("bool", 0), prim.FloorDiv(integer(1), 0) > 1),
            "something is divided by zero",
        ),
        (
            prim.Select(prim.IntImm("bool", 1), integer(1), prim.FloorDiv(integer(1), 0)),
            "divided by zero",
        ),
        (prim.BufferLoad(Buffer("A", (4,)), (integer(0),)), "only in a running program"),
        (shift("right", integer(4), -1), "nothing can be shifted by -1 bits"),
        (shift("left", integer(4), 1 << 40), "nothing can be shifted by 1099511627776 bits"),
        (prim.Call("int64", "tir.pow", (integer(10), integer(1 << 40))), "is too large"),
    ],
)
def test_what_has_no_value_says_why(e: PrimExpr, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        evaluate(e)


@pytest.mark.slow
def test_deep_expressions_are_evaluated() -> None:
    e: PrimExpr = N
    for _ in range(20000):
        e = prim.Add.make(e, integer(1))
    assert evaluate(e, {N: 1}) == 20001

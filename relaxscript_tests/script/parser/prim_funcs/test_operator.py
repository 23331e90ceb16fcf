"""Expressions of PrimFuncs, as they are written and what they mean."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim
from relaxscript.ir.structural_equality import assert_structural_equal, structural_equal
from relaxscript.script import from_source, tir as T

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off


def scalar(expression: str) -> prim.PrimExpr:
    """What an expression over `x` (float32), `k` (int32), `n` (int64) and `b` (bool) means."""
    f = from_source(
        "@T.prim_func\n"
        "def f(x: T.float32, k: T.int32, n: T.int64, b: T.bool, A: T.Buffer((4, 8), 'float16')):\n"
        f"    T.evaluate({expression})",
        mode="python",
    )
    return f.body.value


@pytest.mark.parametrize(("short", "long"), [
    ("k + 1", "T.Add(k, 1)"),
    ("2 - k", "T.Sub(2, k)"),
    ("k * n", 'T.Mul(T.Cast("int64", k), n)'),
    ("x / 2", "T.Div(x, T.float32(2))"),
    ("k // 2", "T.FloorDiv(k, 2)"),
    ("k % 2", "T.FloorMod(k, 2)"),
    ("k + 0.5", 'T.Add(T.Cast("float32", k), T.float32(0.5))'),
    ("x ** 2", "T.pow(x, T.float32(2))"),
    ("k << 2 | 1", "T.bitwise_or(T.shift_left(k, 2), 1)"),
    ("~k ^ k & 3", "T.bitwise_xor(T.bitwise_not(k), T.bitwise_and(k, 3))"),
    ("-k", "T.Sub(0, k)"),
    ("+k", "k"),
    ("-T.float32(2)", "T.float32(-2)"),
    ("k == 3", "T.EQ(k, 3)"),
    ("k != n", 'T.NE(T.Cast("int64", k), n)'),
    ("1 <= k < 9", "T.And(T.LE(T.int32(1), k), T.LT(k, 9))"),
    ("b and k > 1 or not b", "T.Or(T.And(b, T.GT(k, 1)), T.Not(b))"),
    ("True and b", "b"),
    ("1.0 if b else x", "T.if_then_else(b, T.float32(1), x)"),
    ("1 if True else missing", "1"),
    ("max(k, 1, 2)", "T.Max(T.Max(k, 1), 2)"),
    ("T.min(k, 1, n)", 'T.Min(T.Cast("int64", T.Min(k, 1)), n)'),
    ("abs(x)", "T.fabs(x)"),
    ("pow(x, 2.0)", "T.pow(x, T.float32(2))"),
    ("round(x)", "T.nearbyint(x)"),
    ("int(x)", 'T.Cast("int32", x)'),
    ("int(n)", "n"),
    ("float(k)", 'T.Cast("float32", k)'),
    ("bool(k)", "T.NE(k, 0)"),
    ("T.float64(x)", 'T.Cast("float64", x)'),
    ("T.int64(3)", 'T.cast(3, "int64")'),
    ("T.float16(k) * 2", 'T.Mul(T.Cast("float16", k), T.float16(2))'),
    ("x.astype('int8')", 'T.Cast("int8", x)'),
    ("T.float32x4(x)", "T.Broadcast(x, 4)"),
    ("A.shape[1]", "T.int64(8)"),
    ("A.ndim", "2"),
    ("T.Let(k + 1, where={k: 2})", "T.let(k, 2, k + 1)"),
    ("T.cast(x, A.dtype)", 'T.Cast("float16", x)'),
    ("len(A.shape)", "2"),
])  # fmt: skip
def test_operators_and_pythons_own_functions_are_nodes(short, long):
    assert structural_equal(scalar(short), scalar(long), map_free_vars=True)


def test_special_numbers_are_written_as_texts():
    assert scalar('T.float32("inf")').value == float("inf")
    assert scalar('T.float64("-inf")').value == -float("inf")
    assert np.isnan(scalar('T.float16("nan")').value)


def test_whole_numbers_that_need_more_bits_have_them():
    assert scalar("3000000000").dtype == "int64"
    assert scalar("3").dtype == "int32"


def test_intrinsics_are_calls_by_name():
    e = scalar("T.exp(x) + T.if_then_else(b, x, 1.0)")
    assert (e.a.op, e.b.op, e.b.dtype) == ("tir.exp", "tir.if_then_else", "float32")
    assert scalar("T.reinterpret('int32', x)").dtype == "int32"


def test_nodes_know_their_places():
    f = from_source(
        "@T.prim_func\ndef f(x: T.Buffer((4,), 'float32')):\n    x[1] = T.exp(x[2]) * 2.0"
    )
    store = f.body
    assert store.span.text == "x[1] = T.exp(x[2]) * 2.0"
    assert store.value.span.text == "T.exp(x[2]) * 2.0"
    assert store.value.a.span.text == "T.exp(x[2])"
    assert store.value.a.args[0].span.text == "x[2]"


def test_python_values_may_be_given_names():
    @T.prim_func
    def f(x: T.Buffer((4,), "int32")):
        first, rest = 1, (2, 3)
        other = T.meta_var(x[first] + rest[1])
        alias = x
        alias[0] = other

    @T.prim_func
    def g(x: T.Buffer((4,), "int32")):
        first = 1
        x[0] = x[first] + 3

    assert_structural_equal(f.with_attr("global_symbol", "g"), g)


def test_a_number_is_stored_as_that_of_the_buffer_where_both_dtypes_have_it():
    @T.prim_func
    def f(A: T.Buffer((8,), "float16"), B: T.Buffer((2,), "int8")):
        A[0] = T.float32(0.5)
        A[2:6] = T.float32(1)
        B[0] = T.int32(-128)

    values = [statement.value for statement in f.body.seq]
    assert [str(value.dtype) for value in values] == ["float16", "float16x4", "int8"]
    assert [float(value.value) for value in (values[0], values[2])] == [0.5, -128]


@pytest.mark.parametrize("number", ["T.float32(0.1)", "T.int64(2)"])
def test_a_number_that_the_buffer_cannot_hold_is_converted_by_name_only(number):
    with pytest.raises(DiagnosticError, match="not float16"):
        from_source(
            f"@T.prim_func\ndef f(A: T.Buffer((8,), 'float16')):\n    A[0] = {number}",
            mode="python",
        )


def test_a_hint_may_be_about_memory():
    @T.prim_func
    def f(A: T.Buffer((8,), "float32")):
        with T.attr(A.data, "pragma", 1):
            A[0] = 1.0

    assert f.body.node is f.buffer_map[f.params[0]].data

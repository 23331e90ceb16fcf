"""Scalar expressions as text for messages."""

from __future__ import annotations

import pytest

from relaxscript.arith import format_expr
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir import Buffer
from relaxscript_tests.arith.scalars import K, M, N, integer


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        ((N + 3) // 4 * 4, "(n + 3) // 4 * 4"),
        (N - (M - K), "n - (m - k)"),
        (N - M - K, "n - m - k"),
        (N * (M * K), "n * (m * k)"),
        (N * -2, "n * -2"),
        (prim.And(prim.Or(N < M, M < K), prim.Not(N < K)), "(n < m or m < k) and not n < k"),
        (prim.EQ(prim.EQ(N, M), prim.IntImm("bool", 1)), "(n == m) == True"),
        (prim.Select(N < M, N, M), "select(n < m, n, m)"),
        (prim.Max(N, M + 1), "max(n, m + 1)"),
        (prim.Cast("int32", N + 1), "int32(n + 1)"),
        (prim.Call("float32", "tir.exp", (Var("x", "float32"),)), "exp(x)"),
        (prim.Call("int32", GlobalVar("f"), (N,)), "f(n)"),
        (prim.BufferLoad(Buffer("A", (4, 4)), (N, M + 1)), "A[n, m + 1]"),
        (prim.Let(K, N, K + M), "let(k, n, k + m)"),
        (prim.FloatImm("float32", 0.5), "0.5"),
        (prim.Ramp(N, integer(1), 4), "ramp(n, 1)"),
    ],
)
def test_the_text_has_no_more_parentheses_than_needed(e: PrimExpr, expected: str) -> None:
    assert format_expr(e) == expected

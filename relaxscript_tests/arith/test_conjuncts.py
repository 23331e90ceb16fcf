"""The conditions that hold together where a condition does."""

from __future__ import annotations

import pytest

from relaxscript import tir
from relaxscript.arith import format_expr
from relaxscript.arith.conjuncts import conjuncts
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript_tests.arith.scalars import M, N


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (tir.all(N < 3, M > 2, N == M), ["n < 3", "m > 2", "n == m"]),
        (prim.Not(prim.Or(N < 3, M > 2)), ["n >= 3", "m <= 2"]),
        (prim.Not(prim.Not(N < 3)), ["n < 3"]),
        (prim.Not(N != 3), ["n == 3"]),
        (prim.Not(N == 3), ["not n == 3"]),
        (tir.likely(N < 3), ["n < 3"]),
        (prim.Or(N < 3, M > 2), ["n < 3 or m > 2"]),
        (prim.const(True), []),
        (prim.const(False), ["False"]),
    ],
)
def test_a_condition_is_taken_apart(condition: PrimExpr, expected: list[str]) -> None:
    assert [format_expr(part) for part in conjuncts(condition)] == expected

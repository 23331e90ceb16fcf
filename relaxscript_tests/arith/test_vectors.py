"""Vectors that follow from a number are one ramp or one repeated scalar."""

from __future__ import annotations

import pytest

from relaxscript.arith import Facts, format_expr, simplify
from relaxscript.ir.prim import Broadcast, Mod, PrimExpr, Ramp
from relaxscript_tests.arith.scalars import M, N, integer

ANY = Facts(nonnegative=False)


@pytest.mark.parametrize(
    ("vector", "expected"),
    [
        (Ramp(N, 1, 4) + Ramp(M, 2, 4), Ramp(N + M, 3, 4)),
        (Ramp(N, 1, 4) - Broadcast(M, 4), Ramp(N - M, 1, 4)),
        (Broadcast(N, 4) - Ramp(M, 1, 4), Ramp(N - M, -1, 4)),
        (Ramp(N, 4, 4) * Broadcast(integer(2), 4), Ramp(N * 2, 8, 4)),
        (Broadcast(N, 4) + Broadcast(M, 4), Broadcast(N + M, 4)),
        (Broadcast(N, 4) < Broadcast(M, 4), Broadcast(N < M, 4)),
        (Ramp(N, 4, 4) // Broadcast(integer(2), 4), Ramp(N // 2, 2, 4)),
        (Ramp(N * 8 + 1, 1, 4) // Broadcast(integer(8), 4), Broadcast(N, 4)),
        (Ramp(N * 4, 1, 4) % Broadcast(integer(64), 4), Ramp(N % 16 * 4, 1, 4)),
        (Ramp(N, 4, 4) % Broadcast(integer(2), 4), Broadcast(N % 2, 4)),
        (Ramp(N, 1, 4) + Broadcast(M, 4) * Broadcast(integer(2), 4), Ramp(N + M * 2, 1, 4)),
    ],
)
def test_elements_that_follow_from_a_number_stay_together(
    vector: PrimExpr, expected: PrimExpr
) -> None:
    assert format_expr(simplify(vector, ANY)) == format_expr(expected)


@pytest.mark.parametrize(
    "vector",
    [
        Ramp(N, 1, 4) // Broadcast(integer(4), 4),
        Mod(Ramp(N * 8 + 1, 1, 4), Broadcast(integer(8), 4)),
        Broadcast(integer(1), 4) // Broadcast(integer(0), 4),
    ],
)
def test_elements_that_go_their_own_ways_stay_an_operation(vector: PrimExpr) -> None:
    assert simplify(vector, ANY) is vector


def test_facts_keep_elements_in_step() -> None:
    vector = Mod(Ramp(N * 8 + 1, 1, 4), Broadcast(integer(8), 4))
    assert format_expr(simplify(vector)) == format_expr(Ramp(integer(1), 1, 4))

"""Bounds of expressions."""

from __future__ import annotations

import pytest

from relaxscript.arith import Facts, bounds
from relaxscript.arith.quotient_bounds import Ends
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript_tests.arith.scalars import M, N, integer, shift


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (N, (0, None)),
        (integer(3), (3, 3)),
        (3 - N, (None, 3)),
        (N % 8, (0, 7)),
        (N % 8 + M % 4, (0, 10)),
        (N - N // 4 * 4, (0, 3)),
        ((N + 3) // 4 * 4 - N, (0, 3)),
        (prim.Min(N, integer(5)), (0, 5)),
        (prim.Max(N, integer(5)), (5, None)),
        (prim.Select(N < M, integer(2), integer(7)), (2, 7)),
        (shift("left", N % 4, 2), (0, 12)),
        (shift("right", N % 64, 4), (0, 3)),
        (prim.Call("int64", "tir.abs", (3 - N % 8,)), (0, 4)),
        (prim.Call("int64", "tir.if_then_else", (N < M, integer(2), integer(7))), (2, 7)),
        (Var("u", "uint8"), (0, 255)),
        (N < M, (0, 1)),
        (Var("x", "float32"), (None, None)),
        (prim.Call("int64", "tir.call_extern", (prim.StringImm("f"),)), (None, None)),
    ],
)
def test_bounds_are_as_close_as_can_be(e: PrimExpr, expected: tuple[int, int]) -> None:
    assert bounds(e) == expected


def test_ranges_bound_what_is_made_of_variables() -> None:
    facts = Facts({N: (1, 4), M: (-2, 3)})
    assert bounds(N * M, facts) == (-8, 12)
    assert bounds(M * M, facts) == (0, 9)
    assert bounds(prim.Div(M, integer(2)), facts) == (-1, 1)


def bit(op: str, a: PrimExpr, b: PrimExpr | int) -> PrimExpr:
    return prim.Call("int64", f"tir.bitwise_{op}", (a, prim.as_prim(b)))


@pytest.mark.parametrize(
    ("e", "n", "m", "expected"),
    [
        (prim.Div(N, M), (-9, 4), (4, 10), (-2, 1)),
        (prim.Div(N, M), (-9, 4), (-2, 0), (-4, 9)),
        (prim.Div(N, M), (5, 9), (None, None), (-9, 9)),
        (prim.Div(N, M), (-9, -5), (2, None), (-4, 0)),
        (prim.Mod(N, M), (-9, 4), (4, 10), (-9, 4)),
        (prim.Mod(N, M), (1, 10), (4, 10), (0, 9)),
        (prim.Mod(N, M), (-20, 4), (-4, 3), (-3, 3)),
        (prim.Mod(N, integer(8)), (-3, 20), (0, 0), (-3, 7)),
        (N // M, (-9, 4), (4, 10), (-3, 1)),
        (N // M, (-9, 4), (-2, 0), (-4, 9)),
        (N // M, (-9, -5), (2, None), (-5, -1)),
        (N % M, (-9, 4), (4, 10), (0, 9)),
        (N % M, (-9, 4), (-7, 10), (-6, 9)),
        (N % M, (1, 3), (4, None), (1, 3)),
        (bit("and", N, 63), (-1000, 1000), (0, 0), (0, 63)),
        (bit("and", N, M), (-5, 40), (0, 12), (0, 12)),
        (bit("and", N, M), (-5, 40), (-1, 12), (None, None)),
        (bit("and", N, -8), (0, 21), (0, 0), (0, 16)),
        (bit("or", N, M), (3, 9), (2, 5), (3, 15)),
        (bit("or", N, M), (-1, 9), (2, 5), (None, None)),
        (bit("xor", N, M), (3, 9), (2, None), (0, None)),
        (prim.Call("int64", "tir.bitwise_not", (N,)), (0, 7), (0, 0), (-8, -1)),
        (prim.Call("int64", "tir.shift_right", (N, M)), (-9, 40), (1, 3), (-5, 20)),
        (prim.Call("int64", "tir.shift_right", (N, M)), (-9, -5), (1, None), (-5, -1)),
        (prim.Call("int64", "tir.shift_right", (N, M)), (-9, -5), (-4, -1), (None, None)),
        (prim.Call("int64", "tir.abs", (N,)), (-5, 3), (0, 0), (0, 5)),
        (prim.Select(N >= 0, N, -N), (-5, 3), (0, 0), (0, 5)),
        (prim.Min(N, -N), (-5, 3), (0, 0), (-5, 0)),
    ],
)
def test_quotients_remainders_and_bits_are_bounded_by_their_operands(
    e: PrimExpr, n: Ends, m: Ends, expected: Ends
) -> None:
    assert bounds(e, Facts({N: n, M: m}, nonnegative=False)) == expected


def test_conditions_bound_each_of_their_variables() -> None:
    facts = Facts().with_condition(N * 2 + M < 10).with_condition(prim.NE(M, integer(0)))
    assert bounds(N, facts) == (0, 4)
    assert bounds(M, facts) == (1, 9)


def test_an_extremum_in_a_product_is_not_taken_for_the_best_of_its_operands() -> None:
    signed = Facts(nonnegative=False)
    assert bounds((M + 7) * prim.Min(N, integer(0)), signed) == (None, None)
    assert bounds((M - 7) * prim.Max(N, integer(2))) == (None, None)


def cast(dtype: str, e: PrimExpr) -> PrimExpr:
    return prim.Cast(dtype, e)


def vector(value: int, lanes: int = 4) -> PrimExpr:
    return prim.Broadcast(integer(value), lanes)


U = Var("u", "uint8")


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (cast("int8", N % 100), (0, 99)),
        (cast("int8", N % 200), (-128, 127)),
        (cast("uint8", -1 - N % 4), (252, 255)),
        (cast("uint8", N % 4 - 1), (0, 255)),
        (cast("int32", M), (-(2**31), 2**31 - 1)),
        (cast("int64", U), (0, 255)),
        (cast("int32", U) * 2 + 1, (1, 511)),
        (cast("int64", cast("int8", N % 100)) + 1, (1, 100)),
        (cast("int32", cast("float32", N % 7 - 3)), (-3, 3)),
        (cast("int32", cast("float32", N)), (-(2**31), 2**31 - 1)),
        (cast("int8", cast("float32", N % 7)), (-128, 127)),
        (cast("bool", N % 7), (0, 1)),
        (U // prim.IntImm("uint8", 3), (0, 85)),
        (prim.Mod(Var("i", "int8"), prim.IntImm("int8", 3)), (-2, 2)),
        (U + U, (0, 255)),
        (prim.Broadcast(N % 8, 4), (0, 7)),
        (prim.Ramp(N % 8, integer(2), 4), (0, 13)),
        (prim.Ramp(N % 8, integer(-2), 4), (-6, 7)),
        (prim.Ramp(N % 8, M % 3, 4), (0, 13)),
        (prim.Ramp(integer(0), integer(1), 8) // vector(2, 8), (0, 3)),
        (prim.Ramp(integer(0), integer(1), 8) % vector(4, 8), (0, 3)),
        (prim.Min(prim.Broadcast(N, 4), vector(7)), (0, 7)),
        (prim.Max(prim.Broadcast(N, 4), vector(7)), (7, None)),
        (vector(7) - prim.Broadcast(N % 3, 4), (5, 7)),
        (vector(7) * prim.Broadcast(N % 3, 4), (0, 14)),
        (cast("int8x4", prim.Ramp(N % 8, integer(2), 4)), (0, 13)),
        (prim.Shuffle((vector(7), vector(9)), (integer(5),)), (7, 9)),
        (prim.Select(N < M, prim.Broadcast(N % 3, 4), vector(5)), (0, 5)),
    ],
)
def test_casts_vectors_and_integers_of_few_bits_are_bounded_by_their_operands(
    e: PrimExpr, expected: Ends
) -> None:
    assert bounds(e) == expected


def test_what_is_known_of_a_variable_of_few_bits_bounds_it() -> None:
    facts = Facts({U: (3, 1000)})
    assert bounds(U, facts) == (3, 255)
    assert bounds(U // prim.IntImm("uint8", 3), facts) == (1, 85)
    assert bounds(Var("v", "int8"), facts) == (-128, 127)

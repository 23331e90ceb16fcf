"""Calls that are arithmetic: shifts, bits, absolute values, lazy choices."""

from __future__ import annotations

import pytest

from relaxscript.arith import Facts, bounds, format_expr, simplify
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript_tests.arith.scalars import K, M, N, integer, shift


def absolute(e: PrimExpr) -> PrimExpr:
    return prim.Call("int64", "tir.abs", (e,))


def choice(condition: PrimExpr, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return prim.Call("int64", "tir.if_then_else", (condition, a, b))


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (shift("left", N, 2), "n * 4"),
        (shift("left", N, 0), "n"),
        (shift("left", N + M, 1) - N, "n + m * 2"),
        (shift("right", N, 1), "n // 2"),
        (shift("right", shift("left", N, 3), 1), "n * 4"),
        (shift("right", shift("right", N, 1), 2), "n // 8"),
        (shift("left", shift("right", N, 2), 2) + N % 4, "n"),
        (shift("left", N, integer(1) + 1), "n * 4"),
        (absolute(N), "n"),
        (absolute(-1 - N), "n + 1"),
        (absolute(N - M), "abs(n - m)"),
        (choice(N >= 0, M, K), "m"),
        (choice(N < M, K, K), "k"),
        (choice(N < M, N, M), "min(n, m)"),
        (choice(N >= M, N, M), "max(n, m)"),
        (choice(N < M, K, N + N - N), "if_then_else(n < m, k, n)"),
    ],
)
def test_a_call_is_read_as_arithmetic(e: PrimExpr, expected: str) -> None:
    assert format_expr(simplify(e)) == expected


def bitwise(op: str, *args: PrimExpr | int) -> PrimExpr:
    return prim.Call("int64", f"tir.bitwise_{op}", tuple(map(prim.as_prim, args)))


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (bitwise("and", N, 7), "n % 8"),
        (bitwise("and", 1, N), "n % 2"),
        (bitwise("and", N, 0), "0"),
        (bitwise("and", N, -1), "n"),
        (bitwise("and", N, -8) + bitwise("and", N, 7), "n"),
        (bitwise("and", N + 7, bitwise("not", 7)), "(n + 7) // 8 * 8"),
        (bitwise("not", N), "0 - n - 1"),
        (bitwise("not", bitwise("not", N)), "n"),
        (bitwise("or", N, M) - bitwise("or", M, N), "0"),
    ],
)
def test_bits_are_read_as_arithmetic_where_they_are(e: PrimExpr, expected: str) -> None:
    signed = Facts(nonnegative=False)
    assert format_expr(simplify(e, signed)) == expected


def test_numbers_that_may_be_negative_are_shifted_like_others() -> None:
    facts = Facts(nonnegative=False)
    assert format_expr(simplify(shift("right", N, 1), facts)) == "n // 2"
    assert simplify(absolute(N), facts).op == "tir.abs"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "e",
    [shift("left", N, M), shift("left", N, 64), shift("right", N, -1),
     shift("left", Var("u", "uint8"), prim.IntImm("uint8", 1))],
)  # fmt: skip
def test_a_shift_by_an_unknown_or_impossible_number_is_left_alone(e: PrimExpr) -> None:
    assert simplify(e) is e


def test_a_choice_keeps_a_division_from_being_by_zero() -> None:
    guarded = choice(M > 0, N // M, integer(0))
    assert simplify(guarded) is guarded
    compared = choice(N // M < 4, N // M, integer(4))
    assert simplify(compared) is compared


def leading_zeros(e: PrimExpr) -> PrimExpr:
    return prim.Call("int32", "tir.clz", (e,))


def test_leading_zeros_of_a_number_are_counted() -> None:
    thirty_two = [prim.IntImm("int32", value) for value in (0, 1, 128)]
    found = [format_expr(simplify(leading_zeros(e))) for e in (*thirty_two, integer(1))]
    assert found == ["32", "31", "24", "63"]
    assert bounds(leading_zeros(N)) == (0, 64)


def test_a_shift_by_a_few_places_has_bounds() -> None:
    facts = Facts({N: (-1, 11), M: (2, 3)})
    assert bounds(shift("left", N, M), facts) == (-8, 88)
    assert bounds(shift("left", N, M), Facts({N: (-1, 11)})) == (None, None)

"""Simplification: readable results, of which nothing more can be simplified."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from relaxscript.arith import Facts, format_expr, simplify
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, SizeVar, Var
from relaxscript.ir.tir import Buffer
from relaxscript_tests import examples
from relaxscript_tests.arith import brute_force
from relaxscript_tests.arith.scalars import K, M, N, integer

X, B, U = Var("x", "float32"), Var("b", "bool"), Var("u", "uint8")


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (N - M + 1, "n + 1 - m"),
        (1 - M + N - 2, "n - m - 1"),
        (N - M + 1 + M * N, "n - m + n * m + 1"),
        ((N * 4 + 3) // 4, "n"),
        ((N * M * 6) // (M * 3), "n * 2"),
        (N % 8 + N // 8 * 8, "n"),
        ((N + M) * (N - M) - N * N + M * M, "0"),
        (N * M + N - N * (M + 1), "0"),
        ((N * M + N) // (M + 1), "n"),
        ((N + 2 - 3) // 2 + 1, "(n + 1) // 2"),
        (N * 5 // 4, "n + n // 4"),
        (N // 2 // 3, "n // 6"),
        ((N % 4 + 1) // 8, "0"),
        (prim.Div(N * 6 + 3, integer(3)), "n * 2 + 1"),
        (prim.Max(N + 1, N + 3), "n + 3"),
        (prim.Min(prim.Min(N, M), N + M), "min(n, m)"),
        (prim.Max(N, M) - prim.Max(M, N), "0"),
        (prim.Select(N < M, K + K, K * 2), "k * 2"),
        (prim.Select(N >= 0, M, K), "m"),
        (prim.Select(N < M, N, M), "min(n, m)"),
        (prim.Select(N < M, M * 2, N * 2), "max(m, n) * 2"),
        (prim.Max(N * 4, M * 4 + 8) % 4, "0"),
        (prim.Max(N * 4 + 1, M * 8) // 4, "max(n, m * 2)"),
        (prim.Select(N < M, N * 4, K * 8) // 4, "select(n < m, n, k * 2)"),
        (prim.Div(prim.Div(N - M, integer(2)), integer(3)), "(n - m) / 6"),
        (0 // (N + 1), "0"),
        (prim.Cast("int64", integer(3)) + N, "n + 3"),
        (prim.Let(K, N + 1, K * 2), "n * 2 + 2"),
    ],
)
def test_equal_things_cancel(e: PrimExpr, expected: str) -> None:
    assert format_expr(simplify(e)) == expected


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (2 * N, "n * 2"),
        (1 + N * 2, "n * 2 + 1"),
        (M * 0 + N + M, "n + m"),
        (-N + M, "m - n"),
        (prim.Sub(integer(3), N), "3 - n"),
        (-(N + N), "n * -2"),
        (N - N // 8 * 8, "n % 8"),
        (M + N - N // 8 * 8, "m + n % 8"),
        (N // 4 - N // 32 * 8, "n // 4 % 8"),
        ((N * 5) % 4, "n % 4"),
        (N - N // M * M, "n % m"),
        (prim.LT(N + 1, M + 1), "n < m"),
        (prim.GE(N - 1, integer(0)), "n >= 1"),
        (prim.Not(N < M), "n >= m"),
        (prim.Not(prim.EQ(N, M)), "n != m"),
        (prim.LT(N * 2, integer(7)), "n < 4"),
        (prim.Select(N < 4, integer(9), integer(0)) + 0, "select(n < 4, 9, 0)"),
        (prim.And(N < M, prim.Or(N < M, N < M)), "n < m"),
    ],
)
def test_what_is_written_is_what_people_would_write(e: PrimExpr, expected: str) -> None:
    assert format_expr(simplify(e)) == expected


@pytest.mark.parametrize(
    ("e", "truth"),
    [
        (prim.EQ(N * 2, M * 4 + 1), 0),
        (N % 4 < 4, 1),
        (N + 1 > N, 1),
        (prim.And(N < M, N >= M), 0),
        (prim.Or(N < M, prim.Not(N < M)), 1),
        (prim.NE(N * 3 + 1, M * 6), 1),
        (prim.LT(prim.FloatImm("float32", 1.0), prim.FloatImm("float32", 2.0)), 1),
    ],
)
def test_a_condition_that_is_decided_becomes_a_literal(e: PrimExpr, truth: int) -> None:
    result = simplify(e)
    assert isinstance(result, prim.IntImm)
    assert (result.dtype, result.value) == ("bool", truth)


@pytest.mark.parametrize(
    "e",
    [N, integer(3), N * 2 + 1, N * M + K, (N + 3) // 4 * 4, N // 4 % 8, 3 - N, -N, N % M, N <= M,
     prim.Max(N, M), prim.Select(N < M, N, K), prim.And(N < M, M < K), X * X, prim.Not(B)],
)  # fmt: skip
def test_what_is_simple_comes_back_as_the_same_object(e: PrimExpr) -> None:
    assert simplify(e) is e


@pytest.mark.parametrize(
    "e",
    [prim.FloorDiv(N, 0), N // M - N // M, 0 * (N // M),
     prim.Min(prim.FloorDiv(N, 0), integer(1)) * 0, prim.Mod(N, M) * 0,
     prim.And(prim.IntImm("bool", 0), prim.EQ(N // M, K))],
)  # fmt: skip
def test_a_possible_division_by_zero_is_not_dropped(e: PrimExpr) -> None:
    assert simplify(e) is e


def test_a_division_that_cannot_be_by_zero_is_dropped() -> None:
    assert format_expr(simplify(N // (M + 1) - N // (M + 1))) == "0"


def test_floats_are_left_alone_but_for_exact_literals() -> None:
    assert simplify(X + X - X) is not X
    half = prim.FloatImm("float32", 0.5)
    assert format_expr(simplify(X * (half + half))) == "x * 1.0"
    tenth = prim.FloatImm("float32", 0.1) * prim.FloatImm("float32", 0.1)
    assert simplify(tenth) is tenth
    nothing = half - half
    assert simplify(nothing) is nothing


def test_small_and_unsigned_integers_do_not_wrap_silently() -> None:
    u = Var("u", "uint8")
    assert simplify(u - u + u) is not u
    literal = prim.IntImm("uint8", 200) + prim.IntImm("uint8", 100)
    assert simplify(literal) is literal
    assert format_expr(simplify(prim.IntImm("uint8", 20) + prim.IntImm("uint8", 10))) == "30"


def test_a_narrowing_cast_stays() -> None:
    e = prim.Cast("int64", prim.Cast("int32", N * 1000))
    assert "int32(n * 1000)" in format_expr(simplify(e))


def test_numbers_too_large_for_the_data_type_are_left_alone() -> None:
    e = integer((1 << 63) - 1) + 1
    assert simplify(e) is e


def test_indices_inside_a_load_are_simplified() -> None:
    buffer = Buffer("A", (16,), "float32")
    load = prim.BufferLoad(buffer, (N + 1 - 1,))
    result = simplify(load)
    assert isinstance(result, prim.BufferLoad)
    assert result.indices == (N,)


def test_equal_loads_cancel() -> None:
    buffer = Buffer("A", (16,), "int64")
    load = prim.BufferLoad(buffer, (N + 1,)) - prim.BufferLoad(buffer, (1 + N,))
    assert format_expr(simplify(load)) == "0"


def test_calls_with_effects_are_left_alone() -> None:
    call = prim.Call("int64", "tir.call_extern", (prim.StringImm("next"), N + 0))
    e = call - call
    assert simplify(e) is e


def test_facts_are_used() -> None:
    facts = Facts({N: (0, 3)})
    assert format_expr(simplify(N // 4, facts)) == "0"
    assert format_expr(simplify(N // 4, Facts().with_equal(N, M * 4))) == "m"
    assert format_expr(simplify((N * 4 + K) // 4, Facts().with_condition(K < 4))) == "n"
    assert format_expr(simplify((N * M + K) // M, Facts().with_condition(K < M))) == "n"
    assert format_expr(simplify(N % 8, Facts().with_congruence(N, 8))) == "0"
    assert format_expr(simplify(N * 3 + 1, Facts().with_congruence(N, 8, 2))) == "n * 3 + 1"


def test_without_the_assumption_of_sizes_variables_may_be_negative() -> None:
    facts = Facts(nonnegative=False)
    e = prim.Max(N, integer(0))
    assert simplify(e, facts) is e
    size = SizeVar("s", "int64")
    assert simplify(prim.Max(size, integer(0)), facts) is size


def test_the_place_in_the_source_is_kept() -> None:
    e = (N + N).replace(span="here")
    assert simplify(e).span == "here"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("a sum", lambda e, v: prim.Add.make(e, v)),
        ("a sum to the right", lambda e, v: prim.Add.make(v, e)),
        ("divisions", lambda e, v: prim.FloorDiv.make(prim.Add.make(e, v), integer(2))),
        ("remainders", lambda e, v: prim.FloorMod.make(prim.Add.make(e, v), integer(7))),
        ("a power", lambda e, v: prim.Mul.make(e, N)),
        ("maxima", lambda e, v: prim.Max.make(e, v)),
        ("choices", lambda e, v: prim.Select.make(prim.LT.make(v, e), e, v)),
        ("doubling", lambda e, v: prim.Add.make(e, e)),
    ],
)
def test_expressions_may_be_nested_very_deep(name: str, build) -> None:
    e: PrimExpr = N
    for i in range(3000):
        e = build(e, Var(f"v{i}", "int64"))
    result = simplify(e)
    assert simplify(result) is result


@pytest.mark.slow
def test_simplifying_twice_is_simplifying_once(rng: np.random.Generator) -> None:
    for _ in range(examples(20_000)):
        random = Random(int(rng.integers(1 << 62)))
        draw = random.choice((brute_force.expression, brute_force.condition))
        result = simplify(draw(random))
        assert simplify(result) is result, format_expr(result)


def test_what_is_divided_by_zero_stays_beside_other_quotients() -> None:
    for e in (
        (N // 5) + (prim.FloorDiv(N, 0)),
        (M % 8) - prim.FloorDiv(N, 0),
        prim.Mod(prim.Div(-2, N - N), 8),
    ):
        once = simplify(e)
        assert simplify(once) is once


def test_multiples_of_extrema_are_chosen_from_as_extrema_are() -> None:
    e = prim.Min(K * 8, prim.Min(M, 5) * 8)
    assert format_expr(simplify(e)) == "min(min(k, m), 5) * 8"


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (prim.Cast("float32", integer(3)), "3.0"),
        (prim.Cast("int32", prim.FloatImm("float32", 2.5)), "2"),
        (prim.Cast("bool", integer(0)), "False"),
        (prim.Cast("int8", N - N + 7), "7"),
        (U - U, "0"),
        (prim.EQ(U, U), "True"),
        (prim.LT(U, U), "False"),
        (prim.Min(N + K, M + K) - K, "min(n, m)"),
        (prim.Min(N, M) - prim.Min(N + 10, M + 10), "-10"),
        (prim.Min(0 - N, 0 - M) + prim.Max(N, M), "0"),
        (prim.Min(N % 2, M % 2 + 10), "n % 2"),
        ((N * 32 + M % 32) // 64, "n // 2"),
        ((N * 16 + M % 2 * 8 + K % 8) % 64 // 8, "n % 4 * 2 + m % 2"),
    ],
)
def test_what_is_known_without_the_variables_is_written(e: PrimExpr, expected: str) -> None:
    assert format_expr(simplify(e, Facts(nonnegative=False))) == expected


def test_a_cast_that_would_wrap_and_a_number_that_may_be_none_are_left() -> None:
    for e in (prim.Cast("int8", integer(300)), X - X, prim.EQ(X, X), U // U - U // U):
        assert simplify(e) is e

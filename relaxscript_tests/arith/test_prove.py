"""Proofs: the answers on what matters for shapes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relaxscript.arith import (
    NO,
    UNKNOWN,
    YES,
    Answer,
    Facts,
    bounds,
    prove,
    prove_equal,
    simplify,
)
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript_tests.arith.scalars import K, M, N, integer
from relaxscript_tests.arith.true_facts import expression, true_facts


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (N, N, YES),
        (N, N + 1, NO),
        (N, M, UNKNOWN),
        (2 * N, N + N, YES),
        (2 * N, 2 * N + 1, NO),
        (2 * N, 2 * M + 1, NO),
        (2 * N, integer(7), NO),
        (2 * N, integer(8), UNKNOWN),
        (N, integer(0), UNKNOWN),
        (N, integer(-1), NO),
        (integer(-1), N, NO),
        (N + 1, integer(0), NO),
        (integer(3), integer(3), YES),
        (integer(3), integer(4), NO),
        (prim.IntImm("int32", 3), integer(3), YES),
        (N * M + N, N * (M + 1), YES),
        (N * M, M * N, YES),
        (N * N, integer(2), NO),
        (N % 4, integer(4), NO),
        ((N + 3) // 4 * 4, N, UNKNOWN),
        (prim.Max(N, M), prim.Max(M, N), YES),
        (prim.Max(N, M) + prim.Min(N, M), N + M, YES),
        (prim.FloatImm("float64", 1.0), prim.FloatImm("float64", 2.0), NO),
        (prim.FloatImm("float64", float("nan")), prim.FloatImm("float64", float("nan")), YES),
        (prim.IntImm("bool", 1), prim.IntImm("bool", 0), NO),
        (Var("x", "float32"), Var("y", "float32"), UNKNOWN),
    ],
)
def test_equality_is_answered(a: PrimExpr, b: PrimExpr, expected: Answer) -> None:
    assert prove_equal(a, b) is expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (N * N >= N, YES),
        ((N + 3) // 4 * 4 >= N, YES),
        ((N + 3) // 4 * 4 < N + 4, YES),
        (N // M * M <= N, YES),
        (N * N + 1 >= 2 * N, YES),
        (prim.Max(N, M) >= N, YES),
        (prim.Min(N, M) > N, NO),
        (N < N, NO),
        (N > 0, UNKNOWN),
        (N < M, UNKNOWN),
        (prim.And(N + 1 > N, N < M), UNKNOWN),
        (prim.And(N > N, N < M), NO),
        (prim.Or(N >= 0, N < M), YES),
        (prim.Not(N < N), YES),
        (prim.NE(N, N + 1), YES),
        (prim.IntImm("bool", 1), YES),
        (Var("b", "bool"), UNKNOWN),
        (prim.LT(Var("x", "float32"), Var("y", "float32")), UNKNOWN),
    ],
)
def test_a_condition_is_answered(condition: PrimExpr, expected: Answer) -> None:
    assert prove(condition) is expected


def test_facts_decide() -> None:
    assert prove_equal(N, M, Facts().with_equal(N, M)) is YES
    assert prove_equal(N * 2, M, Facts().with_equal(M, N + N)) is YES
    assert prove_equal(N, integer(0), Facts({N: (1, None)})) is NO
    assert prove_equal(N, integer(5), Facts({N: (5, 5)})) is YES
    assert prove(N + K <= M + K, Facts().with_condition(N < M)) is YES
    assert prove(N <= M, Facts().with_condition(prim.And(N <= K, K <= M))) is YES
    assert prove_equal(N % 4, integer(0), Facts().with_congruence(N, 8)) is YES
    assert prove_equal(N, M, Facts().with_condition(N < M)) is NO
    assert prove(N < M, Facts().with_condition(N < M)) is YES


def test_variables_may_be_negative_if_facts_say_so() -> None:
    facts = Facts(nonnegative=False)
    assert prove(N >= 0, facts) is UNKNOWN
    assert prove(N * N >= 0, facts) is YES
    assert prove_equal(N, integer(-1), facts) is UNKNOWN


def test_what_cannot_be_read_is_unknown() -> None:
    call = prim.Call("int64", "tir.call_extern", (prim.StringImm("next"),))
    assert prove_equal(call, N) is UNKNOWN
    assert prove(call > N) is UNKNOWN
    assert prove(N >= 0, Facts().with_condition(call > N)) is YES


def test_every_true_fact_is_proved() -> None:
    assert [fact.text for fact in true_facts() if prove(fact.claim, fact.facts) is not YES] == []


def test_the_opposite_of_a_true_fact_is_refuted() -> None:
    opposites = [(fact.text, prim.Not(fact.claim), fact.facts) for fact in true_facts()]
    assert [text for text, claim, facts in opposites if prove(claim, facts) is not NO] == []


@pytest.mark.parametrize(
    ("condition", "given"),
    [
        ("n // m >= 0", "True"),
        ("n >= m", "n * k >= m * k"),
        ("n == m", "n // 4 == m // 4"),
        ("n * n >= 2 * n", "True"),
        ("n % 4 == 0", "n % 6 == 0"),
        ("n < 4", "n < 4 or m < 4"),
        ("n // 2 + m // 2 == (n + m) // 2", "True"),
        ("truncdiv(n - m, 2) == (n - m) // 2", "True"),
        ("abs(n - m) < n", "n > 0"),
        ("(n - 7) * max(m, 2) >= 2 * (n - 7)", "True"),
    ],
)
def test_what_is_true_for_some_values_only_is_unknown(condition: str, given: str) -> None:
    n, m, k = (Var(name, "int64") for name in "nmk")
    names = {"n": n, "m": m, "k": k}
    facts = Facts().with_condition(expression(given, names))
    expected = YES if condition == "n // m >= 0" else UNKNOWN
    assert prove(expression(condition, names), facts) is expected


def test_a_guarded_division_says_nothing_of_its_divisor() -> None:
    guarded = prim.And(N > 0, M // N >= 0)
    assert prove(guarded) is UNKNOWN
    assert prove(prim.Not(guarded)) is UNKNOWN
    chosen = prim.Call("int64", "tir.if_then_else", (N > 0, M // N, integer(0)))
    assert prove(prim.And(chosen >= 0, N > 0)) is UNKNOWN


def test_numbers_of_python_may_stand_for_expressions() -> None:
    assert prove_equal(3, 3) is YES
    assert prove_equal(N, 3) is UNKNOWN
    assert prove(True) is YES


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: prove("n"), r"`prove.condition` must be a scalar expression or a number, not str"),
        (lambda: prove(N), "`prove.condition` must be a bool expression, not one of int64"),
        (lambda: prove_equal(None, N), "`prove_equal.a` must be a scalar expression or a number"),
        (lambda: prove_equal(N, [1]), "`prove_equal.b` must be a scalar expression or a number"),
        (lambda: simplify("n"), "`simplify.e` must be a scalar expression or a number"),
        (lambda: bounds(None), "`bounds.e` must be a scalar expression or a number"),
    ],
)
def test_what_is_no_expression_is_refused(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ask()


def test_a_proof_of_something_long_stops() -> None:
    total: PrimExpr = integer(0)
    for i in range(500):
        total = total + Var(f"v{i}", "int64") * Var(f"w{i}", "int64") // 3
    assert prove(total * 3 >= total) is YES
    assert prove(total >= 7 * N * M - 1000) is UNKNOWN

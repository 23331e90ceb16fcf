"""Proofs: the answers on what matters for shapes, and their truth against brute force."""

from __future__ import annotations

import pytest
from hypothesis import given

from relaxscript.arith import NO, UNKNOWN, YES, Answer, Facts, prove, prove_equal
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript_tests.arith.random_scalars import (
    SMALL,
    K,
    M,
    N,
    conditions,
    integer,
    integers,
    value,
)


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


@given(integers(3), integers(3))
def test_an_answer_on_equality_is_true(a: PrimExpr, b: PrimExpr) -> None:
    answer = prove_equal(a, b)
    for assignment in SMALL:
        x, y = value(a, assignment), value(b, assignment)
        if x is not None and y is not None:
            assert answer is not YES or x == y
            assert answer is not NO or x != y


@given(conditions())
def test_an_answer_on_a_condition_is_true(condition: PrimExpr) -> None:
    answer = prove(condition)
    found = {value(condition, assignment) for assignment in SMALL}
    assert answer is not YES or 0 not in found
    assert answer is not NO or 1 not in found


@given(conditions(2), conditions(2))
def test_an_answer_under_a_condition_is_true_where_that_holds(
    fact: PrimExpr, condition: PrimExpr
) -> None:
    answer = prove(condition, Facts().with_condition(fact))
    holding = [assignment for assignment in SMALL if value(fact, assignment) == 1]
    found = {value(condition, assignment) for assignment in holding}
    assert answer is not YES or 0 not in found
    assert answer is not NO or 1 not in found


@given(integers(2), integers(2), conditions(2))
def test_an_answer_under_an_equality_is_true_where_that_holds(
    a: PrimExpr, b: PrimExpr, condition: PrimExpr
) -> None:
    answer = prove(condition, Facts().with_equal(a, b))
    found = set()
    for assignment in SMALL:
        x, y = value(a, assignment), value(b, assignment)
        if x is not None and x == y:
            found.add(value(condition, assignment))
    assert answer is not YES or 0 not in found
    assert answer is not NO or 1 not in found

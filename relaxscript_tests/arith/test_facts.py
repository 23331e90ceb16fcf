"""Facts."""

from __future__ import annotations

from itertools import permutations

from relaxscript.arith import YES, Facts, bounds, prove, simplify
from relaxscript.ir import structural_equal
from relaxscript.ir.prim import Let, Or, PrimExpr, SizeVar, Var
from relaxscript_tests.arith.scalars import K, M, N


def test_facts_are_never_changed() -> None:
    before = Facts()
    after = before.with_range(N, 1, 4).with_equal(M, 3).with_condition(N < M).with_congruence(N, 2)
    assert prove(N >= 1, before) is not YES
    assert (before.ranges, before.equalities, before.conditions) == ({}, (), ())
    assert after.range_of(N) == (1, 4)
    assert prove(M > N, after) is YES


def test_a_variable_without_a_range_is_a_size_unless_said_otherwise() -> None:
    size = SizeVar("s", "int64")
    signed = Facts(nonnegative=False)
    assert Facts().range_of(N) == (0, None)
    assert signed.range_of(N) == (None, None)
    assert signed.range_of(size) == (0, None)
    assert signed.with_range(N, -3, None).range_of(N) == (-3, None)


def test_answers_do_not_depend_on_what_was_asked_of_the_same_facts_before() -> None:
    x = Var("x", "int64")
    asked: list[PrimExpr] = [
        N // 4 * 4 <= N, M > N, Or(N < 3, K == 7), M - N >= 2, Let(x, N * 2, x + M) > 3 * N, K < 8,
    ]  # fmt: skip

    def facts() -> Facts:
        known = Facts().with_condition(N < M).with_condition(Or(N < 3, K == 7))
        return known.with_equal(K, N + 4).with_congruence(M, 4, 2)

    alone = {question: prove(question, facts()) for question in asked}
    for order in permutations(asked, 3):
        shared = facts()
        assert [prove(question, shared) for question in order] == [alone[q] for q in order]
        assert bounds(K + M, shared) == bounds(K + M, facts())
        assert structural_equal(simplify(M % 4 + K, shared), simplify(M % 4 + K, facts()))

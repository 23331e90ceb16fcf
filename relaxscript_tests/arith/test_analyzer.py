"""`Analyzer`: the names of TVM."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relaxscript.arith import AlreadyBoundError, Analyzer, ConstIntBound, ModularSet, format_expr
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, SizeVar
from relaxscript.ir.tir import Range
from relaxscript_tests.arith.scalars import K, M, N, integer, shift


def test_variables_may_be_negative_until_they_are_bound() -> None:
    analyzer = Analyzer()
    assert not analyzer.can_prove(N >= 0)
    analyzer.bind(N, Range(integer(0), integer(8)))
    assert analyzer.can_prove(N >= 0)
    assert analyzer.can_prove_less(N, 8)
    assert analyzer.const_int_bound(N) == ConstIntBound(0, 7)
    assert analyzer.const_int_bound_is_bound(N)
    assert not analyzer.const_int_bound_is_bound(M)
    assert analyzer.can_prove_greater_equal(SizeVar("s", "int64") + 1, 1)


def test_a_symbolic_range_is_remembered() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, Range(integer(0), M))
    assert analyzer.can_prove(N < M)
    assert analyzer.can_prove(N * 4 + 3 < M * 4)


def test_a_bound_variable_is_replaced() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, M * 4)
    assert format_expr(analyzer.simplify(N // 4)) == "m"
    assert format_expr(analyzer.rewrite_simplify(N // 4)) == "m"
    assert format_expr(analyzer.canonical_simplify(N // 4)) == "m"
    assert analyzer.can_prove_equal(N, M + M * 3)
    assert analyzer.can_prove_not_equal(N, M * 4 + 1)


def test_a_constraint_holds_within_its_scope_only() -> None:
    analyzer = Analyzer()
    with analyzer.constraint_scope(N > M):
        assert analyzer.can_prove(N + K > M + K)
    assert not analyzer.can_prove(N > M)


def test_bounds_and_congruences_can_be_learned() -> None:
    analyzer = Analyzer()
    analyzer.update(N, ConstIntBound(2, 5))
    analyzer.update(M, ModularSet(4, 1))
    assert analyzer.const_int_bound(N + 1) == ConstIntBound(3, 6)
    assert analyzer.modular_set(M * 2 + 1) == ModularSet(8, 3)
    assert analyzer.modular_set(integer(5)) == ModularSet(0, 5)
    assert format_expr(analyzer.simplify(M % 4)) == "1"
    assert analyzer.const_int_bound(M) == ConstIntBound(
        ConstIntBound.NEG_INF, ConstIntBound.POS_INF
    )


def test_a_variable_is_bound_to_something_else_only_if_that_is_allowed() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, M + M)
    analyzer.bind(N, M * 2)
    with pytest.raises(
        AlreadyBoundError,
        match=r"`Analyzer.bind`: `n` is known to be `m \* 2`, not `m`; `allow_override=True` repl",
    ):
        analyzer.bind(N, M)
    assert analyzer.can_prove_equal(N, M * 2)
    analyzer.bind(N, Range(0, 8), allow_override=True)
    assert analyzer.const_int_bound(N) == ConstIntBound(0, 7)
    assert not analyzer.can_prove_equal(N, M * 2)
    analyzer.bind(N, Range(0, 8))
    with pytest.raises(AlreadyBoundError, match="`n` is known to be in the range of 8 from 0, not"):
        analyzer.bind(N, Range(0, 9))
    analyzer.bind(N, 3, allow_override=True)
    assert analyzer.const_int_bound(N) == ConstIntBound(3, 3)


def test_what_was_learned_is_replaced_only_if_that_is_said() -> None:
    analyzer = Analyzer()
    analyzer.update(N, ConstIntBound(2, 5))
    analyzer.update(N, ConstIntBound(2, 5))
    analyzer.update(N, ModularSet(2, 1))
    with pytest.raises(
        AlreadyBoundError,
        match=r"`Analyzer.update`: `n` is known to be between 2 and 5, not between 2 and 9; "
        "`override=True` replaces what is known",
    ):
        analyzer.update(N, ConstIntBound(2, 9))
    analyzer.update(N, ConstIntBound(2, 9), override=True)
    assert analyzer.const_int_bound(N) == ConstIntBound(3, 9)
    with pytest.raises(AlreadyBoundError, match=r"known to be `2 \* k \+ 1`, not `3 \* k \+ 0`"):
        analyzer.update(N, ModularSet(3, 0))
    analyzer.update(N, ModularSet(3, 0), override=True)
    assert analyzer.modular_set(N + 1) == ModularSet(3, 1)
    assert analyzer.can_prove(N <= 9)


def test_a_range_of_one_is_a_value() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, Range.from_min_extent(M, 1))
    assert format_expr(analyzer.simplify(N + M)) == "m * 2"


def test_what_is_bound_within_a_scope_stays_bound() -> None:
    analyzer = Analyzer()
    with analyzer.constraint_scope(N < M):
        with analyzer.constraint_scope(M < K):
            analyzer.bind(K, 8)
            assert analyzer.can_prove(N < 7)
        assert not analyzer.can_prove(N < 7)
    assert analyzer.can_prove_equal(K, 8)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (prim.Max(N * 4, M * 6 + 2), (2, 0)),
        (prim.Min(N * 4 + 1, M * 8 + 5), (4, 1)),
        (prim.Select(N < M, N * 6, M * 9 + 3), (3, 0)),
        (prim.Call("int64", "tir.abs", (N * 4 + 2,)), (4, 2)),
        ((N * 8 + 12) // 4, (2, 1)),
        (prim.Max(N * 8, M * 8 + 4) // 4, (1, 0)),
        (prim.Max(N * 12, M * 12 + 24) // 4, (3, 0)),
        (prim.Div(N * 8, integer(4)), (2, 0)),
        (shift("left", N, 3), (8, 0)),
        (shift("right", N * 16 + 8, 2), (4, 2)),
        (N * M * 6, (6, 0)),
        ((N * 2 + 1) * (M * 2 + 1), (2, 1)),
        (N % 4 * 3, (3, 0)),
    ],
)
def test_congruences_are_seen_through_operations(e: PrimExpr, expected: tuple[int, int]) -> None:
    assert Analyzer().modular_set(e) == expected


def test_a_congruence_is_learned_from_conditions() -> None:
    analyzer = Analyzer()
    with analyzer.constraint_scope(
        prim.And(prim.EQ(N % 4, integer(1)), prim.EQ(N % 6, integer(3)))
    ):
        assert analyzer.modular_set(N) == ModularSet(12, 9)
        assert format_expr(analyzer.simplify(N % 3 + N * 3)) == "n * 3"
        assert format_expr(analyzer.simplify((N + 3) // 4 * 4)) == "n + 3"
    assert analyzer.modular_set(N) == ModularSet(1, 0)


def test_numbers_and_bools_of_python_are_taken() -> None:
    analyzer = Analyzer()
    assert analyzer.can_prove(True)
    assert not analyzer.can_prove(False)
    assert format_expr(analyzer.simplify(3)) == "3"
    assert analyzer.const_int_bound(3) == ConstIntBound(3, 3)
    assert analyzer.can_prove_equal(3, 3)
    assert analyzer.can_prove_less(3, 4)
    assert analyzer.can_prove_greater_equal(N * N, -1)
    with analyzer.constraint_scope(True):
        assert not analyzer.can_prove(N >= 0)


NUMBER = "a scalar expression or a number"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda a: a.simplify("n"), f"simplify.expr` must be {NUMBER}, not str [(]'n'"),
        (lambda a: a.rewrite_simplify(None), f"rewrite_simplify.expr` must be {NUMBER}"),
        (lambda a: a.canonical_simplify([]), f"canonical_simplify.expr` must be {NUMBER}"),
        (lambda a: a.can_prove(N), "can_prove.expr` must be a bool expression, not one of int64"),
        (lambda a: a.can_prove("n"), f"can_prove.expr` must be {NUMBER}"),
        (lambda a: a.can_prove_equal(N, "m"), f"can_prove_equal.rhs` must be {NUMBER}"),
        (lambda a: a.can_prove_less(N, None), f"can_prove_less.upper_bound` must be {NUMBER}"),
        (lambda a: a.const_int_bound("n"), f"const_int_bound.expr` must be {NUMBER}"),
        (lambda a: a.const_int_bound_is_bound(3), "const_int_bound_is_bound.var` must be a scalar"),
        (lambda a: a.modular_set("n"), f"modular_set.expr` must be {NUMBER}"),
        (lambda a: a.int_set("n"), f"int_set.expr` must be {NUMBER}"),
        (lambda a: a.int_set(N, [N]), "int_set.dom_map` must be a mapping of variables to Interv"),
        (lambda a: a.int_set(N, {N: 3}), "int_set.dom_map` must be an IntervalSet or a Range"),
        (lambda a: a.int_set(N, {3: 3}), "int_set.dom_map` must be a scalar variable, not int"),
        (lambda a: a.bind("n", 3), "bind.var` must be a scalar variable, not str [(]'n'[)]"),
        (lambda a: a.bind(N, "m"), f"bind.expr` must be {NUMBER}, not str"),
        (lambda a: a.update(3, ModularSet(2, 0)), "update.var` must be a scalar variable, not"),
        (lambda a: a.update(N, 3), "update.info` must be a ConstIntBound or a ModularSet, not int"),
        (lambda a: a.constraint_scope(N), "constraint_scope.constraint` must be a bool expression"),
    ],
)
def test_what_is_no_expression_is_refused(ask: Callable[[Analyzer], object], message: str) -> None:
    with pytest.raises(TypeError, match=f"`Analyzer.{message}"):
        ask(Analyzer())


def test_what_cannot_be_read_may_be_anything() -> None:
    call = prim.Call("int64", "tir.call_extern", (prim.StringImm("next"),))
    assert Analyzer().modular_set(call) == ModularSet(1, 0)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (prim.Cast("int64", prim.Var("i", "int32") * 4 + 1), (4, 1)),
        (prim.Cast("int32", N * 6 + 1), (2, 1)),
        (prim.Cast("int32", N % 9 * 6 + 1), (6, 1)),
        (prim.Cast("uint8", N * 12 + 7), (4, 3)),
        (prim.Cast("int8", N % 9 * 6 + 7), (6, 1)),
        (prim.Cast("int32", prim.Cast("float32", N % 9 * 6 + 7)), (6, 1)),
        (prim.Cast("int32", prim.Cast("float32", N * 6 + 7)), (1, 0)),
        (prim.Cast("bool", N * 6), (1, 0)),
        (prim.Broadcast(N * 6 + 1, 4), (6, 1)),
        (prim.Ramp(N * 6 + 1, integer(4), 4), (2, 1)),
        (prim.Ramp(N * 6, M * 3, 4), (3, 0)),
        (prim.Broadcast(N * 6 + 1, 4) * prim.Broadcast(integer(2), 4), (12, 2)),
        (prim.Broadcast(N * 6 + 1, 4) - prim.Broadcast(integer(2), 4), (6, 5)),
        (prim.Broadcast(N * 6 + 1, 4) % prim.Broadcast(integer(4), 4), (2, 1)),
        (prim.Mod(N * 6 + 1, M * 4), (2, 1)),
        ((N * 6 + 1) % (M * 4), (2, 1)),
        (prim.Max(prim.Broadcast(N * 6 + 1, 4), prim.Broadcast(integer(4), 4)), (3, 1)),
        (prim.Select(N < M, prim.Broadcast(N * 6, 4), prim.Broadcast(M * 4, 4)), (2, 0)),
        (prim.Call("int64", "tir.bitwise_and", (N * 16 + M * 4, integer(27))), (8, 0)),
        (prim.Call("int64", "tir.bitwise_and", (N * 4 + 3, integer(26))), (8, 2)),
    ],
)
def test_casts_vectors_remainders_and_masks_keep_what_is_known_of_multiples(
    e: prim.PrimExpr, expected: tuple[int, int]
) -> None:
    assert tuple(Analyzer().modular_set(e)) == expected


def test_bounds_follow_from_constraints_on_what_is_asked_for() -> None:
    analyzer = Analyzer()
    analyzer.update(N, ConstIntBound(0, 128))
    with analyzer.constraint_scope(prim.And(N % 58 >= 1, N % 58 < 57)):
        assert analyzer.const_int_bound(N % 58 - 1) == ConstIntBound(0, 55)


def test_a_remainder_of_either_kind_says_a_congruence() -> None:
    analyzer = Analyzer()
    with analyzer.constraint_scope(prim.EQ(prim.Mod(N, integer(4)), integer(2))):
        assert analyzer.modular_set(N + 1) == ModularSet(4, 3)
        with analyzer.constraint_scope(prim.EQ(prim.Mod(N, integer(3)), integer(-1))):
            assert analyzer.modular_set(N) == ModularSet(12, 2)


def test_a_product_has_the_bounds_of_its_signs() -> None:
    analyzer = Analyzer()
    with analyzer.constraint_scope(prim.And(N >= 0, M <= 0)):
        assert analyzer.can_prove(N * M <= 0)
        assert analyzer.can_prove((N + 1) * (M - 1) < 0)

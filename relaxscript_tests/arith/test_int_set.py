"""Intervals as sets."""

from __future__ import annotations

import pytest

from relaxscript.arith import IntervalSet, IntSet, neg_inf, pos_inf, union_lower_bound
from relaxscript.ir import prim
from relaxscript_tests.arith.scalars import M, N, integer


def test_a_set_is_written_with_its_ends() -> None:
    assert repr(IntervalSet(N, M + 1)) == "IntervalSet[n, m + 1]"
    assert repr(IntSet.single_point(3)) == "IntervalSet[3, 3]"
    assert repr(IntervalSet(neg_inf(), 0)) == "IntervalSet[neg_inf, 0]"


def test_nothing_and_everything_are_told_apart_from_other_sets() -> None:
    everything, nothing = IntervalSet(neg_inf(), pos_inf()), IntervalSet(pos_inf(), neg_inf())
    some = IntervalSet(0, pos_inf())
    assert [s.is_everything() for s in (everything, nothing, some)] == [True, False, False]
    assert [s.is_nothing() for s in (everything, nothing, some)] == [False, True, False]


def test_the_values_of_a_vector_are_between_its_first_and_its_last() -> None:
    assert repr(IntSet.vector(prim.Ramp(N, integer(1), 4))) == "IntervalSet[n, n + 3]"
    assert repr(IntSet.vector(prim.Ramp(N, integer(-2), 4))) == "IntervalSet[n + -6, n]"
    assert repr(IntSet.vector(prim.Broadcast(N, 4))) == "IntervalSet[n, n]"


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"`IntervalSet.min_value` must be a scalar expression or a"
    ):
        IntervalSet("n", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"`IntSet.single_point.point` must be a scalar expression"):
        IntSet.single_point([])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"`IntSet.vector.vec` must be a Ramp of a known stride"):
        IntSet.vector(N)


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([], "[pos_inf, neg_inf]"),
        ([IntervalSet(neg_inf(), 0), IntervalSet(1, pos_inf())], "[neg_inf, pos_inf]"),
        ([IntervalSet.nothing(), IntervalSet(1, 3), IntervalSet.nothing()], "[1, 3]"),
        ([IntervalSet(1, 3), IntervalSet(2, 9), IntervalSet(10, 11)], "[1, 11]"),
        ([IntervalSet(1, 3), IntervalSet(5, 9)], "[1, 3]"),
        ([IntervalSet(1, 3), IntervalSet(N, M)], "[1, 3]"),
        ([IntervalSet(N, N + 3), IntervalSet(N + 4, N + 8)], "[n, n + 8]"),
    ],
)
def test_a_lower_bound_of_a_union_has_nothing_else_in_it(sets: list[IntSet], expected: str) -> None:
    assert repr(union_lower_bound(sets)) == f"IntervalSet{expected}"


def test_a_union_is_of_sets() -> None:
    message = "`union_lower_bound.sets` must be a list of IntervalSets"
    with pytest.raises(TypeError, match=message):
        union_lower_bound(N)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=message):
        union_lower_bound([N])  # type: ignore[list-item]

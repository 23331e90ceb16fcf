"""Nothing that is false is said of random expressions: all of it is tried out on many assignments.

Half of the cases are about sizes, half about numbers that may be negative, and in half of all
something is assumed: then only assignments that fulfil it count.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from relaxscript.arith import (
    NO,
    YES,
    Analyzer,
    Facts,
    IntervalSet,
    bounds,
    format_expr,
    neg_inf,
    pos_inf,
    prove,
    prove_equal,
    simplify,
)
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript_tests import examples
from relaxscript_tests.arith import brute_force, narrow
from relaxscript_tests.arith.scalars import K, M, N, integer, value
from relaxscript_tests.arith.true_facts import facts_of, true_facts

# All random expressions about which something is proved, at the whole effort.
PROOFS = 100_000


class Case(NamedTuple):
    """Some random choices, what is assumed, and the assignments that fulfil it."""

    random: Random
    given: tuple[PrimExpr, ...]
    signed: bool
    assignments: brute_force.Assignments

    @property
    def facts(self) -> Facts:
        return facts_of(self.given, self.signed)

    def told(self, *said: object) -> str:
        """What is wrong, should an assertion fail."""
        texts = [
            format_expr(e) if isinstance(e, PrimExpr) else str(e) for e in (*said, *self.given)
        ]
        return f"{'signed: ' if self.signed else ''}{texts}"


def cases(rng: np.random.Generator, whole: int) -> Iterator[Case]:
    for _ in range(examples(whole)):
        random = Random(int(rng.integers(1 << 62)))
        signed = random.random() < 0.5
        assignments = brute_force.SIGNED if signed else brute_force.SIZES
        count = random.choice((0, 0, 1, 2))
        given = tuple(brute_force.condition(random, 2) for _ in range(count))
        for condition in given:
            assignments = brute_force.where(condition, assignments)
        yield Case(random, given, signed, assignments)


@pytest.mark.slow
def test_an_answer_on_a_condition_is_true(rng: np.random.Generator) -> None:
    for case in cases(rng, PROOFS // 2):
        condition = brute_force.condition(case.random)
        answer = prove(condition, case.facts)
        found = brute_force.known_values(condition, case.assignments)
        assert answer is not YES or found.all(), case.told(answer, condition)
        assert answer is not NO or not found.any(), case.told(answer, condition)


@pytest.mark.slow
def test_an_answer_on_an_equality_is_true(rng: np.random.Generator) -> None:
    for case in cases(rng, PROOFS // 2):
        a = brute_force.expression(case.random)
        b = brute_force.near(case.random, a)
        answer = prove_equal(a, b, case.facts)
        found = brute_force.known_values(prim.EQ(a, b), case.assignments)
        assert answer is not YES or found.all(), case.told(answer, a, b)
        assert answer is not NO or not found.any(), case.told(answer, a, b)


@pytest.mark.slow
def test_a_true_fact_with_a_constant_changed_is_proved_only_where_it_is_true(
    rng: np.random.Generator,
) -> None:
    facts = [fact for fact in true_facts() if brute_force.is_over(fact.claim, *fact.given)]
    for _ in range(examples(10_000)):
        random = Random(int(rng.integers(1 << 62)))
        fact = random.choice(facts)
        claim = brute_force.changed(random, fact.claim)
        assignments = brute_force.SIGNED if fact.signed else brute_force.SIZES
        for condition in fact.given:
            assignments = brute_force.where(condition, assignments)
        found = brute_force.known_values(claim, assignments)
        answer = prove(claim, fact.facts)
        assert answer is not YES or found.all(), f"{format_expr(claim)} from {fact.text}"
        assert answer is not NO or not found.any(), f"{format_expr(claim)} from {fact.text}"


@pytest.mark.slow
def test_what_is_simplified_has_the_same_values(rng: np.random.Generator) -> None:
    for case in cases(rng, 20_000):
        draw = case.random.choice((brute_force.expression, brute_force.condition))
        e = draw(case.random)
        result = simplify(e, case.facts)
        before, known = brute_force.values(e, case.assignments)
        after, still = brute_force.values(result, case.assignments)
        assert still[known].all(), case.told(e, result)
        assert (before[known] == after[known]).all(), case.told(e, result)


@pytest.mark.slow
def test_no_value_is_out_of_bounds_or_of_another_congruence(rng: np.random.Generator) -> None:
    for case in cases(rng, 20_000):
        e = brute_force.expression(case.random)
        found = brute_force.known_values(e, case.assignments)
        low, high = bounds(e, case.facts)
        assert low is None or (low <= found).all(), case.told(e, low)
        assert high is None or (found <= high).all(), case.told(e, high)
        coeff, base = Analyzer(case.facts).modular_set(e)
        rest = found - base
        assert not (rest % coeff if coeff else rest).any(), case.told(e, coeff, base)


@pytest.mark.slow
def test_no_element_of_a_vector_and_nothing_cast_is_out_of_bounds_or_of_another_congruence(
    rng: np.random.Generator,
) -> None:
    for case in cases(rng, 20_000):
        e = narrow.draw(case.random)
        low, high = bounds(e, case.facts)
        coeff, base = Analyzer(case.facts).modular_set(e)
        for lane in range(e.dtype.lanes):
            found, known = narrow.values(e, case.assignments, lane)
            found = found[known]
            assert low is None or (low <= found).all(), case.told(e, low)
            assert high is None or (found <= high).all(), case.told(e, high)
            rest = found - base
            assert not (rest % coeff if coeff else rest).any(), case.told(e, coeff, base)


@pytest.mark.slow
def test_what_is_simplified_of_vectors_and_casts_has_the_same_elements(
    rng: np.random.Generator,
) -> None:
    for case in cases(rng, 10_000):
        e = narrow.draw(case.random)
        result = simplify(e, case.facts)
        for lane in range(e.dtype.lanes):
            before, known = narrow.values(e, case.assignments, lane)
            after, still = narrow.values(result, case.assignments, lane)
            assert still[known].all(), case.told(e, result)
            assert (before[known] == after[known]).all(), case.told(e, result)


@pytest.mark.slow
def test_an_interval_has_all_values_while_a_variable_goes_through_its_domain(
    rng: np.random.Generator,
) -> None:
    for case in cases(rng, 10_000):
        e = brute_force.expression(case.random)
        low = case.random.choice((integer(case.random.randint(-3, 4)), M * 2, K - 1, neg_inf()))
        least = integer(0) if low is neg_inf() else low
        high = case.random.choice((least + 3, least + M * M, pos_inf()))
        found = Analyzer(case.facts).int_set(e, {N: IntervalSet(low, high)})
        inside = case.assignments
        for end, compare in ((low, prim.GE), (high, prim.LE)):
            if end not in (neg_inf(), pos_inf()):
                inside = brute_force.where(compare(N, end), inside)
        for end, compare in ((found.min_value, prim.GE), (found.max_value, prim.LE)):
            if end not in (neg_inf(), pos_inf()):
                told = case.told(e, low, high, found)
                assert brute_force.known_values(compare(e, end), inside).all(), told


@pytest.mark.parametrize("names", [{N: 5, M: 2, K: -3}, {N: -7, M: 3, K: 4}])
def test_brute_force_agrees_with_evaluation(
    names: dict[prim.Var, int], rng: np.random.Generator
) -> None:
    assignments = {v: np.array([number]) for v, number in names.items()}
    for _ in range(examples(10_000)):
        e = brute_force.condition(Random(int(rng.integers(1 << 62))))
        (found,), (known,) = brute_force.values(e, assignments)
        assert value(e, names) == (int(found) if known else None), format_expr(e)

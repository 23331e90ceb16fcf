"""Bounds of a variable that are deduced from a comparison."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import Any

import numpy as np
import pytest

from relaxscript import arith
from relaxscript.arith import IntervalSet, neg_inf, pos_inf
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range
from relaxscript_tests import examples
from relaxscript_tests.arith.scalars import K, M, N, integer, value

Domains = dict[Var, IntervalSet]
HINTS: Domains = {M: IntervalSet(2, 3), K: IntervalSet(-3, -1)}


@pytest.mark.parametrize(
    ("condition", "relaxed", "expected"),
    [
        (N * 4 + 1 < 17, {}, "[neg_inf, 3]"),
        (integer(17) > N * 4 + 1, {}, "[neg_inf, 3]"),
        (N * 4 >= 17, {}, "[5, pos_inf]"),
        (N * -4 >= 17, {}, "[neg_inf, -5]"),
        (N * -4 < 17, {}, "[-4, pos_inf]"),
        (3 - N < 17, {}, "[-13, pos_inf]"),
        (M + N <= 5, {}, "[neg_inf, 5 - m]"),
        (M + N <= 5, {M: IntervalSet(2, 3)}, "[neg_inf, 2]"),
        (N - M >= 5, {M: Range(2, 4)}, "[8, pos_inf]"),
        (N * M <= 7, {}, "[neg_inf, 7 // m]"),
        (N * M >= 7, {}, "[7 // m + 1, pos_inf]"),
        (N * M >= M * 7, {}, "[7, pos_inf]"),
        (N * K >= 7, {}, "[neg_inf, 7 // k]"),
        (N * M >= 7, {M: IntervalSet(2, 3)}, "[4, pos_inf]"),
        (N // 8 > 3, {}, "[32, pos_inf]"),
        (N // 8 <= 3, {}, "[neg_inf, 31]"),
        (N // -8 < 3, {}, "[-23, pos_inf]"),
        (N // -8 >= 3, {}, "[neg_inf, -24]"),
        (M * 3 + N // 8 < 63, {M: IntervalSet(2, 6)}, "[neg_inf, 359]"),
        (N + 1 == M, {}, "[m - 1, m - 1]"),
        (integer(10) == N * 5, {}, "[2, 2]"),
        (N * M == M, {}, "[1, 1]"),
        (N + M - M == 4, {M: IntervalSet(5, 5)}, "[4, 4]"),
    ],
)
def test_bounds_are_deduced(condition: PrimExpr, relaxed: Domains, expected: str) -> None:
    found = arith.deduce_bound(N, condition, HINTS, relaxed)
    assert repr(found) == f"IntervalSet{expected}"


@pytest.mark.parametrize(
    ("condition", "relaxed"),
    [
        (N + M, {}),
        (M < 3, {}),
        (N * 2 - N > 3, {}),
        (N != 3, {}),
        (N % 16 < 10, {}),
        (prim.Max(integer(5), N) < 10, {}),
        (integer(8) // N >= 2, {}),
        (N // 8 == 3, {}),
        (N * 4 == M, {}),
        (N == M, {M: IntervalSet(2, 3)}),
        (N * Var("t", "int64") < 3, {}),
        (N // Var("t", "int64") < 3, {}),
        (N < M, {M: IntervalSet(neg_inf(), 3)}),
        (N < M, {M: IntervalSet.nothing()}),
        (prim.Cast("float32", N) < 3.0, {}),
    ],
)
def test_nothing_is_deduced_of_other_conditions(condition: PrimExpr, relaxed: Domains) -> None:
    assert arith.deduce_bound(N, condition, HINTS, relaxed).is_nothing()


# ---------------------------------------------------------------- laws


def random_condition(random: Random, others: list[PrimExpr], factors: list[PrimExpr]) -> PrimExpr:
    """A comparison in which `N` is once."""
    e: PrimExpr = N
    for _ in range(random.randint(0, 4)):
        other, factor = random.choice(others), random.choice(factors)
        e = random.choice((e + other, e - other, other - e, e * factor, e // factor))
    compare = random.choice((prim.LT, prim.LE, prim.GT, prim.GE, prim.EQ))
    bound = random.choice(others) + random.randint(-9, 9)
    return compare(e, bound) if random.random() < 0.5 else compare(bound, e)


def ends(found: IntervalSet, point: dict[Var, int]) -> tuple[float, float]:
    low = -np.inf if found.min_value is neg_inf() else value(found.min_value, point)
    high = np.inf if found.max_value is pos_inf() else value(found.max_value, point)
    assert low is not None
    assert high is not None
    return low, high


def test_a_condition_holds_where_its_bounds_do(rng: np.random.Generator) -> None:
    random = Random(int(rng.integers(1 << 32)))
    for _ in range(examples(1000)):
        factors = [*(integer(c) for c in (1, 2, 3, -1, -2, 4)), M, K]
        condition = random_condition(random, [M, K, integer(4), M * 2], factors)
        relaxed = {v: HINTS[v] for v in (M, K) if random.random() < 0.3}
        found = arith.deduce_bound(N, condition, HINTS, relaxed)
        if found.is_nothing():
            continue
        for m, k in itertools.product((2, 3), (-3, -2, -1)):
            low, high = ends(found, {M: m, K: k})
            for n in range(-30, 31):
                if low <= n <= high:
                    assert value(condition, {N: n, M: m, K: k}), (condition, relaxed, n, m, k)


def test_with_numbers_for_factors_a_condition_holds_nowhere_else(rng: np.random.Generator) -> None:
    random = Random(int(rng.integers(1 << 32)))
    for _ in range(examples(1000)):
        factors = [integer(c) for c in (1, 2, 3, -1, -2, 4)]
        condition = random_condition(random, [M, integer(4)], factors)
        found = arith.deduce_bound(N, condition, HINTS, {})
        for m in (2, 3) if not found.is_nothing() else ():
            low, high = ends(found, {M: m})
            for n in range(-30, 31):
                assert value(condition, {N: n, M: m}) == (low <= n <= high), (condition, n, m)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("n", N < 3, {}, {}), "`deduce_bound.var` must be a scalar variable, not"),
        ((N, "n < 3", {}, {}), "`deduce_bound.cond` must be a scalar expression or a number, not"),
        (
            (N, N < 3, [M], {}),
            "`deduce_bound.hint_map` must be a mapping of variables to IntervalSets",
        ),
        ((N, N < 3, {}, {M: 3}), "`deduce_bound.relax_map` must be an IntervalSet or a Range, not"),
        (
            (N, N < 3, {}, {"m": Range(0, 3)}),
            "`deduce_bound.relax_map` must be a scalar variable, not",
        ),
    ],
)
def test_a_wrong_argument_is_named(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        arith.deduce_bound(*arguments)

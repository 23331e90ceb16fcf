"""Regions that are touched: exactly, at least and at most."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from relaxscript import arith, tir
from relaxscript.arith import IntervalSet, evaluate, neg_inf, pos_inf
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range
from relaxscript.ir.walk import free_vars, substitute
from relaxscript_tests import examples
from relaxscript_tests.arith.iter_map.random_maps import (
    Case,
    instances,
    points_of,
    random_case,
    symbolic_case,
    values_at,
)

X, Y, N = (Var(name, "int32") for name in "xyn")
DOMAIN = {X: Range(0, 4), Y: Range(0, 4)}


def axis(begin: PrimExpr, extent: int = 1) -> Range:
    return Range.from_min_extent(begin, extent)


def strict(*axes: Range, predicate: Any = True) -> str:
    return repr(arith.estimate_region_strict_bound(list(axes), DOMAIN, predicate))


def upper(*axes: Range, predicate: Any = True) -> str:
    return repr(arith.estimate_region_upper_bound(list(axes), DOMAIN, predicate))


def test_what_is_touched_exactly_is_found() -> None:
    assert strict(axis(X * 4 + Y)) == "[IntervalSet[0, 15]]"
    assert strict(axis(X * 4, 8), axis(Y)) == "[IntervalSet[0, 19], IntervalSet[0, 3]]"
    assert (
        strict(axis(1 - X, 4), axis(20 - Y * 4, 16)) == "[IntervalSet[-2, 4], IntervalSet[8, 35]]"
    )
    assert strict(axis(N * 8 + Y, 2)) == "[IntervalSet[n * 8, n * 8 + 4]]"
    assert strict(axis(N + 0, 3)) == "[IntervalSet[n, n + 2]]"
    assert strict(axis(X), predicate=X >= 2) == "[IntervalSet[2, 3]]"


def test_nothing_is_said_to_be_exact_that_is_not() -> None:
    assert strict(axis(X * 4, 2)) == "None"
    assert strict(axis(X, 2), axis(X + 2, 2)) == "None"
    assert strict(axis(X * X)) == "None"
    assert strict(axis(X * N, 8)) == "None"
    assert strict(axis(X), predicate=tir.Or(X < 1, X > 2)) == "None"


def test_the_lower_bound_is_what_is_touched_exactly() -> None:
    for axes in ([axis(X * 2, 2), axis(Y)], [axis(X * 4, 2)]):
        found = arith.estimate_region_lower_bound(axes, DOMAIN, True)
        assert repr(found) == repr(arith.estimate_region_strict_bound(axes, DOMAIN, True))


def test_the_upper_bound_has_all_that_is_touched() -> None:
    assert upper(axis(X * 4, 2)) == "[IntervalSet[0, 13]]"
    assert upper(axis(X, 2), axis(X + 2, 2)) == "[IntervalSet[0, 4], IntervalSet[2, 6]]"
    assert upper(axis(X * X)) == "[IntervalSet[0, 9]]"
    assert upper(axis(X), axis(X * X), predicate=X >= 2) == "[IntervalSet[2, 3], IntervalSet[0, 9]]"
    assert upper(axis(X), predicate=tir.Or(X < 1, X > 2)) == "[IntervalSet[0, 3]]"


def test_an_analyzer_says_what_is_known_of_other_variables() -> None:
    known = arith.Analyzer()
    known.bind(N, Range(1, 4))
    assert arith.estimate_region_strict_bound([axis(X * N, 8)], DOMAIN, True) is None
    found = arith.estimate_region_strict_bound([axis(X * N, 8)], DOMAIN, True, analyzer=known)
    assert repr(found) == "[IntervalSet[0, n * 3 + 7]]"


# ---------------------------------------------------------------- laws


def touched(case: Case, sizes: list[int]) -> set[tuple[int, ...]]:
    """All elements that are touched."""
    found = set()
    for row in values_at(case.indices, points_of(case)):
        found |= {tuple(int(v) for v in row + offset) for offset in np.ndindex(*sizes)}
    return found


def end(e: PrimExpr, known: dict[Var, PrimExpr]) -> float:
    """An end of an interval, which may be infinite."""
    if e is neg_inf() or e is pos_inf():
        return -math.inf if e is neg_inf() else math.inf
    return int(evaluate(substitute(e, known), {}))


def ranges(found: list[IntervalSet], known: dict[Var, PrimExpr]) -> list[tuple[float, float]]:
    """The ends of intervals."""
    return [(end(s.min_value, known), end(s.max_value, known)) for s in found]


def is_within(
    elements: set[tuple[int, ...]], found: list[IntervalSet], known: dict[Var, PrimExpr]
) -> bool:
    axes = ranges(found, known)
    return all(low <= v <= high for row in elements for v, (low, high) in zip(row, axes))


def is_filled(
    elements: set[tuple[int, ...]], found: list[IntervalSet], known: dict[Var, PrimExpr]
) -> bool:
    """True if all elements within intervals are there, of which there are no others."""
    size = math.prod(max(high - low + 1, 0) for low, high in ranges(found, known))
    return is_within(elements, found, known) and len(elements) == size


@pytest.mark.parametrize("draw", [random_case, symbolic_case])
def test_estimates_are_what_they_promise(
    rng: np.random.Generator, draw: Callable[[Random], Case]
) -> None:
    for _ in range(examples(600 if draw is random_case else 200)):
        random = Random(int(rng.integers(1 << 32)))
        case = draw(random)
        case = case._replace(indices=case.indices[:3])
        sizes = [random.choice((1, 1, 2, 3, 5)) for _ in case.indices]
        region = [axis(index, size) for index, size in zip(case.indices, sizes)]
        exact = arith.estimate_region_strict_bound(region, case.domain, case.predicate)
        least = arith.estimate_region_lower_bound(region, case.domain, case.predicate)
        most = arith.estimate_region_upper_bound(region, case.domain, case.predicate)
        ends = {v for s in most for e in (s.min_value, s.max_value) for v in free_vars(e)}
        assert ends.isdisjoint(case.domain), case
        for instance, known in instances(case):
            elements = touched(instance, sizes)
            if elements and exact is not None and least is not None:
                assert is_filled(elements, exact, known), case
                assert is_filled(elements, least, known), case
            assert is_within(elements, most, known), case


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, DOMAIN, True), "`estimate_region_upper_bound.region` must be a list of Ranges, not"),
        (([X], DOMAIN, True), "`estimate_region_upper_bound.region` must be a list of Ranges, not"),
        (([axis(X)], [X], True), "`estimate_region_upper_bound.var_dom` must be a mapping of"),
        (
            ([axis(X)], DOMAIN, X),
            "`estimate_region_upper_bound.predicate` must be a bool expression",
        ),
        (
            ([axis(prim.Cast("float32", X))], {}, True),
            "`estimate_region_upper_bound.region` must be int",
        ),
    ],
)
def test_a_wrong_argument_is_named(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        arith.estimate_region_upper_bound(*arguments)

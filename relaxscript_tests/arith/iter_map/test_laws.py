"""Laws of iter maps, on random ones: what is said of them is compared with all of their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from random import Random

import numpy as np
import pytest

from relaxscript import arith
from relaxscript.arith import IterMapResult
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import Range
from relaxscript.ir.walk import free_vars, substitute
from relaxscript_tests import examples
from relaxscript_tests.arith.iter_map.random_maps import (
    Case,
    instances,
    points_of,
    random_case,
    ranges_of,
    symbolic_case,
    values_at,
)

Draw = Callable[[Random], Case]
LEVELS = ("nocheck", "surjective", "bijective")


def cases(rng: np.random.Generator, draw: Draw, count: int) -> Iterator[tuple[Case, Random]]:
    """Random cases, and what further choices are made by; those with variables take longer."""
    for _ in range(examples(count if draw is random_case else count // 4)):
        random = Random(int(rng.integers(1 << 32)))
        yield draw(random), random


def detect(case: Case, level: str, simplify: bool = True) -> IterMapResult:
    return arith.detect_iter_map(*case, level, simplify)


def plain(exprs: list[PrimExpr], known: dict[Var, PrimExpr]) -> list[PrimExpr]:
    return [substitute(arith.normalize_iter_map_to_expr(e), known) for e in exprs]


@pytest.mark.parametrize("draw", [random_case, symbolic_case])
@pytest.mark.parametrize("level", LEVELS)
def test_what_is_detected_takes_the_values_that_it_is_said_to_take(
    rng: np.random.Generator, draw: Draw, level: str
) -> None:
    """The values are those of the indices; surjective ones fill a box, bijective ones once."""
    for case, random in cases(rng, draw, 1000):
        result = detect(case, level, random.random() < 0.5)
        for instance, known in instances(case) if result.indices else ():
            points = points_of(instance)
            wanted = values_at(instance.indices, points)
            if not len(wanted):
                continue
            assert (values_at(plain([*result.indices], known), points) == wanted).all(), case
            box = ranges_of(result.indices, known, points)
            rows = {tuple(row) for row in wanted.tolist()}
            if level != "nocheck":
                assert all(v in axis for row in rows for v, axis in zip(row, box)), case
                assert len(rows) == math.prod(len(axis) for axis in box), case
            if level == "bijective":
                assert len(wanted) == len(rows), case


@pytest.mark.parametrize("draw", [random_case, symbolic_case])
def test_the_inverse_of_a_bijective_map_gives_its_iterators(
    rng: np.random.Generator, draw: Draw
) -> None:
    for case, _ in cases(rng, draw, 1000):
        result = detect(case, "bijective")
        outputs = [Var(f"o{k}", "int32") for k in range(len(result.indices))]
        inverse = arith.inverse_affine_iter_map(result.indices, outputs)
        for instance, known in instances(case) if result.indices else ():
            points = points_of(instance)
            given = dict(zip(outputs, values_at(instance.indices, points).T))
            for var, value in inverse.items():
                found = values_at([substitute(value, known)], given)[:, 0]
                assert (found == points[var]).all(), (case, var)


@pytest.mark.parametrize("draw", [random_case, symbolic_case])
@pytest.mark.parametrize("level", LEVELS)
def test_simplified_indices_have_the_same_values(
    rng: np.random.Generator, draw: Draw, level: str
) -> None:
    for case, _ in cases(rng, draw, 500):
        simplified = arith.iter_map_simplify(*case, level)
        sums = [arith.normalize_to_iter_sum(e, case.domain) for e in case.indices]
        for instance, known in instances(case):
            points = points_of(instance)
            wanted = values_at(instance.indices, points)
            assert (values_at(plain(simplified, known), points) == wanted).all(), case
            assert (values_at(plain([*sums], known), points) == wanted).all(), case


@pytest.mark.parametrize("draw", [random_case, symbolic_case])
def test_a_divided_map_is_its_outer_times_its_inner_extent_and_its_inner_part(
    rng: np.random.Generator, draw: Draw
) -> None:
    for case, random in cases(rng, draw, 1000):
        inner = random.sample([*case.domain], random.randint(1, len(case.domain)))
        found = arith.subspace_divide(case.indices, case.domain, inner, case.predicate)
        for outside, inside in found:
            assert {*free_vars(inside)}.isdisjoint({*case.domain} - {*inner})
            assert {*free_vars(outside)}.isdisjoint(inner)
        whole = [
            arith.normalize_iter_map_to_expr(outside.source) * inside.extent
            + arith.normalize_iter_map_to_expr(inside.source)
            for outside, inside in found[:-1]
        ]
        for instance, known in instances(case) if found else ():
            points = points_of(instance)
            wanted = values_at(instance.indices, points)
            assert (values_at(plain(whole, known), points) == wanted).all(), case
            every = points_of(instance._replace(predicate=prim.const(True)))
            parts = values_at([substitute(mark.extent, known) for mark in found[-1]], every)
            holds = values_at([instance.predicate], every)[:, 0]
            assert ((parts[:, 0] & parts[:, 1]) == holds).all(), case


def test_detecting_twice_gives_the_same(rng: np.random.Generator) -> None:
    for case, _ in cases(rng, random_case, 200):
        first, second = detect(case, "surjective"), detect(case, "surjective")
        assert first.errors == second.errors
        assert all(structural_equal(a, b) for a, b in zip(first.indices, second.indices))


def test_a_map_that_permutes_small_extents_is_found_to_be_bijective(
    rng: np.random.Generator,
) -> None:
    """Where all is divided evenly, nothing is left undetected."""
    for _ in range(examples(500)):
        random = Random(int(rng.integers(1 << 32)))
        sizes = [random.choice((2, 3, 4, 5)) for _ in range(random.randint(2, 4))]
        names = [Var(f"i{k}", "int32") for k in range(len(sizes))]
        order = random.sample(range(len(sizes)), len(sizes))
        flat: PrimExpr = names[order[0]]
        for k in order[1:]:
            flat = flat * sizes[k] + names[k]
        total = math.prod(sizes)
        by = random.choice([d for d in range(1, total) if total % d == 0])
        domain = {name: Range(0, size) for name, size in zip(names, sizes)}
        result = arith.detect_iter_map([flat // by, flat % by], domain, True, "bijective")
        assert not result.errors, (flat, by)

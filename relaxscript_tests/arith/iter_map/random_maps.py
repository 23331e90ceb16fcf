"""Random iter maps over small domains, and the values of their indices at all points.

`random_case` has numbers for extents, and `symbolic_case` the variables `N` and `M`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxscript.arith import IterSumExpr, evaluate
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range
from relaxscript.ir.walk import substitute
from relaxscript_tests.arith.brute_force import Assignments, values

__all__ = [
    "Case", "M", "N", "instances", "points_of", "random_case", "ranges_of", "symbolic_case",
    "values_at",
]  # fmt: skip

N, M = Var("n", "int32"), Var("m", "int32")
MAX_POINTS = 3000


class Case(NamedTuple):
    """Indices of the variables of a domain, where a predicate holds."""

    indices: list[PrimExpr]
    domain: dict[Var, Range]
    predicate: PrimExpr


class _Sized(NamedTuple):
    """An expression, and how many values it would have if it were one iterator."""

    value: PrimExpr
    extent: PrimExpr


def number(value: int) -> PrimExpr:
    return prim.const(value, "int32")


# ---------------------------------------------------------------- drawing


def random_case(random: Random) -> Case:
    """Indices that are fused and split from up to three variables, most of them rightly."""
    domain: dict[Var, Range] = {}
    parts: list[_Sized] = []
    for k in range(random.randint(1, 3)):
        var, least = Var(f"i{k}", "int32"), random.choice((0, 0, 0, 1, -2))
        extent = number(random.choice((1, 2, 2, 3, 4, 4, 5, 6, 8)))
        domain[var] = Range.from_min_extent(number(least), extent)
        parts.append(_Sized(var - least if least else var, extent))
    return _composed(random, domain, parts, _numbers_to_divide_by, 4)


def symbolic_case(random: Random) -> Case:
    """As `random_case`, with extents, factors and bounds that depend on `N` and `M`."""
    domain: dict[Var, Range] = {}
    parts: list[_Sized] = []
    for k in range(random.randint(1, 3)):
        var, extent = Var(f"i{k}", "int32"), random.choice((*_SYMBOLIC, (N + 1) // 2, N + 1))
        domain[var] = Range.from_min_extent(number(0), extent)
        parts.append(_Sized(var, extent))
    return _composed(random, domain, parts, lambda draw, _: draw.choice(_SYMBOLIC), 3)


_SYMBOLIC: tuple[PrimExpr, ...] = (
    number(2), number(3), number(4), N, M, N * 2, N * 4, N * M, M * 3,
)  # fmt: skip


def _numbers_to_divide_by(random: Random, extent: PrimExpr) -> PrimExpr:
    size = int(evaluate(extent, {}))
    divisors = [d for d in range(1, size + 1) if size % d == 0]
    return number(random.choice(divisors) if random.random() < 0.8 else random.randint(2, 6))


def _composed(
    random: Random, domain: dict[Var, Range], parts: list[_Sized], divisor: Any, steps: int
) -> Case:
    conditions: list[PrimExpr] = []
    for _ in range(random.randint(0, steps)):
        parts = _changed(random, parts, divisor)
        if random.random() < 0.2:
            conditions.append(_condition(random, random.choice(parts), divisor))
    random.shuffle(parts)
    predicate: PrimExpr = prim.const(True)
    for i, condition in enumerate(conditions):
        predicate = prim.And(predicate, condition) if i else condition
    chosen = parts if random.random() < 0.7 else parts[: random.randint(1, len(parts))]
    return Case([_placed(random, part.value) for part in chosen], domain, predicate)


def _changed(random: Random, parts: list[_Sized], divisor: Any) -> list[_Sized]:
    """Two parts fused, or one split."""
    if len(parts) > 1 and random.random() < 0.5:
        a, b = random.sample(parts, 2)
        rest = [part for part in parts if part is not a and part is not b]
        factor = b.extent if random.random() < 0.8 else number(random.randint(1, 6))
        return [*rest, _Sized(a.value * factor + b.value, (a.extent - 1) * factor + b.extent)]
    part = random.choice(parts)
    rest = [other for other in parts if other is not part]
    by = divisor(random, part.extent)
    value = part.value if random.random() < 0.8 else part.value + random.randint(-3, 6)
    quotient, remainder = _Sized(value // by, (part.extent + by - 1) // by), _Sized(value % by, by)
    if random.random() < 0.1:
        return [*rest, random.choice((quotient, remainder))]
    return [*rest, quotient, remainder]


def _condition(random: Random, part: _Sized, divisor: Any) -> PrimExpr:
    bound = random.choice((part.extent - 1, number(1), number(3), divisor(random, part.extent)))
    compare = random.choice((prim.LT, prim.LE, prim.GT, prim.GE, prim.EQ))
    return compare(bound, part.value) if random.random() < 0.3 else compare(part.value, bound)


def _placed(random: Random, value: PrimExpr) -> PrimExpr:
    if random.random() < 0.15:
        value = value * random.choice((2, 3, -1))
    return value + random.randint(-3, 3) if random.random() < 0.15 else value


# ---------------------------------------------------------------- values


def instances(case: Case) -> Iterator[tuple[Case, dict[Var, PrimExpr]]]:
    """A case with small numbers for `N` and `M`, and these, where its domain is neither empty nor
    large.
    """
    for n, m in itertools.product(range(1, 5), range(1, 4)):
        known: dict[Var, PrimExpr] = {N: number(n), M: number(m)}
        domain = {v: substitute(bounds, known) for v, bounds in case.domain.items()}
        sizes = [int(evaluate(bounds.extent, {})) for bounds in domain.values()]
        if 0 < int(np.prod(sizes)) <= MAX_POINTS:
            indices = [substitute(index, known) for index in case.indices]
            yield Case(indices, domain, substitute(case.predicate, known)), known


def points_of(case: Case) -> Assignments:
    """All points of a domain at which the predicate holds."""
    axes = []
    for bounds in case.domain.values():
        least, extent = (int(evaluate(e, {})) for e in (bounds.min, bounds.extent))
        axes.append(np.arange(least, least + extent))
    grid = np.meshgrid(*axes, indexing="ij")
    points = {v: g.reshape(-1).astype(np.int64) for v, g in zip(case.domain, grid)}
    holds = values_at([case.predicate], points)[:, 0].astype(bool)
    return {v: numbers[holds] for v, numbers in points.items()}


def values_at(expressions: list[PrimExpr], points: Assignments) -> NDArray[Any]:
    """The values of expressions, one row for each point."""
    columns = [values(e, points)[0] for e in expressions]
    return np.stack([np.asarray(c, dtype=np.int64) for c in columns], axis=1)


def ranges_of(
    indices: list[IterSumExpr], known: dict[Var, PrimExpr], points: Assignments
) -> list[range]:
    """The values that indices are said to take."""
    found = []
    for index in indices:
        (base,) = {*values_at([substitute(index.base, known)], points)[:, 0].tolist()}
        extent, scale = 1, 1
        for split in index.args:
            extent, scale = (
                int(evaluate(substitute(e, known), {})) for e in (split.extent, split.scale)
            )
        found.append(range(base, base + extent * scale, scale))
    return found

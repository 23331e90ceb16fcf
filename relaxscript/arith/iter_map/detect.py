"""Detection of iter maps, and what is simplified by it."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relaxscript.arith.analyzer import Analyzer
from relaxscript.arith.arguments import condition, scalar, variable, wrong
from relaxscript.arith.facts import Facts
from relaxscript.ir import prim
from relaxscript.ir.iter_map import IterSumExpr
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range

from .check import check_bijective, check_surjective
from .constraints import apply_predicate
from .digits import Digit, DigitAlgebra, NotAffine, Sum
from .fuse import Fuser, in_order_of_scale
from .marks import MarkBuilder
from .normalize import normalize_iter_map_to_expr
from .reader import Reader

__all__ = [
    "IterMapLevel", "IterMapResult", "detect_iter_map", "iter_map_simplify",
    "normalize_to_iter_sum",
]  # fmt: skip


class IterMapLevel(enum.IntEnum):
    """The demands on an iter map.

    `Surjective`: all values of its indices are taken together; `Bijective`: each is taken once;
    `NoCheck`: the indices are what they say, and that is all.
    """

    Bijective = 0
    Surjective = 1
    NoCheck = 3

    @staticmethod
    def from_str(name: str | None) -> IterMapLevel:
        """The level of a name in any case; None is `NoCheck`."""
        return _level_of("IterMapLevel.from_str.name", name)


_LEVELS = {level.name.lower(): level for level in IterMapLevel}


def _level_of(name: str, value: Any) -> IterMapLevel:
    """A level, or the name of one; raises `TypeError` that names the argument."""
    if value is None:
        return IterMapLevel.NoCheck
    if isinstance(value, str) and value.lower() in _LEVELS:
        return _LEVELS[value.lower()]
    if isinstance(value, int) and not isinstance(value, bool) and value in tuple(IterMapLevel):
        return IterMapLevel(value)
    raise wrong(name, '"bijective", "surjective" or "nocheck"', value)


@dataclass(frozen=True)
class IterMapResult:
    """The sums that indices are, each of one split at most; none where `errors` say why not.

    `padding_predicate` holds where an iterator is beyond its domain while all splits are within
    their extents.
    """

    indices: list[IterSumExpr] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    padding_predicate: PrimExpr = field(default_factory=lambda: prim.const(False))


def detect_iter_map(
    indices: Sequence[PrimExpr | int],
    input_iters: Mapping[Var, Range],
    predicate: PrimExpr | bool = True,
    check_level: IterMapLevel | str | None = IterMapLevel.Surjective,
    simplify_trivial_iterators: bool = True,
    *,
    analyzer: Analyzer | None = None,
) -> IterMapResult:
    """Find iterators whose splits and sums `indices` are, where `predicate` holds.

    `input_iters` has the domains of the iterators; other variables are constants, of which
    `analyzer` may know something. What is said of a map is said for domains that are not empty:
    each extent is taken to be at least 1. With `simplify_trivial_iterators`, iterators of extent 1
    are the one value that they have.

    Raises `TypeError` for what is no index, domain, predicate or level.
    """
    found = Detection(
        "detect_iter_map", indices, input_iters, predicate, check_level,
        simplify_trivial_iterators, analyzer,
    )  # fmt: skip
    try:
        sums = found.sums()
    except NotAffine as problem:
        return IterMapResult(errors=[str(problem)])
    marks = MarkBuilder(found.algebra)
    return IterMapResult(
        [marks.sum_of(total) for total in sums], [], marks.padding_of(digits_of(sums))
    )


def iter_map_simplify(
    indices: Sequence[PrimExpr | int],
    input_iters: Mapping[Var, Range],
    predicate: PrimExpr | bool = True,
    check_level: IterMapLevel | str | None = IterMapLevel.Surjective,
    simplify_trivial_iterators: bool = True,
    *,
    analyzer: Analyzer | None = None,
) -> list[PrimExpr]:
    """`indices` as the iter maps that they are: `x // n * n + x % n` is `x`.

    They are what they were where no iter map is found, or where it is not of `check_level`. The
    other parameters are those of `detect_iter_map`.
    """
    found = Detection(
        "iter_map_simplify", indices, input_iters, predicate, check_level,
        simplify_trivial_iterators, analyzer,
    )  # fmt: skip
    try:
        sums = found.sums()
    except NotAffine:
        return found.indices
    marks = MarkBuilder(found.algebra)
    return [normalize_iter_map_to_expr(marks.sum_of(total)) for total in sums]


def normalize_to_iter_sum(
    index: PrimExpr | int,
    input_iters: Mapping[Var, Range],
    *,
    analyzer: Analyzer | None = None,
) -> IterSumExpr:
    """`index` as a sum of splits, those of the largest scales first.

    Scales with more variables are larger ones. What is no split is part of the base. Raises
    `TypeError` for what is no index or domain.
    """
    found = Detection(
        "normalize_to_iter_sum", [index], input_iters, True, IterMapLevel.NoCheck, False, analyzer,
        name="index",
    )  # fmt: skip
    total = found.reader.read_parts(found.indices[0])
    total = found.algebra.join(total._replace(terms=found.algebra.without_units(total.terms)))
    ordered = tuple(in_order_of_scale(total.terms))
    return MarkBuilder(found.algebra).sum_of(Sum(ordered, total.base))


def digits_of(sums: Sequence[Sum]) -> list[Digit]:
    """All digits of some sums."""
    return [term.digit for total in sums for term in total.terms]


class Detection:
    """The arguments of a detection, checked, and the sums that are found."""

    def __init__(
        self,
        function: str,
        indices: Any,
        input_iters: Any,
        predicate: Any,
        check_level: Any,
        simplify_trivial_iterators: bool,
        analyzer: Analyzer | None,
        name: str = "indices",
        domain_name: str = "input_iters",
    ) -> None:
        self.indices = indices_of(f"{function}.{name}", indices)
        domain = domain_of(f"{function}.{domain_name}", input_iters)
        self.predicate = condition(f"{function}.predicate", predicate)
        self.level = _level_of(f"{function}.check_level", check_level)
        if analyzer is not None and not isinstance(analyzer, Analyzer):
            raise wrong(f"{function}.analyzer", "an Analyzer", analyzer)
        self.algebra = DigitAlgebra(_facts_of(domain, analyzer))
        self.fuser = Fuser(self.algebra, self.level is not IterMapLevel.Bijective)
        self.reader = Reader(domain, self.algebra, self.fuser, simplify_trivial_iterators)

    def sums(self) -> list[Sum]:
        """The sums that the indices are, of one digit at most, and of the level asked for.

        Raises `NotAffine`.
        """
        apply_predicate(self.predicate, self.reader)
        sums = [self.fuser.fuse(self.reader.read(index)) for index in self.indices]
        digits, constrained = digits_of(sums), self.fuser.constrained
        if self.level is IterMapLevel.Surjective:
            check_surjective(digits, constrained, self.algebra)
        if self.level is IterMapLevel.Bijective:
            variables = self.reader.iterators.values()
            check_bijective(digits, constrained, variables, self.algebra)
        return sums


def indices_of(name: str, value: Any) -> list[PrimExpr]:
    """Indices as expressions of integers; raises `TypeError` that names the argument."""
    if isinstance(value, (str, PrimExpr)) or not hasattr(value, "__iter__"):
        raise wrong(name, "a list of indices", value)
    found = [prim.as_scalar(e) if isinstance(e, int) else scalar(name, e) for e in value]
    for e in found:
        if not e.dtype.is_integer or e.dtype.lanes != 1:
            raise TypeError(f"`{name}` must be integers, not one of {e.dtype}")
    return found


def domain_of(name: str, value: Any) -> dict[Var, Range]:
    """Variables with their Ranges; raises `TypeError` that names the argument."""
    if not isinstance(value, Mapping):
        raise wrong(name, "a mapping of variables to Ranges", value)
    for var, bounds in value.items():
        variable(name, var)
        if not isinstance(bounds, Range):
            raise wrong(name, "a mapping of variables to Ranges", bounds)
    return dict(value)


def _facts_of(domain: Mapping[Var, Range], analyzer: Analyzer | None) -> Facts:
    """The facts of an analyzer, and that all extents are at least 1."""
    facts = analyzer.facts if analyzer is not None else Facts(nonnegative=False)
    for bounds in domain.values():
        if not isinstance(bounds.extent, prim.IntImm):
            facts = facts.with_condition(bounds.extent >= 1)
    return facts

"""Regions that are touched while the variables of a domain go through it.

Source: TVM `arith.estimate_region_lower_bound` and its neighbours (names, parameters and meaning).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range
from relaxscript.ir.walk import free_vars

from .analyzer import Analyzer
from .arguments import wrong
from .eval_set import eval_interval
from .int_set import IntervalSet, interval_of
from .iter_map.detect import Detection, IterMapLevel
from .iter_map.digits import DigitAlgebra, NotAffine, Sum

__all__ = [
    "estimate_region_lower_bound", "estimate_region_strict_bound", "estimate_region_upper_bound",
]  # fmt: skip


def estimate_region_lower_bound(
    region: Sequence[Range],
    var_dom: Mapping[Var, Range],
    predicate: PrimExpr | bool,
    *,
    analyzer: Analyzer | None = None,
) -> list[IntervalSet] | None:
    """A region, one interval for each axis, of which every element is touched.

    It is that of `estimate_region_strict_bound`: what is touched exactly is touched. None where
    that is not found.
    """
    return _Estimate("estimate_region_lower_bound", region, var_dom, predicate, analyzer).strict()


def estimate_region_strict_bound(
    region: Sequence[Range],
    var_dom: Mapping[Var, Range],
    predicate: PrimExpr | bool,
    *,
    analyzer: Analyzer | None = None,
) -> list[IntervalSet] | None:
    """The region that is touched, one interval for each axis; None where it is not found.

    `region` is touched for all values in `var_dom` for which `predicate` holds. Other variables
    stay in the ends of the intervals. The domain is taken to be not empty. Raises `TypeError` for
    what is no region, domain or predicate.
    """
    return _Estimate("estimate_region_strict_bound", region, var_dom, predicate, analyzer).strict()


def estimate_region_upper_bound(
    region: Sequence[Range],
    var_dom: Mapping[Var, Range],
    predicate: PrimExpr | bool,
    *,
    analyzer: Analyzer | None = None,
) -> list[IntervalSet]:
    """A region, one interval for each axis, that has in it all that is touched.

    It is that of `estimate_region_strict_bound` where there is one. Else each axis is estimated by
    itself, and `predicate` may be left out of account.
    """
    return _Estimate("estimate_region_upper_bound", region, var_dom, predicate, analyzer).upper()


class _Ends(NamedTuple):
    """An interval, and whether all of its elements are reached by steps that are small enough."""

    interval: IntervalSet
    is_full: bool


class _Estimate:
    """The arguments of an estimate, and the intervals that are found of them."""

    def __init__(
        self, function: str, region: Any, var_dom: Any, predicate: Any, analyzer: Analyzer | None
    ) -> None:
        name = f"{function}.region"
        if not isinstance(region, (list, tuple)):
            raise wrong(name, "a list of Ranges", region)
        for axis in region:
            if not isinstance(axis, Range):
                raise wrong(name, "a list of Ranges", axis)
        self.region = region
        self._arguments = (function, var_dom, predicate, analyzer)
        self._detect(region)

    def _detect(self, axes: Sequence[Range]) -> Detection:
        function, var_dom, predicate, analyzer = self._arguments
        return Detection(
            function, [axis.min for axis in axes], var_dom, predicate, IterMapLevel.Surjective,
            True, analyzer, name="region", domain_name="var_dom",
        )  # fmt: skip

    def strict(self) -> list[IntervalSet] | None:
        """The intervals of all axes together, if all of their elements are touched."""
        found = self._ends_of(self.region)
        if found is None or not all(ends.is_full for ends in found):
            return None
        return [ends.interval for ends in found]

    def upper(self) -> list[IntervalSet]:
        """Intervals that have in them all that is touched."""
        found = self.strict()
        return found if found is not None else [self._upper_of(axis) for axis in self.region]

    def _ends_of(self, axes: Sequence[Range]) -> list[_Ends] | None:
        detection = self._detect(axes)
        try:
            sums = detection.sums()
        except NotAffine:
            return None
        ends = [_ends_of(s, axis, detection.algebra) for s, axis in zip(sums, axes)]
        known = [found for found in ends if found is not None]
        if len(known) < len(ends) or any(_depends(found, detection) for found in known):
            return None
        return known

    def _upper_of(self, axis: Range) -> IntervalSet:
        found = self._ends_of([axis])
        if found is not None:
            return found[0].interval
        detection = self._detect([axis])
        domains = {
            v: interval_of("var_dom", bounds) for v, bounds in detection.reader.domain.items()
        }
        facts = detection.algebra.facts
        first = eval_interval(axis.min, domains, facts)
        last = eval_interval(axis.min + (axis.extent - 1), domains, facts)
        return IntervalSet(first.min_value, last.max_value)


def _ends_of(total: Sum, axis: Range, algebra: DigitAlgebra) -> _Ends | None:
    """The interval of the elements of `axis`, whose first one takes the values of `total`.

    None where it is not known whether they become larger or smaller.
    """
    size = prim.cast(axis.extent, total.base.dtype)
    last = algebra.add(total.base, algebra.subtract(size, prim.like(1, size)))
    if not total.terms:
        return _Ends(IntervalSet(total.base, last), True)
    digit, scale = total.terms[0]
    one = prim.like(1, scale)
    way = algebra.multiply(scale, algebra.subtract(digit.extent, one))
    if algebra.is_at_most(one, scale):
        ends = IntervalSet(total.base, algebra.add(last, way))
        return _Ends(ends, algebra.is_at_most(scale, size))
    opposite = algebra.multiply(scale, prim.like(-1, scale))
    if algebra.is_at_most(one, opposite):
        ends = IntervalSet(algebra.add(total.base, way), last)
        return _Ends(ends, algebra.is_at_most(opposite, size))
    return None


def _depends(found: _Ends, detection: Detection) -> bool:
    """True if a variable of the domain is in an end."""
    ends = (found.interval.min_value, found.interval.max_value)
    return any(v in detection.reader.domain for e in ends for v in free_vars(e))

"""Sets of integers: intervals whose ends are expressions, and those of the values of expressions.

Source: TVM `arith.IntSet`, `arith.IntervalSet` (names and meaning).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.tir import Range

from .arguments import scalar, wrong
from .format import format_expr
from .index_algebra import IndexAlgebra

__all__ = ["IntSet", "IntervalSet", "interval_of", "neg_inf", "pos_inf", "union_lower_bound"]

_POS_INF = prim.Var.make("pos_inf", DataType("handle"))
_NEG_INF = prim.Var.make("neg_inf", DataType("handle"))


def pos_inf() -> prim.Var:
    """The `max_value` of an interval without upper end; always the same object."""
    return _POS_INF


def neg_inf() -> prim.Var:
    """The `min_value` of an interval without lower end; always the same object."""
    return _NEG_INF


class IntSet(ABC):
    """A set of integers; each is an `IntervalSet`."""

    __slots__ = ()

    @abstractmethod
    def is_nothing(self) -> bool:
        """True if this is the empty set."""

    @abstractmethod
    def is_everything(self) -> bool:
        """True if this is the set of all integers."""

    @staticmethod
    def single_point(point: PrimExpr | int) -> IntervalSet:
        """The set of one value."""
        value = scalar("IntSet.single_point.point", point)
        return IntervalSet(value, value)

    @staticmethod
    def vector(vec: PrimExpr) -> IntervalSet:
        """The interval of the elements of a `Ramp`, or of the one value of a `Broadcast`."""
        match vec:
            case prim.Ramp(base, prim.IntImm(value=stride), lanes):
                last = base + stride * (lanes - 1)
                return IntervalSet(base, last) if stride >= 0 else IntervalSet(last, base)
            case prim.Broadcast(value):
                return IntervalSet(value, value)
        raise wrong("IntSet.vector.vec", "a Ramp of a known stride, or a Broadcast", vec)


class IntervalSet(IntSet):
    """The integers from `min_value` to `max_value`, both included.

    An end that there is not is `neg_inf()` or `pos_inf()`; the empty set has them the wrong way
    round. Python's integers are int64.
    """

    __slots__ = ("max_value", "min_value")

    min_value: PrimExpr
    max_value: PrimExpr

    def __init__(self, min_value: PrimExpr | int, max_value: PrimExpr | int) -> None:
        self.min_value = scalar("IntervalSet.min_value", min_value)
        self.max_value = scalar("IntervalSet.max_value", max_value)

    @staticmethod
    def everything() -> IntervalSet:
        """The set of all integers."""
        return IntervalSet(_NEG_INF, _POS_INF)

    @staticmethod
    def nothing() -> IntervalSet:
        """The empty set."""
        return IntervalSet(_POS_INF, _NEG_INF)

    def is_nothing(self) -> bool:
        return self.min_value is _POS_INF or self.max_value is _NEG_INF

    def is_everything(self) -> bool:
        return self.min_value is _NEG_INF and self.max_value is _POS_INF

    def __repr__(self) -> str:
        return f"IntervalSet[{format_expr(self.min_value)}, {format_expr(self.max_value)}]"


def interval_of(name: str, value: Any) -> IntervalSet:
    """An IntervalSet, or a Range as one; raises `TypeError` that names the argument."""
    match value:
        case IntervalSet():
            return value
        case Range(min=low, extent=extent):
            return IntervalSet(low, low + extent - 1)
    raise wrong(name, "an IntervalSet or a Range", value)


def union_lower_bound(sets: Sequence[IntSet]) -> IntervalSet:
    """An interval of which every element is in one of `sets`.

    It is their union where they are proved to meet, and else the first of those that do not.
    Raises `TypeError` for what is no list of sets.
    """
    name = "union_lower_bound.sets"
    if not isinstance(sets, (list, tuple)):
        raise wrong(name, "a list of IntervalSets", sets)
    union = IntervalSet.nothing()
    for own in sets:
        if not isinstance(own, IntervalSet):
            raise wrong(name, "a list of IntervalSets", own)
        if own.is_nothing() or not (union.is_nothing() or _meet(union, own)):
            continue
        union = own if union.is_nothing() else _span(union, own)
    return union


def _meet(a: IntervalSet, b: IntervalSet) -> bool:
    """True if no integer is between two intervals."""
    return _reaches(a.max_value, b.min_value) and _reaches(b.max_value, a.min_value)


def _reaches(high: PrimExpr, low: PrimExpr) -> bool:
    return high is _POS_INF or low is _NEG_INF or IndexAlgebra().is_at_most(low, high + 1)


def _span(a: IntervalSet, b: IntervalSet) -> IntervalSet:
    algebra = IndexAlgebra()
    low = a.min_value if b.min_value is not _NEG_INF else _NEG_INF
    high = a.max_value if b.max_value is not _POS_INF else _POS_INF
    low = low if low is _NEG_INF else algebra.least(low, b.min_value)
    high = high if high is _POS_INF else algebra.largest(high, b.max_value)
    return IntervalSet(low, high)

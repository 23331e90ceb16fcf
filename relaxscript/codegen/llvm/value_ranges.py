"""The values that integers can have: intervals, from loop bounds and dimensions.

With them code for indices is simpler: sums that cannot overflow say so (LLVM vectorises loops only
then), and floor division of numbers that are not negative is plain division.
"""

from __future__ import annotations

from functools import cache

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.semantics import scalar

__all__ = ["DIMENSION", "Interval", "ValueRanges", "arithmetic", "limits", "of_loop"]

Interval = tuple[int, int]

# No array has a dimension of more elements; the prologue of a function makes sure of it.
DIMENSION: Interval = (0, 1 << 47)


class ValueRanges:
    """The intervals of the variables of a function, and of expressions over them."""

    def __init__(self) -> None:
        self._known: dict[prim.Var, Interval] = {}
        self._found: dict[prim.PrimExpr, tuple[Interval, bool]] = {}

    def define(self, var: prim.Var, interval: Interval) -> None:
        """The value of a variable is one in an interval, both ends included, or its lower bits."""
        low, high = limits(var.dtype)
        known = interval if low <= interval[0] and interval[1] <= high else (low, high)
        if self._known.get(var, known) != known:
            # The variable was used before, for another loop: what followed from that is void.
            self._found.clear()
        self._known[var] = known

    def of(self, e: prim.PrimExpr) -> Interval:
        """An interval in which the value lies."""
        return self._find(e)[0]

    def is_exact(self, e: prim.PrimExpr) -> bool:
        """True if the outermost operation never wraps."""
        return self._find(e)[1]

    def _find(self, e: prim.PrimExpr) -> tuple[Interval, bool]:
        found = self._found.get(e)
        if found is None:
            low, high = limits(e.dtype)
            raw = self._raw(e) if e.dtype.is_integer else None
            exact = raw is not None and low <= raw[0] and raw[1] <= high
            found = (raw if raw is not None and exact else (low, high)), exact
            self._found[e] = found
        return found

    def _raw(self, e: prim.PrimExpr) -> Interval | None:
        match e:
            case prim.IntImm(value=value):
                return value, value
            case prim.Var():
                return self._known.get(e)
            case prim.Binary(a, b):
                return arithmetic(type(e), self.of(a), self.of(b))
            case prim.Cast(value=value) if value.dtype.is_integer or value.dtype.is_bool:
                return self.of(value)
            case prim.Broadcast(value=value):
                return self.of(value)
            case prim.Ramp(base, stride, lanes):
                (low, high), (first, last) = self.of(base), self.of(stride)
                n = lanes - 1
                return low + min(0, first * n), high + max(0, last * n)
            case prim.Select(true_value=a, false_value=b):
                (low, high), (first, last) = self.of(a), self.of(b)
                return min(low, first), max(high, last)
        return None


def arithmetic(kind: type[prim.Binary], a: Interval, b: Interval) -> Interval | None:
    """In which interval the results of an operation lie; None where nothing is known of it."""
    if kind is prim.Add:
        return a[0] + b[0], a[1] + b[1]
    if kind is prim.Sub:
        return a[0] - b[1], a[1] - b[0]
    if kind is prim.Min:
        return min(a[0], b[0]), min(a[1], b[1])
    if kind is prim.Max:
        return max(a[0], b[0]), max(a[1], b[1])
    if kind is prim.Mul:
        corners = [x * y for x in a for y in b]
        return min(corners), max(corners)
    if kind is prim.FloorDiv and b[0] > 0:
        corners = [x // y for x in a for y in b]
        return min(corners), max(corners)
    if kind is prim.FloorMod and b[0] > 0:
        return a if a[0] >= 0 and a[1] < b[0] else (0, b[1] - 1)
    return None


def of_loop(start: Interval, extent: Interval, dtype: DataType) -> tuple[Interval, bool]:
    """In which interval the variable of a loop lies, and whether it is less than the loop's end.

    Code counts in the dtype of the variable, so an end that does not fit there is another.
    """
    low, high = limits(dtype)
    fits = low <= start[0] and start[1] <= high and low <= extent[0] and extent[1] <= high
    if not fits or start[0] + extent[0] < low:
        return (start[0] if low <= start[0] and start[1] <= high else low, high), False
    return (start[0], min(high, max(start[0], start[1] + extent[1] - 1))), True


@cache
def limits(dtype: DataType) -> Interval:
    """The least and the greatest value of a dtype."""
    if dtype.is_bool:
        return 0, 1
    return scalar.limits(dtype.element) if dtype.is_integer else (0, 0)

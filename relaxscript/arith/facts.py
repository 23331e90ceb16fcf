"""Facts: what is known of the variables of an expression beyond the expression itself.

Facts are immutable: each `with_...` returns new ones. Without any, every integer variable is at
least zero, as dimensions are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, as_prim

__all__ = ["Congruence", "Facts", "Interval"]

# Inclusive on both ends; None is unbounded.
Interval = tuple[int | None, int | None]
# A coefficient and a base: the integers `coefficient * k + base`.
Congruence = tuple[int, int]


class Facts:
    """Knowledge about variables: ranges, equalities, congruences and conditions.

    `ranges` maps variables to inclusive bounds `(low, high)`, None being unbounded; `equalities`
    are pairs of expressions of the same value; `conditions` are bool expressions that hold;
    `congruences` maps a variable to `(coefficient, base)`: it is `coefficient * k + base` for some
    integer `k`. With `nonnegative=False`, variables without a range may be negative too, except
    `SizeVar`s.
    """

    __slots__ = ("assumed", "conditions", "congruences", "equalities", "nonnegative", "ranges")

    def __init__(
        self,
        ranges: Mapping[prim.Var, Interval] | None = None,
        equalities: Iterable[tuple[PrimExpr | int, PrimExpr | int]] = (),
        conditions: Iterable[PrimExpr] = (),
        congruences: Mapping[prim.Var, Congruence] | None = None,
        *,
        nonnegative: bool = True,
    ) -> None:
        self.ranges = dict(ranges or {})
        self.equalities = tuple((as_prim(a), as_prim(b)) for a, b in equalities)
        self.conditions = tuple(conditions)
        self.congruences = dict(congruences or {})
        self.nonnegative = nonnegative
        # What a context knows by them, once one was made.
        self.assumed: tuple[Any, ...] | None = None

    @property
    def is_plain(self) -> bool:
        """True if these facts are ranges only."""
        return not (self.equalities or self.conditions or self.congruences)

    def with_range(self, var: prim.Var, low: int | None, high: int | None) -> Facts:
        """These facts and `low <= var <= high`, in place of what was known of its range."""
        return self._copy(ranges={**self.ranges, var: (low, high)})

    def with_equal(self, a: PrimExpr | int, b: PrimExpr | int) -> Facts:
        """These facts and `a == b`."""
        return self._copy(equalities=(*self.equalities, (a, b)))

    def with_condition(self, condition: PrimExpr) -> Facts:
        """These facts and a bool expression that holds."""
        return self._copy(conditions=(*self.conditions, condition))

    def with_congruence(self, var: prim.Var, coefficient: int, base: int = 0) -> Facts:
        """These facts and `var == coefficient * k + base` for some integer `k`."""
        return self._copy(congruences={**self.congruences, var: (coefficient, base)})

    def without(self, variables: Collection[prim.Var]) -> Facts:
        """These facts but for the ranges, values and congruences of some variables."""
        return self._copy(
            {v: known for v, known in self.ranges.items() if v not in variables},
            [(a, b) for a, b in self.equalities if a not in variables and b not in variables],
            congruences={v: c for v, c in self.congruences.items() if v not in variables},
        )

    def range_of(self, var: prim.Var) -> Interval:
        """The inclusive bounds of a variable."""
        found = self.ranges.get(var)
        if found is not None:
            return found
        return (0, None) if self.nonnegative or isinstance(var, prim.SizeVar) else (None, None)

    def _copy(
        self,
        ranges: Mapping[prim.Var, Interval] | None = None,
        equalities: Iterable[tuple[PrimExpr | int, PrimExpr | int]] | None = None,
        conditions: Iterable[PrimExpr] | None = None,
        congruences: Mapping[prim.Var, Congruence] | None = None,
    ) -> Facts:
        return Facts(
            self.ranges if ranges is None else ranges,
            self.equalities if equalities is None else equalities,
            self.conditions if conditions is None else conditions,
            self.congruences if congruences is None else congruences,
            nonnegative=self.nonnegative,
        )

"""`Analyzer`: simplification and proofs by TVM's names, with facts that grow as a program is read.

As in TVM, a variable may have any value unless it is a `SizeVar` or something was bound; the
functions of this room, in contrast, take variables to be dimensions.

Source: TVM `arith.Analyzer` (names and parameters).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import gcd
from typing import NamedTuple

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, as_prim
from relaxscript.ir.tir import Range

from .answer import NO, YES
from .bounds import bounds
from .canonical import Space
from .facts import Facts
from .polynomial import CONSTANT, GiveUp
from .prove import prove, prove_equal
from .simplify import simplify

__all__ = ["Analyzer", "ConstIntBound", "ModularSet", "ProofStrength"]


class ConstIntBound(NamedTuple):
    """Inclusive bounds of an integer; `POS_INF` and `NEG_INF` stand for none."""

    min_value: int
    max_value: int


POS_INF = (1 << 63) - 1
NEG_INF = -POS_INF


class ModularSet(NamedTuple):
    """The integers `coeff * k + base`; `coeff` 0 is the one integer `base`."""

    coeff: int
    base: int


class ProofStrength:
    """How hard to try; the prover here always does what it can, so both are the same."""

    DEFAULT = 0
    SYMBOLIC_BOUND = 1


class Analyzer:
    """What is known of some variables, and questions about expressions of these."""

    def __init__(self, facts: Facts | None = None) -> None:
        self.facts = facts if facts is not None else Facts(nonnegative=False)

    # ------------------------------------------------------------ learning

    def bind(
        self, var: prim.Var, expr: PrimExpr | Range | int, allow_override: bool = False
    ) -> None:
        """Learn what `var` is equal to, or the `Range` that it is in."""
        if not isinstance(expr, Range):
            self.facts = self.facts.with_equal(var, as_prim(expr))
            return
        low, _ = bounds(expr.min, self.facts)
        _, high = bounds(expr.min + expr.extent, self.facts)
        self.facts = self.facts.with_range(var, low, None if high is None else high - 1)
        if low is None or not isinstance(expr.min, prim.IntImm):
            self.facts = self.facts.with_condition(prim.GE(var, expr.min))
        if high is None or not isinstance(expr.extent, prim.IntImm):
            self.facts = self.facts.with_condition(prim.LT(var, expr.min + expr.extent))

    def update(
        self, var: prim.Var, info: ConstIntBound | ModularSet, override: bool = False
    ) -> None:
        """Learn the bounds of `var`, or what it is a multiple of.

        Raises `TypeError` for any other kind of information.
        """
        match info:
            case ConstIntBound(low, high):
                self.facts = self.facts.with_range(
                    var, None if low <= NEG_INF else low, None if high >= POS_INF else high
                )
            case ModularSet(coeff, base):
                self.facts = self.facts.with_congruence(var, coeff, base)
            case _:
                raise TypeError(f"cannot learn a {type(info).__name__} about `{var.name}`")

    @contextmanager
    def constraint_scope(self, constraint: PrimExpr) -> Iterator[None]:
        """Within `with`, `constraint` holds."""
        before = self.facts
        self.facts = before.with_condition(constraint)
        try:
            yield
        finally:
            self.facts = before

    # ------------------------------------------------------------ simplifying

    def simplify(self, expr: PrimExpr, steps: int = 2) -> PrimExpr:
        """See `arith.simplify`; more steps change nothing."""
        return simplify(expr, self.facts)

    def rewrite_simplify(self, expr: PrimExpr) -> PrimExpr:
        return simplify(expr, self.facts)

    def canonical_simplify(self, expr: PrimExpr) -> PrimExpr:
        return simplify(expr, self.facts)

    # ------------------------------------------------------------ asking

    def can_prove(self, expr: PrimExpr, strength: int = ProofStrength.DEFAULT) -> bool:
        """Whether `expr` is proved to hold for all values."""
        return prove(expr, self.facts) is YES

    def can_prove_equal(self, lhs: PrimExpr | int, rhs: PrimExpr | int) -> bool:
        return prove_equal(as_prim(lhs), as_prim(rhs), self.facts) is YES

    def can_prove_not_equal(self, lhs: PrimExpr | int, rhs: PrimExpr | int) -> bool:
        return prove_equal(as_prim(lhs), as_prim(rhs), self.facts) is NO

    def can_prove_greater_equal(self, expr: PrimExpr, lower_bound: int) -> bool:
        return self.can_prove(prim.GE(expr, prim.const(lower_bound, expr.dtype)))

    def can_prove_less(self, expr: PrimExpr, upper_bound: int) -> bool:
        return self.can_prove(prim.LT(expr, prim.const(upper_bound, expr.dtype)))

    def const_int_bound(self, expr: PrimExpr) -> ConstIntBound:
        """The bounds that are found for an integer."""
        low, high = bounds(expr, self.facts)
        return ConstIntBound(NEG_INF if low is None else low, POS_INF if high is None else high)

    def const_int_bound_is_bound(self, var: prim.Var) -> bool:
        """Whether bounds of `var` were learned."""
        return var in self.facts.ranges

    def modular_set(self, expr: PrimExpr) -> ModularSet:
        """Which multiple plus which remainder an integer is known to be."""
        space = Space(self.facts)
        try:
            p = space.read(expr)
        except GiveUp:
            return ModularSet(1, 0)
        coeff = gcd(*(c for m, c in p.items() if m))
        base = p.get(CONSTANT, 0)
        return ModularSet(coeff, base % coeff if coeff else base)

"""`Analyzer`: simplification and proofs by TVM's names, with facts that grow as a program is read.

As in TVM, a variable may have any value unless it is a `SizeVar` or something was bound; the
functions of this room, in contrast, take variables to be dimensions. Where TVM takes an expression,
numbers of Python are taken as well; anything else raises `TypeError`, which names the argument.

Source: TVM `arith.Analyzer` (names and parameters).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.tir import Range

from .answer import NO, YES, Answer
from .arguments import condition, scalar, variable, wrong
from .bounds import bounds
from .canonical import CanonicalContext
from .congruence import congruence_of
from .eval_set import eval_interval
from .facts import Facts
from .format import format_expr
from .int_set import IntervalSet, interval_of
from .polynomial import GiveUp
from .prove import prove, prove_equal
from .simplify import simplify

__all__ = [
    "AlreadyBoundError", "Analyzer", "ConstIntBound", "Extension", "ModularSet", "ProofStrength",
]  # fmt: skip


class AlreadyBoundError(ValueError):
    """Something else is known of a variable already, and that it be replaced was not asked for."""


class _BoundPair(NamedTuple):
    min_value: int
    max_value: int


class ConstIntBound(_BoundPair):
    """Inclusive bounds of an integer; `POS_INF` and `NEG_INF` stand for none."""

    __slots__ = ()

    POS_INF = (1 << 63) - 1
    NEG_INF = -POS_INF


class ModularSet(NamedTuple):
    """The integers `coeff * k + base`; `coeff` 0 is the one integer `base`."""

    coeff: int
    base: int


class ProofStrength(enum.IntEnum):
    """The effort of a proof; the prover here always does what it can, so both are the same."""

    DEFAULT = 0
    SYMBOLIC_BOUND = 1


class Extension(enum.Flag):
    """Options of TVM's simplifier; all of it is always done here."""

    NoExtensions = 0
    TransitivelyProveInequalities = 1
    ConvertBooleanToAndOfOrs = 2
    ApplyConstraintsToBooleanBranches = 4
    ComparisonOfProductAndSum = 8


class Analyzer:
    """Facts about some variables, and questions about expressions of these.

    `facts` is what is known from the start; without it, variables may be negative. Programs may set
    `enabled_extensions`, as TVM has it; what an `Extension` allows is done without it too.
    """

    def __init__(self, facts: Facts | None = None) -> None:
        self._given = facts if facts is not None else Facts(nonnegative=False)
        # What was learned, by the kind of it, so that one can take the place of another.
        self._values: dict[prim.Var, PrimExpr] = {}
        self._ranges: dict[prim.Var, Range | ConstIntBound] = {}
        self._multiples: dict[prim.Var, ModularSet] = {}
        self._constraints: list[PrimExpr] = []
        self._facts: Facts | None = None
        self.enabled_extensions = Extension.NoExtensions

    @property
    def facts(self) -> Facts:
        """All that is known at present."""
        if self._facts is None:
            learned = self._values.keys() | self._ranges.keys() | self._multiples.keys()
            facts = self._given.without(learned)
            for var, value in self._values.items():
                facts = facts.with_equal(var, value)
            for var, info in self._ranges.items():
                facts = _in_range(facts, var, info)
            for var, (coeff, base) in self._multiples.items():
                facts = facts.with_congruence(var, coeff, base)
            for constraint in self._constraints:
                facts = facts.with_condition(constraint)
            self._facts = facts
        return self._facts

    # ------------------------------------------------------------ learning

    def bind(
        self, var: prim.Var, expr: PrimExpr | Range | int, allow_override: bool = False
    ) -> None:
        """Learn what `var` is equal to, or the `Range` that it is in.

        Raises `AlreadyBoundError` when something else was said of it before, unless
        `allow_override` is set: then only this is known of it.
        """
        variable("Analyzer.bind.var", var)
        new: PrimExpr | Range = (
            expr if isinstance(expr, Range) else scalar("Analyzer.bind.expr", expr)
        )
        if isinstance(new, Range) and isinstance(new.extent, prim.IntImm) and new.extent.value == 1:
            new = new.min
        old = self._values.get(var, self._ranges.get(var))
        if old is not None and not allow_override and not self._same(old, new):
            raise _already_bound("bind", "allow_override", var, old, new)
        self._forget(var)
        if isinstance(new, Range):
            self._ranges[var] = new
        else:
            self._values[var] = new

    def update(
        self, var: prim.Var, info: ConstIntBound | ModularSet, override: bool = False
    ) -> None:
        """Learn the bounds of `var`, or what it is a multiple of.

        Raises `AlreadyBoundError` when something else was said of that before, unless `override` is
        set. Any other kind of information raises `TypeError`.
        """
        variable("Analyzer.update.var", var)
        match info:
            case ConstIntBound():
                old: object = self._values.get(var, self._ranges.get(var))
            case ModularSet():
                old = self._values.get(var, self._multiples.get(var))
            case _:
                raise wrong("Analyzer.update.info", "a ConstIntBound or a ModularSet", info)
        if old is not None and not override and not self._same(old, info):
            raise _already_bound("update", "override", var, old, info)
        self._values.pop(var, None)
        if isinstance(info, ConstIntBound):
            self._ranges[var] = info
        else:
            self._multiples[var] = info
        self._facts = None

    def _forget(self, var: prim.Var) -> None:
        self._values.pop(var, None)
        self._ranges.pop(var, None)
        self._multiples.pop(var, None)
        self._facts = None

    def _same(self, old: object, new: object) -> bool:
        """True if two things that can be learned of a variable say the same."""
        match old, new:
            case Range(), Range():
                pairs = ((old.min, new.min), (old.extent, new.extent))
                return all(self.can_prove_equal(a, b) for a, b in pairs)
            case PrimExpr(), PrimExpr():
                return self.can_prove_equal(old, new)
        return type(old) is type(new) and old == new

    def constraint_scope(self, constraint: PrimExpr | bool) -> AbstractContextManager[None]:
        """Within `with`, `constraint` holds; what is bound inside stays bound after it."""
        return self._scope(condition("Analyzer.constraint_scope.constraint", constraint))

    @contextmanager
    def _scope(self, constraint: PrimExpr) -> Iterator[None]:
        self._constraints.append(constraint)
        self._facts = None
        try:
            yield
        finally:
            last = max(i for i, c in enumerate(self._constraints) if c is constraint)
            del self._constraints[last]
            self._facts = None

    # ------------------------------------------------------------ simplifying

    def simplify(self, expr: PrimExpr | int, steps: int = 2) -> PrimExpr:
        """See `arith.simplify`; more steps change nothing."""
        return simplify(scalar("Analyzer.simplify.expr", expr), self.facts)

    def rewrite_simplify(self, expr: PrimExpr | int) -> PrimExpr:
        """The same as `simplify`: there is one canonical form."""
        return simplify(scalar("Analyzer.rewrite_simplify.expr", expr), self.facts)

    def canonical_simplify(self, expr: PrimExpr | int) -> PrimExpr:
        """The same as `simplify`: there is one canonical form."""
        return simplify(scalar("Analyzer.canonical_simplify.expr", expr), self.facts)

    # ------------------------------------------------------------ asking

    def can_prove(
        self, expr: PrimExpr | bool, strength: ProofStrength | int = ProofStrength.DEFAULT
    ) -> bool:
        """True if `expr` is proved to hold for all values."""
        return prove(condition("Analyzer.can_prove.expr", expr), self.facts) is YES

    def can_prove_equal(self, lhs: PrimExpr | int, rhs: PrimExpr | int) -> bool:
        """True if both sides are proved to be equal for all values."""
        return self._equal("can_prove_equal", lhs, rhs) is YES

    def can_prove_not_equal(self, lhs: PrimExpr | int, rhs: PrimExpr | int) -> bool:
        """True if both sides are proved to be equal for no values."""
        return self._equal("can_prove_not_equal", lhs, rhs) is NO

    def _equal(self, method: str, lhs: PrimExpr | int, rhs: PrimExpr | int) -> Answer:
        a, b = (
            scalar(f"Analyzer.{method}.{name}", side) for name, side in (("lhs", lhs), ("rhs", rhs))
        )
        return prove_equal(a, b, self.facts)

    def can_prove_greater_equal(self, expr: PrimExpr | int, lower_bound: PrimExpr | int) -> bool:
        """True if `expr >= lower_bound` is proved to hold for all values."""
        return self._compare("can_prove_greater_equal", prim.GE, expr, "lower_bound", lower_bound)

    def can_prove_less(self, expr: PrimExpr | int, upper_bound: PrimExpr | int) -> bool:
        """True if `expr < upper_bound` is proved to hold for all values."""
        return self._compare("can_prove_less", prim.LT, expr, "upper_bound", upper_bound)

    def _compare(
        self,
        method: str,
        compare: type[prim.Comparison],
        expr: PrimExpr | int,
        name: str,
        bound: PrimExpr | int,
    ) -> bool:
        a, b = (
            scalar(f"Analyzer.{method}.{part}", value)
            for part, value in (("expr", expr), (name, bound))
        )
        return prove(compare(*prim.match_dtypes(a, b)), self.facts) is YES

    def const_int_bound(self, expr: PrimExpr | int) -> ConstIntBound:
        """The bounds that are found for an integer."""
        low, high = bounds(scalar("Analyzer.const_int_bound.expr", expr), self.facts)
        least, most = ConstIntBound.NEG_INF, ConstIntBound.POS_INF
        return ConstIntBound(
            least if low is None else max(low, least), most if high is None else min(high, most)
        )

    def const_int_bound_is_bound(self, var: prim.Var) -> bool:
        """True if bounds of `var`, or its value, were learned."""
        variable("Analyzer.const_int_bound_is_bound.var", var)
        return var in self._ranges or var in self._values or var in self._given.ranges

    def modular_set(self, expr: PrimExpr | int) -> ModularSet:
        """The multiple and the remainder that an integer is known to be."""
        e = scalar("Analyzer.modular_set.expr", expr)
        context = CanonicalContext(self.facts)
        try:
            p = context.read(e)
        except GiveUp:
            return ModularSet(1, 0)
        return (
            ModularSet(*congruence_of(context.atoms, p))
            if not e.dtype.is_float
            else ModularSet(1, 0)
        )

    def int_set(
        self,
        expr: PrimExpr | int,
        dom_map: Mapping[prim.Var, IntervalSet | Range] | None = None,
    ) -> IntervalSet:
        """An interval that has all values of `expr` in it while variables go through their domains.

        `dom_map` says which variables do, and their domains; without it, those that were bound to a
        Range do. Other variables stay in the ends of the interval as they are.
        """
        e = scalar("Analyzer.int_set.expr", expr)
        name = "Analyzer.int_set.dom_map"
        if dom_map is None:
            dom_map = {v: known for v, known in self._ranges.items() if isinstance(known, Range)}
        if not isinstance(dom_map, Mapping):
            raise wrong(name, "a mapping of variables to IntervalSets", dom_map)
        domains = {variable(name, v): interval_of(name, s) for v, s in dom_map.items()}
        return eval_interval(e, domains, self.facts)


def _in_range(facts: Facts, var: prim.Var, info: Range | ConstIntBound) -> Facts:
    """`facts`, and that `var` is in a range."""
    if isinstance(info, ConstIntBound):
        return facts.with_range(
            var,
            None if info.min_value <= ConstIntBound.NEG_INF else info.min_value,
            None if info.max_value >= ConstIntBound.POS_INF else info.max_value,
        )
    end = info.min + info.extent
    low, _ = bounds(info.min, facts)
    _, high = bounds(end, facts)
    facts = facts.with_range(var, low, None if high is None else high - 1)
    if not isinstance(info.min, prim.IntImm):
        facts = facts.with_condition(var >= info.min)
    if not isinstance(info.extent, prim.IntImm) or not isinstance(info.min, prim.IntImm):
        facts = facts.with_condition(var < end)
    return facts


def _already_bound(
    method: str, flag: str, var: prim.Var, old: object, new: object
) -> AlreadyBoundError:
    return AlreadyBoundError(
        f"`Analyzer.{method}`: `{var.name}` is known to be {_describe(old)}, not {_describe(new)}; "
        f"`{flag}=True` replaces what is known"
    )


def _describe(info: object) -> str:
    match info:
        case Range(min=low, extent=extent):
            return f"in the range of {format_expr(extent)} from {format_expr(low)}"
        case PrimExpr():
            return f"`{format_expr(info)}`"
        case ConstIntBound(low, high):
            return f"between {low} and {high}"
        case ModularSet(coeff, base):
            return f"`{coeff} * k + {base}`"
    return str(info)

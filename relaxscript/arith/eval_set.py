"""The interval of an expression's values while some of its variables go through intervals.

The other variables stay in the ends. What is linear in a variable is smallest and largest at its
ends; a division, a maximum or a choice has the ends of its operands; where its ends are equal, it
is replaced by them. So `x % 8` of an `x` from `z * 8` to `z * 8 + 3` is from 0 to 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relaxscript.ir import prim, walk
from relaxscript.ir.prim import PrimExpr

from .atom import Atom, is_index
from .bounds import bounds
from .canonical import CanonicalContext
from .facts import Facts
from .int_set import IntervalSet, neg_inf, pos_inf
from .interval import is_nonnegative, lower_bound, substitute_atom, upper_bound
from .minmax_select import extremum, select
from .polynomial import (
    CONSTANT,
    GiveUp,
    Poly,
    TooLarge,
    accumulate,
    difference,
    key_of,
    multiply,
    scale,
    total,
)
from .rules import floor_division, truncated
from .simplify import simplify
from .to_expr import ExprBuilder

__all__ = ["eval_interval", "with_domains"]

# The least and the greatest value; None where there is none, or none is found.
Ends = tuple[Poly | None, Poly | None]
MAX_DEPTH = 20


def eval_interval(
    e: PrimExpr, domains: Mapping[prim.Var, IntervalSet], facts: Facts | None = None
) -> IntervalSet:
    """An interval that has all values of `e` in it, for variables that are in `domains`.

    Variables that are not in `domains` are taken as they are. The interval is as small as was
    found; it is the empty set where a domain is.
    """
    if any(domain.is_nothing() for domain in domains.values()):
        return IntervalSet.nothing()
    if not is_index(e.dtype):
        return IntervalSet.everything()
    facts = facts or Facts()
    context = CanonicalContext(with_domains(domains, facts.without(domains)))
    try:
        p = context.read(e)
        ends = {
            context.by_key[v]: _ends(context, domain)
            for v, domain in domains.items()
            if v in context.by_key
        }
        low, high = _IntervalEvaluator(context, ends).of(p)
        writer = ExprBuilder(context)
        return IntervalSet(
            neg_inf() if low is None else simplify(writer.write(low, e), facts),
            pos_inf() if high is None else simplify(writer.write(high, e), facts),
        )
    except (GiveUp, TooLarge):
        return IntervalSet.everything()


def with_domains(domains: Mapping[prim.Var, IntervalSet], facts: Facts) -> Facts:
    """`facts`, and that variables are in their domains."""
    for v, domain in domains.items():
        low, high = domain.min_value, domain.max_value
        least = None if low is neg_inf() else bounds(low, facts)[0]
        most = None if high is pos_inf() else bounds(high, facts)[1]
        facts = facts.with_range(v, least, most)
        for end, compare in ((low, prim.GE), (high, prim.LE)):
            if is_index(end.dtype) and not any(part is v for part in walk.post_order(end)):
                facts = facts.with_condition(compare(*prim.match_dtypes(v, end)))
    return facts


def _ends(context: CanonicalContext, domain: IntervalSet) -> Ends:
    low, high = domain.min_value, domain.max_value
    return (
        None if low is neg_inf() else context.read(low),
        None if high is pos_inf() else context.read(high),
    )


class _IntervalEvaluator:
    """The ends of polynomials, from those of some variables of a context."""

    def __init__(self, context: CanonicalContext, ends: Mapping[int, Ends]) -> None:
        self.context = context
        self.domains = dict(ends)
        self._ends: dict[int, Ends] = {}
        self._depending: dict[int, bool] = {}

    def of(self, p: Poly) -> Ends:
        """The ends of `p`, in which no variable with a domain is left."""
        p = self._fold_single_values(p)
        parts: dict[int, Poly] = {}
        rest: Poly = {}
        for m, c in p.items():
            relaxed = [n for n in m if self._depends(n)]
            if len(relaxed) > 1:
                return self._tighten_by_numbers(p, (None, None))
            if relaxed:
                others = list(m)
                others.remove(relaxed[0])
                accumulate(parts.setdefault(relaxed[0], {}), {tuple(others): c})
            else:
                rest[m] = c
        low: Poly | None = dict(rest)
        high: Poly | None = dict(rest)
        for n, factor in parts.items():
            least, most = self._multiply(factor, self._of_atom(n))
            low = None if low is None or least is None else total(low, least)
            high = None if high is None or most is None else total(high, most)
        return self._tighten_by_numbers(p, (low, high))

    def _fold_single_values(self, p: Poly) -> Poly:
        """`p` without atoms that can have one value only."""
        for n in sorted({n for m in p for n in m if self._depends(n)}, reverse=True):
            low, high = self._of_atom(n)
            if low is not None and high is not None and key_of(low) == key_of(high):
                p = substitute_atom(p, n, low)
        return p

    def _multiply(self, factor: Poly, ends: Ends) -> Ends:
        """The ends of a factor times something with `ends`."""
        low, high = ends
        if not self._is_nonnegative(factor):
            if not self._is_nonnegative(scale(factor, -1)):
                return None, None
            low, high = high, low
        return (
            None if low is None else multiply(factor, low),
            None if high is None else multiply(factor, high),
        )

    def _tighten_by_numbers(self, p: Poly, ends: Ends) -> Ends:
        """`ends`, or the numbers that bound `p` where these say more.

        Where it cannot be told which say more, numbers do if there are two.
        """
        low, high = ends
        least, most = lower_bound(self.context.atoms, p), upper_bound(self.context.atoms, p)
        both = least is not None and most is not None
        if least is not None:
            number: Poly = {CONSTANT: least} if least else {}
            low = number if low is None or self._is_better(number, low, both) else low
        if most is not None:
            number = {CONSTANT: most} if most else {}
            high = number if high is None or self._is_better(high, number, both) else high
        return low, high

    def _is_better(self, larger: Poly, smaller: Poly, wanted: bool) -> bool:
        """True if one end is at least another; what is `wanted` where neither is known to be."""
        if self._is_nonnegative(difference(larger, smaller)):
            return True
        return wanted and not self._is_nonnegative(difference(smaller, larger))

    def _is_nonnegative(self, p: Poly) -> bool:
        return is_nonnegative(self.context.atoms, self.context.inequalities, p)

    # ------------------------------------------------------------ atoms

    def _depends(self, n: int) -> bool:
        """True if a variable with a domain occurs in an atom."""
        found = self._depending.get(n)
        if found is None:
            inner = (k for q in self.context.atoms[n].args for m in q for k in m)
            found = n in self.domains or any(self._depends(k) for k in inner)
            self._depending[n] = found
        return found

    def _of_atom(self, n: int) -> Ends:
        if n not in self._ends:
            # What depends on itself has no ends.
            self._ends[n] = (None, None)
            atom = self.context.atoms[n]
            if n in self.domains:
                low, high = self.domains[n]
                found: Ends = (
                    None if low is None else self.of(low)[0],
                    None if high is None else self.of(high)[1],
                )
            else:
                found = (None, None) if atom.depth > MAX_DEPTH else self._of_operation(atom)
            self._ends[n] = self._tighten_by_numbers({(n,): 1}, found)
        return self._ends[n]

    def _of_operation(self, atom: Atom) -> Ends:
        node = atom.node
        match atom.kind:
            case "floordiv" | "div" if not self._has_domain(atom.args[1]):
                divide = floor_division if atom.kind == "floordiv" else truncated
                return self._divide(divide, self.of(atom.args[0]), atom.args[1], node)
            case "max" | "min":
                return self._extremum(atom.kind, [self.of(p) for p in atom.args], node)
            case "select" if self._has_domain(atom.args[0]):
                values = [self.of(p) for p in atom.args[1:]]
                return (
                    self._extremum("min", values, node)[0], self._extremum("max", values, node)[1]
                )  # fmt: skip
            case "select":
                (a, b), (c, d) = (self.of(p) for p in atom.args[1:])
                chosen = (
                    None
                    if x is None or y is None
                    else select(self.context, atom.args[0], x, y, node)
                    for x, y in ((a, c), (b, d))
                )
                low, high = chosen
                return low, high
            case "cast" if not self._is_bool(atom.args[0]):
                return self.of(atom.args[0])
        return None, None

    def _has_domain(self, p: Poly) -> bool:
        return any(self._depends(n) for m in p for n in m)

    def _is_bool(self, p: Poly) -> bool:
        return any(self.context.atoms[n].node.dtype.is_bool for m in p for n in m)

    def _divide(
        self,
        divide: Callable[[CanonicalContext, Poly, Poly, PrimExpr], Poly],
        ends: Ends,
        divisor: Poly,
        node: PrimExpr,
    ) -> Ends:
        """A division by a positive number respects order."""
        if not self._is_nonnegative(divisor):
            return None, None
        low, high = (None if p is None else divide(self.context, p, divisor, node) for p in ends)
        return low, high

    def _extremum(self, kind: str, values: list[Ends], node: PrimExpr) -> Ends:
        """The ends of a maximum or minimum of values that have `values` as their ends."""
        low, high = values[0]
        for least, most in values[1:]:
            low, high = (
                None if x is None or y is None else extremum(self.context, kind, x, y, node)
                for x, y in ((low, least), (high, most))
            )
        return low, high

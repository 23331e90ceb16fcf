"""The prover: first a few concrete assignments, then bounds, case distinctions and known facts.

An assignment that satisfies the facts can only refute: it shows that an answer is not YES, or not
NO. What is left is proved by finding a lower bound, if need be after splitting off the smallest
value of a variable or subtracting something known to be at least zero. Every search has a budget.
"""

from __future__ import annotations

from collections.abc import Iterator

from .answer import NO, UNKNOWN, YES, Answer, all_of, any_of, negated
from .canonical import Space
from .conditions import never_zero
from .interval import interval, lower, substitute_atom
from .polynomial import CONSTANT, Poly, TooLarge, accumulate, constant_of, difference, scaled
from .sampling import Samples

__all__ = ["Prover"]

BUDGET = 120
MAX_SPLITS = 4
MAX_NESTING = 20


class Prover:
    """Answers questions about polynomials of one space."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.atoms = space.atoms
        self.samples = Samples(space)
        self._budget = BUDGET

    # ------------------------------------------------------------ questions

    def is_zero(self, p: Poly) -> Answer:
        """Whether `p == 0`."""
        known = constant_of(p)
        if known is not None:
            return NO if known else YES
        if never_zero(self.space, p):
            return NO
        zero = other = False
        for value in self.samples.values(p):
            zero = zero or value == 0
            other = other or value != 0
            if zero and other:
                return UNKNOWN
        if not zero and self._never_zero(p):
            return NO
        if not other and self.at_least_zero(p) and self.at_least_zero(scaled(p, -1)):
            return YES
        return UNKNOWN

    def is_at_least_zero(self, p: Poly) -> Answer:
        """Whether `p >= 0`."""
        known = constant_of(p)
        if known is not None:
            return YES if known >= 0 else NO
        holds = fails = False
        for value in self.samples.values(p):
            holds = holds or value >= 0
            fails = fails or value < 0
            if holds and fails:
                return UNKNOWN
        if not fails and self.at_least_zero(p):
            return YES
        if not holds and self.at_least_zero(_minus_one(scaled(p, -1))):
            return NO
        return UNKNOWN

    def holds(self, p: Poly, nesting: int = 0) -> Answer:
        """Whether the bool `p` is true."""
        known = constant_of(p)
        if known is not None:
            return YES if known else NO
        m = next(m for m in p if m)
        if len(m) != 1 or nesting > MAX_NESTING:
            return UNKNOWN
        if p == {CONSTANT: 1, m: -1}:
            return negated(self.holds({m: 1}, nesting + 1))
        atom = self.atoms[m[0]]
        match atom.kind:
            case "ge0":
                return self.is_at_least_zero(atom.args[0])
            case "eq0":
                return self.is_zero(atom.args[0])
            case "and":
                return all_of([self.holds(q, nesting + 1) for q in atom.args])
            case "or":
                return any_of([self.holds(q, nesting + 1) for q in atom.args])
        return UNKNOWN

    # ------------------------------------------------------------ proofs

    def _never_zero(self, p: Poly, splits: int = MAX_SPLITS) -> bool:
        """Whether `p` is always above zero or always below, or so in each case of a split."""
        if never_zero(self.space, p):
            return True
        if self.at_least_zero(_minus_one(p)) or self.at_least_zero(_minus_one(scaled(p, -1))):
            return True
        if splits <= 0 or self.space.inequalities or self.space.truth:
            return False
        try:
            cases = next(self._split(p), None)
        except TooLarge:
            return False
        return cases is not None and all(self._never_zero(q, splits - 1) for q in cases)

    def at_least_zero(self, p: Poly) -> bool:
        """Whether a proof of `p >= 0` was found within the budget."""
        self._budget = BUDGET
        try:
            return self._proved(p, MAX_SPLITS, known=True)
        except TooLarge:
            return False

    def _proved(self, p: Poly, splits: int, known: bool) -> bool:
        self._budget -= 1
        if self._budget < 0:
            return False
        if (low := interval(self.atoms, p)[0]) is not None and low >= 0:
            return True
        if (low := lower(self.atoms, p, 3)) is not None and low >= 0:
            return True
        if splits <= 0:
            return False
        if known and any(self._proved(q, splits - 1, True) for q in self._without_known(p)):
            return True
        return any(
            self._proved(least, splits - 1, known) and self._proved(others, splits - 1, False)
            for least, others in self._split(p)
        )

    def _without_known(self, p: Poly) -> Iterator[Poly]:
        """Polynomials below `p`: multiples of something known to be >= 0 are subtracted."""
        for known in self.space.inequalities:
            for m, c in p.items():
                k = known.get(m, 0)
                if m and k and (c < 0) == (k < 0):
                    smaller = scaled(p, abs(k))
                    accumulate(smaller, known, -abs(c))
                    yield smaller

    def _split(self, p: Poly) -> Iterator[tuple[Poly, Poly]]:
        """`p` where a variable has its least value, and where it is larger: `v` is then `v + 1`.

        Only variables in products are worth it, and only those that stand in no other atom of `p`.
        The new `v` is at least the least value again, but what else is known of it is lost.
        """
        inside = self._inside(p)
        for n in dict.fromkeys(n for m in p if len(m) > 1 for n in m):
            atom = self.atoms[n]
            if atom.low is None or atom.high is not None or n in inside or atom.kind == "opaque":
                continue
            yield (
                substitute_atom(p, n, {CONSTANT: atom.low} if atom.low else {}),
                substitute_atom(p, n, {(n,): 1, CONSTANT: 1}),
            )

    def _inside(self, p: Poly) -> set[int]:
        """The atoms inside other atoms of `p`."""
        found: set[int] = set()
        stack = [k for m in p for n in m for q in self.atoms[n].args for r in q for k in r]
        while stack:
            n = stack.pop()
            if n not in found:
                found.add(n)
                stack.extend(k for q in self.atoms[n].args for r in q for k in r)
        return found


def _minus_one(p: Poly) -> Poly:
    return difference(p, {CONSTANT: 1})

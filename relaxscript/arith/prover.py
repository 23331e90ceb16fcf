"""The prover: first a few concrete assignments, then bounds, then refutation of the opposite.

An assignment that satisfies the facts can only refute: it shows that an answer is not YES, or not
NO. What is left is proved by its bounds or by refuting the opposite, in a limited number of steps.
"""

from __future__ import annotations

from .answer import NO, UNKNOWN, YES, Answer, all_of, any_of, negate
from .atom import Atom
from .canonical import CanonicalContext
from .counterexamples import Samples
from .fourier_motzkin import Steps
from .interval import interval, lower_bound
from .polynomial import CONSTANT, Poly, constant_of, difference, scale
from .predicates import never_zero
from .refutation import Claim, is_refuted

__all__ = ["Prover"]

MAX_NESTING = 20
# For all that has to be refuted to answer one question.
MAX_STEPS = 6000


class Prover:
    """Answers questions about polynomials of one context."""

    def __init__(self, context: CanonicalContext) -> None:
        self.context = context
        self.atoms = context.atoms
        self.samples = Samples(context)
        self.budget = Steps(MAX_STEPS)

    def is_zero(self, p: Poly) -> Answer:
        """Decide whether `p == 0`."""
        known = constant_of(p)
        if known is not None:
            return NO if known else YES
        if never_zero(self.context, p):
            return NO
        zero = other = False
        for value in self.samples.values(p):
            zero = zero or value == 0
            other = other or value != 0
            if zero and other:
                return UNKNOWN
        opposite = scale(p, -1)
        if not zero and self._is_refuted([Claim(p), Claim(opposite)]):
            return NO
        if not other and self._at_least_zero(p) and self._at_least_zero(opposite):
            return YES
        return UNKNOWN

    def is_at_least_zero(self, p: Poly) -> Answer:
        """Decide whether `p >= 0`."""
        known = constant_of(p)
        if known is not None:
            return YES if known >= 0 else NO
        holds = fails = False
        for value in self.samples.values(p):
            holds = holds or value >= 0
            fails = fails or value < 0
            if holds and fails:
                return UNKNOWN
        if not fails and self._at_least_zero(p):
            return YES
        if not holds and self._at_least_zero(_minus_one(scale(p, -1))):
            return NO
        return UNKNOWN

    def holds(self, p: Poly, nesting: int = 0) -> Answer:
        """Decide whether the bool `p` is true."""
        known = constant_of(p)
        if known is not None:
            return YES if known else NO
        m = next(m for m in p if m)
        if len(m) != 1 or nesting > MAX_NESTING:
            return UNKNOWN
        if p == {CONSTANT: 1, m: -1}:
            return negate(self.holds({m: 1}, nesting + 1))
        atom = self.atoms[m[0]]
        match atom.kind:
            case "ge0":
                return self.is_at_least_zero(atom.args[0])
            case "eq0":
                return self.is_zero(atom.args[0])
            case "and" | "or":
                return self._holds_combination(p, atom, nesting)
        return UNKNOWN

    def _holds_combination(self, p: Poly, atom: Atom, nesting: int) -> Answer:
        """Decide whether a conjunction or disjunction holds: by its parts, or by all of them
        together.
        """
        values = set(self.samples.values(p))
        if len(values) > 1:
            return UNKNOWN
        parts = (self.holds(q, nesting + 1) for q in atom.args)
        answer = all_of(parts) if atom.kind == "and" else any_of(parts)
        if answer is UNKNOWN and 0 not in values and self._is_refuted([Claim(p, False)]):
            return YES
        if answer is UNKNOWN and 1 not in values and self._is_refuted([Claim(p, True)]):
            return NO
        return answer

    def _at_least_zero(self, p: Poly) -> bool:
        """True if a proof of `p >= 0` is found."""
        for low in (interval(self.atoms, p)[0], lower_bound(self.atoms, p, 3)):
            if low is not None and low >= 0:
                return True
        return self._is_refuted([Claim(_minus_one(scale(p, -1)))])

    def _is_refuted(self, claims: list[Claim]) -> bool:
        return is_refuted(self.context, claims, self.budget)


def _minus_one(p: Poly) -> Poly:
    return difference(p, {CONSTANT: 1})

"""Fourier-Motzkin elimination: contradictions of inequalities of polynomials.

Monomials are taken for independent integers. Rows with a monomial on either side are added up so
that it cancels. That ends when none is left or the steps are used up; every row is divided by the
common divisor of its coefficients, and its constant is rounded down. That is where integers differ
from fractions. A contradiction that is found is one; that none is found says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from .polynomial import CONSTANT, MAX_COEFFICIENT, Key, Monomial, Poly, accumulate

__all__ = ["OutOfSteps", "Steps", "contradictory"]

MAX_ROWS = 150
MAX_TERMS = 12


class OutOfSteps(Exception):
    """A search took as long as it may."""


class Steps:
    """The number of steps that a search may still take."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, number: int = 1) -> None:
        """Count steps; raises `OutOfSteps` when there are no more."""
        self.left -= number
        if self.left < 0:
            raise OutOfSteps


# Terms but the constant one, which is kept apart: their sum is at least zero.
_Row = tuple[Poly, int]


class _Contradiction(Exception):
    """A row says that a negative constant is at least zero."""


def contradictory(rows: Iterable[Poly], steps: Steps) -> bool:
    """True if it is seen that no integers make every one of `rows` at least zero.

    Raises `OutOfSteps` like everything that is given steps.
    """
    system = _System(steps)
    try:
        for p in rows:
            system.enter({m: c for m, c in p.items() if m}, p.get(CONSTANT, 0))
        while system.rows and len(system.rows) <= MAX_ROWS:
            steps.spend(len(system.rows) // 8)
            if not system.use_equation():
                system.eliminate(system.cheapest())
    except _Contradiction:
        return True
    return False


class _System:
    """Rows by their terms, only the strongest of each; raises `_Contradiction`."""

    def __init__(self, steps: Steps) -> None:
        self.rows: dict[Key, _Row] = {}
        self.steps = steps
        # Rows that are zero, since their opposites are at least zero too.
        self._equations: list[_Row] = []

    def enter(self, terms: Poly, constant: int) -> None:
        """Take in a row in lowest terms, unless a stronger one is there."""
        if not terms:
            if constant < 0:
                raise _Contradiction
            return
        g = gcd(*terms.values())
        if g > 1:
            terms = {m: c // g for m, c in terms.items()}
            constant //= g
        key = frozenset(terms.items())
        known = self.rows.get(key)
        if known is not None and known[1] <= constant:
            return
        self.rows[key] = (terms, constant)
        opposite = self.rows.get(frozenset((m, -c) for m, c in terms.items()))
        if opposite is not None:
            if opposite[1] + constant < 0:
                raise _Contradiction
            if opposite[1] + constant == 0:
                self._equations.append((terms, constant))

    def use_equation(self) -> bool:
        """Replace a monomial by what it is equal to, if one is known as a whole multiple.

        Nothing is lost by that, whereas elimination forgets which remainders a monomial can have.
        """
        while self._equations:
            terms, constant = self._equations.pop()
            for m, c in terms.items():
                if abs(c) == 1:
                    self._replace(m, {n: k * c for n, k in terms.items()}, constant * c)
                    return True
        return False

    def _replace(self, m: Monomial, terms: Poly, constant: int) -> None:
        """Use `terms + constant == 0`, where `m` occurs once, to replace `m` everywhere."""
        old = self.rows.values()
        self.rows = {key: row for key, row in self.rows.items() if m not in row[0]}
        changed = [row for row in old if m in row[0]]
        changed_equations = self._equations
        self._equations = []
        self.steps.spend(len(changed))
        for row, k in changed:
            self.enter(*_sum(row, k, 1, terms, constant, -row[m]))
        for row, k in changed_equations:
            self._equations.append(_sum(row, k, 1, terms, constant, -row.get(m, 0)))

    def cheapest(self) -> Monomial:
        """The monomial whose elimination forgets nothing of integers, or makes the fewest rows."""
        above: dict[Monomial, list[int]] = {}
        below: dict[Monomial, list[int]] = {}
        for terms, _ in self.rows.values():
            for m, c in terms.items():
                (above if c > 0 else below).setdefault(m, []).append(c)

        def cost(m: Monomial) -> tuple[bool, int]:
            ups, downs = above.get(m, ()), below.get(m, ())
            exact = not ups or not downs or max(ups) == 1 or min(downs) == -1
            return not exact, len(ups) * len(downs) - len(ups) - len(downs)

        return min({**above, **below}, key=cost)

    def eliminate(self, m: Monomial) -> None:
        """Keep what the rows say of all monomials but `m`."""
        above = [row for row in self.rows.values() if row[0].get(m, 0) > 0]
        below = [row for row in self.rows.values() if row[0].get(m, 0) < 0]
        self.rows = {key: row for key, row in self.rows.items() if m not in row[0]}
        self._equations = []
        self.steps.spend(len(above) * len(below))
        for high, high_constant in above:
            for low, low_constant in below:
                g = gcd(high[m], low[m])
                by, other = -low[m] // g, high[m] // g
                terms, constant = _sum(high, high_constant, by, low, low_constant, other)
                if len(terms) <= MAX_TERMS and by * other < MAX_COEFFICIENT:
                    self.enter(terms, constant)


def _sum(a: Poly, a_constant: int, x: int, b: Poly, b_constant: int, y: int) -> _Row:
    """`x * a + y * b`."""
    terms = {m: c * x for m, c in a.items()}
    if y:
        accumulate(terms, b, y)
    return terms, a_constant * x + b_constant * y

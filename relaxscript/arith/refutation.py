"""Refuting what is claimed: case distinctions over atoms, and elimination in each case.

To prove something, its opposite is claimed and refuted. A claim on a bool is taken apart until only
inequalities of polynomials are left; what is known of their atoms is added, and a contradiction is
looked for. Where there is none, cases are distinguished: which operand a maximum is, whether a
condition holds, which of two claims is true, what remains of a variable.

Only atoms that a case mentions are assumed to have a value. A division that another operand of
`And` guards is no evidence that its divisor is not zero.
"""

from __future__ import annotations

from typing import NamedTuple

from .atom import Atom
from .axioms import atoms_in, axioms, bound_axioms, division_axioms, product_axioms, square_axioms
from .canonical import CanonicalContext
from .fourier_motzkin import OutOfSteps, Steps, contradictory
from .interval import interval, substitute_atom
from .polynomial import CONSTANT, Poly, TooLarge, constant_of, difference, scale

__all__ = ["Claim", "is_refuted"]

MAX_STEPS = 2500
ROUNDS = 2
MAX_SPLITS = 7
MAX_ATOMS = 24
MAX_DISJUNCTIONS = 3
MAX_TERMS = 40
MAX_MODULUS = 8
FACTORS = frozenset({"var", "floordiv", "multiple"})
ONE: Poly = {CONSTANT: 1}


class Claim(NamedTuple):
    """A claim that a bool polynomial is true or false, or, without `truth`, at least zero."""

    p: Poly
    truth: bool | None = None


class _Branch:
    """Claims that hold together: rows that are at least zero, and choices still to be made.

    `meaning` says what atoms stand for in this case, `truth` which bool atoms are true or false;
    `divided` are the truncating divisions whose sign was distinguished.
    """

    __slots__ = ("choices", "divided", "meaning", "rows", "truth")

    def __init__(self) -> None:
        self.rows: list[Poly] = []
        self.choices: list[list[list[Claim]]] = []
        self.meaning: dict[int, Poly] = {}
        self.truth: dict[int, bool] = {}
        self.divided: frozenset[int] = frozenset()

    def copy(self) -> _Branch:
        new = _Branch()
        new.rows = list(self.rows)
        new.choices = list(self.choices)
        new.meaning = dict(self.meaning)
        new.truth = dict(self.truth)
        new.divided = self.divided
        return new

    def read(self, p: Poly) -> Poly:
        """`p` with what its atoms stand for in this case."""
        if self.meaning:
            while replaced := [n for n in atoms_in(p) if n in self.meaning]:
                n = max(replaced)
                p = substitute_atom(p, n, self.meaning[n])
        return p


def is_refuted(context: CanonicalContext, claims: list[Claim], budget: Steps) -> bool:
    """True if it is seen that `claims` cannot be true together.

    The search ends after some steps, which are taken from `budget`, or when that is used up.
    """
    steps = Steps(min(MAX_STEPS, budget.left))
    before = steps.left
    try:
        return _is_contradiction_found(context, claims, steps)
    finally:
        budget.left -= before - max(steps.left, 0)


def _is_contradiction_found(context: CanonicalContext, claims: list[Claim], steps: Steps) -> bool:
    if sum(len(claim.p) for claim in claims) > MAX_TERMS:
        return False
    claims = claims + [Claim(p, truth) for p, truth in context.disjunctions[:MAX_DISJUNCTIONS]]
    try:
        return _Refutation(context, steps).closes(_Branch(), claims, MAX_SPLITS)
    except (OutOfSteps, TooLarge):
        return False


class _Refutation:
    def __init__(self, context: CanonicalContext, steps: Steps) -> None:
        # Atoms made for a case come after those of the context.
        self.atoms = list(context.atoms)
        self.known = context.inequalities
        self.steps = steps
        self._axioms: dict[int, list[Poly]] = {}

    def closes(self, case: _Branch, claims: list[Claim], splits: int) -> bool:
        """True if `case` with `claims` is impossible; `case` is changed."""
        self.steps.spend()
        if not self._enter(case, claims):
            return True
        atoms, rows = self._all_rows(case)
        if contradictory(rows, self.steps):
            return True
        for _ in range(ROUNDS if self._is_nonlinear(rows) else 0):
            rows += square_axioms(rows)
            rows += product_axioms(rows, self.steps)
            rows += self._bounds_of_products(rows)
            if contradictory(rows, self.steps):
                return True
        if splits == 0:
            return False
        cases = self._cases(case, atoms, rows)
        return bool(cases) and all(self.closes(c, new, splits - 1) for c, new in cases)

    # ------------------------------------------------------------ claims

    def _enter(self, case: _Branch, claims: list[Claim]) -> bool:
        """Take claims apart into rows and choices of `case`; False when they cannot be true."""
        stack = list(claims)
        while stack:
            p, truth = stack.pop()
            p = case.read(p)
            known = constant_of(p)
            if known is not None:
                if known < 0 if truth is None else bool(known) != truth:
                    return False
            elif truth is None:
                case.rows.append(p)
            else:
                m = next(m for m in p if m)
                truth = truth if p[m] > 0 else not truth
                if case.truth.setdefault(m[0], truth) != truth:
                    return False
                self._decompose(case, self.atoms[m[0]], truth, stack)
        return True

    def _decompose(self, case: _Branch, atom: Atom, truth: bool, stack: list[Claim]) -> None:
        match atom.kind, truth:
            case "ge0", _:
                p = atom.args[0]
                stack.append(Claim(p if truth else difference(scale(p, -1), ONE)))
            case "eq0", True:
                stack += [Claim(atom.args[0]), Claim(scale(atom.args[0], -1))]
            case "eq0", False:
                p = atom.args[0]
                ends = [difference(p, ONE), difference(scale(p, -1), ONE)]
                case.choices.append([[Claim(end)] for end in ends])
            case ("and", True) | ("or", False):
                stack += [Claim(part, truth) for part in atom.args]
            case "and" | "or", _:
                # The first that decides, which comes after some that do not.
                case.choices.append(
                    [
                        [*(Claim(q, not truth) for q in atom.args[:i]), Claim(part, truth)]
                        for i, part in enumerate(atom.args)
                    ]
                )

    # ------------------------------------------------------------ what is known

    def _all_rows(self, case: _Branch) -> tuple[list[int], list[Poly]]:
        """The atoms that matter to `case`, and all that is at least zero in it."""
        rows = list(case.rows)
        met: dict[int, None] = {}
        self.steps.spend(len(self.known) // 8)
        known = [case.read(p) for p in self.known]
        fresh = {n for p in rows for n in atoms_in(p)}
        while fresh and len(met) < MAX_ATOMS:
            met.update(dict.fromkeys(sorted(fresh)))
            new = [case.read(p) for n in sorted(fresh) for p in self._axioms_of(n)]
            near = [p for p in known if _is_near(p, met)]
            known = [p for p in known if not _is_near(p, met)]
            new += near
            rows += new
            fresh = {n for p in new for n in atoms_in(p)} - met.keys()
        return list(met), rows + self._bounds_of_products(rows)

    def _is_nonlinear(self, rows: list[Poly]) -> bool:
        return any(len(m) > 1 for p in rows for m in p)

    def _bounds_of_products(self, rows: list[Poly]) -> list[Poly]:
        monomials = {m for p in rows for m in p if len(m) > 1}
        return [p for m in monomials for p in bound_axioms(m, *interval(self.atoms, {m: 1}))]

    def _axioms_of(self, n: int) -> list[Poly]:
        found = self._axioms.get(n)
        if found is None:
            found = self._axioms[n] = axioms(self.atoms, self.known, self.atoms[n])
        return found

    # ------------------------------------------------------------ cases

    def _cases(
        self, case: _Branch, met: list[int], rows: list[Poly]
    ) -> list[tuple[_Branch, list[Claim]]]:
        """A distinction of cases, one of which must be; none if there is nothing to distinguish."""
        if case.choices:
            first = case.choices.pop(0)
            return [(case.copy(), alternative) for alternative in first]
        for n in sorted(met, reverse=True):
            found = self._cases_of(case, self.atoms[n])
            if found:
                return found
        return self._remainders(case, met) or self._least(case, met, rows)

    def _cases_of(self, case: _Branch, atom: Atom) -> list[tuple[_Branch, list[Claim]]]:
        """The cases of one atom: what it stands for in each, and what else is true then."""
        args = atom.args
        match atom.kind:
            case "max" | "min":
                sign = 1 if atom.kind == "max" else -1
                return [
                    self._substitute_atom(
                        case,
                        atom,
                        p,
                        [Claim(scale(difference(p, q), sign)) for q in args if q is not p],
                    )
                    for p in args
                ]
            case "select":
                return [
                    self._substitute_atom(case, atom, p, [Claim(args[0], truth)])
                    for p, truth in ((args[1], True), (args[2], False))
                ]
            case "abs":
                p, negated = args[0], scale(args[0], -1)
                return [self._substitute_atom(case, atom, q, [Claim(q)]) for q in (p, negated)]
            case "cast" if self._is_bool(args[0]):
                return [
                    self._substitute_atom(case, atom, p, [Claim(args[0], bool(p))])
                    for p in (ONE, {})
                ]
            case "cast":
                return [self._substitute_atom(case, atom, args[0], [])]
            case "div" if atom.number not in case.divided:
                return self._signs(case, atom)
        return []

    def _is_bool(self, p: Poly) -> bool:
        return any(self.atoms[n].node.dtype.is_bool for n in atoms_in(p))

    def _signs(self, case: _Branch, atom: Atom) -> list[tuple[_Branch, list[Claim]]]:
        """A truncating division by a positive number of something positive, or negative."""
        dividend, divisor = atom.args
        low = interval(self.atoms, divisor)[0]
        if low is None or low < 0:
            return []
        cases = []
        for sign in (1, -1):
            new = case.copy()
            new.divided = case.divided | {atom.number}
            a = scale(dividend, sign)
            rows = [a, *division_axioms(a, divisor, {(atom.number,): sign})]
            cases.append((new, [Claim(p) for p in rows]))
        return cases

    def _substitute_atom(
        self, case: _Branch, atom: Atom, p: Poly, claims: list[Claim]
    ) -> tuple[_Branch, list[Claim]]:
        """`case` where `atom` stands for `p`; what was known of the atom is known of `p`."""
        new = case.copy()
        new.meaning[atom.number] = new.read(p)
        new.rows = [new.read(q) for q in new.rows]
        return new, [*claims, *(Claim(q) for q in self._axioms_of(atom.number))]

    def _remainders(self, case: _Branch, met: list[int]) -> list[tuple[_Branch, list[Claim]]]:
        """Each remainder of a variable, where a product with it is divided by a small number."""
        for n in met:
            atom = self.atoms[n]
            d = constant_of(atom.args[1]) if atom.kind == "floordiv" else None
            if d is None or not 1 < d <= MAX_MODULUS:
                continue
            for m in case.read(atom.args[0]):
                for v in m if len(m) > 1 else ():
                    old = self.atoms[v]
                    if old.kind == "var" and not self._is_made_for_case(v):
                        low = old.low
                        return [
                            self._substitute_atom(case, old, self._linear(v, d, r, least), [])
                            for r in range(d)
                            for least in [None if low is None else (low - r + d - 1) // d]
                        ]
        return []

    def _is_made_for_case(self, v: int) -> bool:
        """True if a variable was made for a case; then no more cases are made of it."""
        return bool(self.atoms[v].detail == "made")

    def _linear(self, v: int, d: int, r: int, low: int | None) -> Poly:
        """`d * w + r` for a new `w` that is at least `low`."""
        new = Atom(len(self.atoms), "var", (), self.atoms[v].node, low, None, "made")
        self.atoms.append(new)
        return {(new.number,): d, CONSTANT: r} if r else {(new.number,): d}

    def _least(
        self, case: _Branch, met: list[int], rows: list[Poly]
    ) -> list[tuple[_Branch, list[Claim]]]:
        """The least value of a factor, and all that are greater."""
        factors = {n for p in rows for m in p if len(m) > 1 for n in m}
        # The value of a quotient says more than that of a variable.
        for v in sorted(met, key=lambda n: self.atoms[n].kind == "var"):
            atom = self.atoms[v]
            if (
                v in factors
                and atom.kind in FACTORS
                and atom.low is not None
                and not self._is_made_for_case(v)
            ):
                least: Poly = {CONSTANT: atom.low} if atom.low else {}
                return [
                    self._substitute_atom(case, atom, least, []),
                    self._substitute_atom(case, atom, self._linear(v, 1, atom.low + 1, 0), []),
                ]
        return []


def _is_near(p: Poly, met: dict[int, None]) -> bool:
    """True if a polynomial speaks of atoms that were met, or of none."""
    atoms = set(atoms_in(p))
    return not atoms or not met.keys().isdisjoint(atoms)

"""Facts about the value of an atom, as polynomials that are at least zero.

`axioms` are true of an atom wherever it has a value. `square_axioms` and `product_axioms` follow
from what is true already. Elimination takes monomials for independent, and sees by them some of
what is true of products.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isqrt

from .atom import Atom
from .fourier_motzkin import Steps
from .interval import interval, is_nonnegative
from .polynomial import (
    CONSTANT,
    Monomial,
    Poly,
    TooLarge,
    difference,
    multiply,
    quotient_of_monomials,
    scale,
    total,
)

__all__ = [
    "atoms_in",
    "axioms",
    "bound_axioms",
    "division_axioms",
    "product_axioms",
    "square_axioms",
]

MAX_DEGREE = 6
MAX_PRODUCTS = 40
MAX_LENGTH = 5
# A product may bring along so many monomials that occur nowhere else.
NEW_MONOMIALS = 1
ONE: Poly = {CONSTANT: 1}


def atoms_in(p: Poly) -> Iterator[int]:
    """The numbers of the atoms in a polynomial, not of those inside them; some more than once."""
    for m in p:
        yield from m


def axioms(atoms: Sequence[Atom], known: Sequence[Poly], atom: Atom) -> list[Poly]:
    """Polynomials that are at least zero for each value that an atom can have."""
    itself: Poly = {(atom.number,): 1}
    rows = bound_axioms((atom.number,), atom.low, atom.high)
    match atom.kind:
        case "floordiv" | "div" if sign := _sign(atoms, known, atom.args[1]):
            a, d = (scale(p, sign) for p in atom.args)
            if atom.kind == "floordiv":
                rows += division_axioms(a, d, itself)
            else:
                # The remainder has the sign of the dividend: it is above `-d` and below `d`.
                rows += division_axioms(total(a, difference(d, ONE)), d, itself)[:1]
                rows += division_axioms(a, d, itself)[1:]
        case "max":
            rows += [difference(itself, p) for p in atom.args]
        case "min":
            rows += [difference(p, itself) for p in atom.args]
        case "abs":
            rows += [difference(itself, atom.args[0]), total(itself, atom.args[0])]
        case "bits":
            rows += _bit_axioms(atoms, known, atom, itself)
    return rows


def _bit_axioms(
    atoms: Sequence[Atom], known: Sequence[Poly], atom: Atom, itself: Poly
) -> list[Poly]:
    """Bounds of combined bits by the numbers that they come from, where these are from 0 on."""
    rows: list[Poly] = []
    a, b = atom.args
    natural = [is_nonnegative(atoms, known, p) for p in (a, b)]
    match atom.detail:
        case "tir.bitwise_and":
            rows += [difference(p, itself) for p, good in zip((a, b), natural) if good]
        case "tir.bitwise_or":
            rows += [difference(itself, p) for p, good in zip((b, a), natural) if good]
        case "tir.shift_right" if natural[0]:
            rows.append(difference(a, itself))
    if all(natural) and atom.detail in ("tir.bitwise_or", "tir.bitwise_xor"):
        rows.append(difference(total(a, b), itself))
    return rows


def _sign(atoms: Sequence[Atom], known: Sequence[Poly], divisor: Poly) -> int:
    """1 or -1 for a divisor that is never negative, or never positive; else 0.

    Where a quotient has a value its divisor is not zero. So it is enough that it is on one side.
    """
    low, high = interval(atoms, divisor)
    if (low is not None and low >= 0) or (low is None and is_nonnegative(atoms, known, divisor)):
        return 1
    return -1 if high is not None and high <= 0 else 0


def division_axioms(a: Poly, d: Poly, quotient: Poly) -> list[Poly]:
    """The facts that make `quotient` equal to `a // d` for a positive `d`: what remains is at least
    0 and below `d`.
    """
    try:
        remainder = difference(a, multiply(d, quotient))
    except TooLarge:
        return []
    return [remainder, difference(difference(d, ONE), remainder)]


def bound_axioms(m: Monomial, low: int | None, high: int | None) -> list[Poly]:
    """The fact that a monomial is between its bounds."""
    rows: list[Poly] = []
    if low is not None:
        rows.append({m: 1, CONSTANT: -low} if low else {m: 1})
    if high is not None:
        rows.append({m: -1, CONSTANT: high} if high else {m: -1})
    return rows


def square_axioms(rows: Iterable[Poly]) -> list[Poly]:
    """Facts about squares in `rows`: an integer is at most its square, and the like."""
    found: list[Poly] = []
    monomials = {m for p in rows for m in p if len(m) == 2}
    for a, b in monomials:
        if a == b:
            points, most = _turning_points(rows, a)
            # (n - c) * (n - c - 1) is never negative.
            found += [{(a, a): 1, (a,): -2 * c - 1, CONSTANT: c * (c + 1)} for c in points]
            if most is not None:
                found += bound_axioms((a,), -most, most)
        elif (a, a) in monomials and (b, b) in monomials:
            found += [{(a, a): 1, (b, b): 1, (a, b): sign} for sign in (2, -2)]
    return [{m: c for m, c in p.items() if c} for p in found]


def _turning_points(rows: Iterable[Poly], a: int) -> tuple[set[int], int | None]:
    """The values of atom `a` where some row is largest, and the largest value of `a` if known."""
    points = {0, -1}
    most: int | None = None
    for p in rows:
        k = -p.get((a, a), 0)
        if k > 0:
            top = p.get((a,), 0) // (2 * k)
            points |= {top - 1, top, top + 1}
            if len(p) == 2 and p.get(CONSTANT, 0) > 0:
                most = isqrt(p[CONSTANT] // k)
                points |= {most, -most - 1}
    return points, most


def product_axioms(rows: Sequence[Poly], steps: Steps) -> list[Poly]:
    """Products of two of `rows` that say something of the products of atoms in them."""
    wanted = {m for p in rows for m in p if len(m) > 1}
    short = [p for p in rows if len(p) <= MAX_LENGTH]
    occurrences: dict[Monomial, list[int]] = {}
    for j, p in enumerate(short):
        for m in p:
            occurrences.setdefault(m, []).append(j)
    factors = [f for f in short if len(f) == 1 or all(len(m) < 2 for m in f)]
    found: dict[tuple[int, int], Poly] = {}
    for new in range(NEW_MONOMIALS + 1):
        for i, f in enumerate(factors):
            near = dict.fromkeys(j for m in _parts(f, wanted) for j in occurrences.get(m, ()))
            steps.spend(1 + len(near))
            for j in near:
                made = {tuple(sorted(m + n)) for m in f for n in short[j] if m and n}
                if (i, j) in found or any(len(m) > MAX_DEGREE for m in made):
                    continue
                if len(made - wanted) <= new and len(found) < MAX_PRODUCTS:
                    wanted |= made
                    found[i, j] = multiply(f, short[j])
    return list(found.values())


def _parts(f: Poly, wanted: set[Monomial]) -> set[Monomial]:
    """The factors that make a wanted monomial when multiplied by one of `f`."""
    quotients = (quotient_of_monomials(m, n) for m in wanted for n in f if n)
    return {m for m in quotients if m}

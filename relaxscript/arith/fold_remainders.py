"""Finding remainders in a polynomial: `n - n // 8 * 8` is `n % 8`.

The canonical form has no remainders, since `a % b` is `a - a // b * b`; for people they are put
back wherever that makes the polynomial no longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from relaxscript.ir import prim

from .atom import Atom
from .polynomial import CONSTANT, Monomial, Poly, TooLarge, accumulate, constant_of, multiply

__all__ = ["Term", "fold_remainders"]

# Dividend, divisor and the kind of remainder.
Remainder = tuple[Poly, Poly, type[prim.Binary]]


class Term(NamedTuple):
    """A term to write: a multiple of a monomial, or of a remainder."""

    coefficient: int
    monomial: Monomial
    remainder: Remainder | None = None


def fold_remainders(atoms: Sequence[Atom], p: Poly) -> list[Term]:
    """The terms of `p` in their order, remainders put back where their first part was."""
    divisions = dict.fromkeys(
        n for m in p for n in m if atoms[n].kind == "floordiv" or atoms[n].kind == "div"
    )
    if not divisions or len(p) == 1:
        return [Term(c, m) for m, c in p.items()]
    rest = p
    found: list[tuple[int, Term]] = []
    places = {m: i for i, m in enumerate(p)}
    # Outer divisions first, whatever their order: a remainder may be part of another's dividend.
    for number in sorted(divisions, key=lambda n: -atoms[n].depth):
        for remainder in _candidates(atoms, rest, number):
            taken = _factor_out(rest, remainder, number)
            if taken is None:
                continue
            c, new = taken
            involved = [places[m] for m in p if m and new.get(m, 0) != rest.get(m, 0)]
            found.append((min(involved), Term(c, (number,), remainder)))
            rest = new
            break
    # A remainder goes before the term that was there.
    ordered = [(place, 0, i, item) for i, (place, item) in enumerate(found)]
    ordered += [(places[m], 1, 0, Term(c, m)) for m, c in rest.items()]
    ordered.sort(key=lambda entry: entry[:3])
    return [item for *_, item in ordered]


def _candidates(atoms: Sequence[Atom], p: Poly, number: int) -> Iterator[Remainder]:
    """The remainders that the quotient `number` may belong to: of its operands, or another one."""
    atom = atoms[number]
    dividend, divisor = atom.args
    yield dividend, divisor, prim.FloorMod if atom.kind == "floordiv" else prim.Mod
    d = constant_of(divisor)
    if not d or atom.kind == "div":
        return
    for m in list(p):
        if len(m) != 1 or m[0] == number or atoms[m[0]].kind != "floordiv":
            continue
        inner, by = atoms[m[0]].args
        a = constant_of(by)
        if not a or d % a or d == a:
            continue
        # x // (a * b) is (x' // a + k) // b for x == x' + a * k.
        gap = dividend.get(CONSTANT, 0) - inner.get(CONSTANT, 0)
        if gap % a == 0 and _same_terms(dividend, inner):
            quotient: Poly = {m: 1, CONSTANT: gap // a} if gap else {m: 1}
            yield quotient, {CONSTANT: d // a}, prim.FloorMod


def _same_terms(p: Poly, q: Poly) -> bool:
    return {m: c for m, c in p.items() if m} == {m: c for m, c in q.items() if m}


def _factor_out(p: Poly, remainder: Remainder, number: int) -> tuple[int, Poly] | None:
    """`p == c * remainder + rest` with as many terms or fewer, none larger than before."""
    dividend, divisor, _ = remainder
    lead = next(iter(divisor), CONSTANT)
    c = p.get(tuple(sorted((*lead, number))), 0)
    if not divisor or c % divisor[lead] or not c:
        return None
    c = -c // divisor[lead]
    rest = dict(p)
    accumulate(rest, dividend, -c)
    try:
        accumulate(rest, multiply(divisor, {(number,): 1}), c)
    except TooLarge:
        return None
    if len(rest) + 1 > len(p) or any(abs(k) > abs(p.get(m, 0)) for m, k in rest.items()):
        return None
    return (c, rest) if any(m for m in p if rest.get(m, 0) != p[m]) else None

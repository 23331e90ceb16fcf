"""Polynomials with integer coefficients, as plain dictionaries.

A monomial is a sorted tuple of atom numbers: `()` for the constant, `(0, 0)` for a square. A
polynomial maps monomials to their coefficients, none of which is zero. The order of the dictionary
is the order in which terms appeared. What an atom is, `canonical.py` says.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

__all__ = [
    "CONSTANT", "GiveUp", "Key", "Monomial", "Poly", "TooLarge", "accumulate", "add",
    "constant_of", "content", "difference", "divide_exactly", "key_of", "multiply",
    "quotient_of_monomials", "scale", "tighten", "total", "without_constant",
]  # fmt: skip

Monomial = tuple[int, ...]
Poly = dict[Monomial, int]
Key = frozenset[tuple[Monomial, int]]

CONSTANT: Monomial = ()
MAX_TERMS = 200
MAX_DEGREE = 16
MAX_COEFFICIENT = 1 << 128


class GiveUp(Exception):
    """An expression is better left as it is."""


class TooLarge(Exception):
    """A polynomial would outgrow any use."""


def key_of(p: Poly) -> Key:
    """A hashable stand-in for a polynomial, the same for equal ones."""
    return frozenset(p.items())


def add(into: Poly, m: Monomial, c: int) -> None:
    """Add one term to `into`."""
    new = into.get(m, 0) + c
    if new:
        into[m] = new
    else:
        into.pop(m, None)


def accumulate(into: Poly, p: Poly, factor: int = 1) -> None:
    """Add `factor * p` to `into`."""
    get = into.get
    for m, c in p.items():
        new = get(m, 0) + c * factor
        if new:
            into[m] = new
        else:
            into.pop(m, None)


def total(a: Poly, b: Poly) -> Poly:
    """`a + b`."""
    result = dict(a)
    accumulate(result, b)
    return result


def difference(a: Poly, b: Poly) -> Poly:
    """`a - b`."""
    result = dict(a)
    accumulate(result, b, -1)
    return result


def scale(p: Poly, factor: int) -> Poly:
    """`factor * p`."""
    return {m: c * factor for m, c in p.items()} if factor else {}


def multiply(a: Poly, b: Poly) -> Poly:
    """`a * b`; raises `TooLarge` when expanding it is not worth the while."""
    if len(a) * len(b) > MAX_TERMS:
        raise TooLarge
    result: Poly = {}
    for m, c in a.items():
        for n, d in b.items():
            product = tuple(sorted(m + n)) if m and n else m or n
            if len(product) > MAX_DEGREE:
                raise TooLarge
            result[product] = result.get(product, 0) + c * d
    if any(abs(c) > MAX_COEFFICIENT for c in result.values()):
        raise TooLarge
    return {m: c for m, c in result.items() if c}


def constant_of(p: Poly) -> int | None:
    """The value of a polynomial without variables, else None."""
    if not p:
        return 0
    return p.get(CONSTANT) if len(p) == 1 else None


def without_constant(p: Poly) -> Poly:
    """`p` without its constant term."""
    return {m: c for m, c in p.items() if m}


def content(coefficients: Iterable[int]) -> int:
    """The greatest common divisor; 0 of nothing."""
    return gcd(*coefficients)


def tighten(p: Poly) -> Poly:
    """A polynomial that is at least zero exactly where `p` is, in lowest terms."""
    g = content(c for m, c in p.items() if m)
    return {m: c // g for m, c in p.items() if c // g} if g > 1 else p


def quotient_of_monomials(a: Monomial, b: Monomial) -> Monomial | None:
    """`a / b` where that is a monomial."""
    if not b:
        return a
    rest = list(a)
    for atom in b:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def divide_exactly(p: Poly, q: Poly, steps: int = 32) -> Poly | None:
    """The polynomial `s` with `p == q * s`, if there is one and so many steps find it."""
    lead = max(q, key=_degree)
    rest = dict(p)
    result: Poly = {}
    while rest:
        steps -= 1
        head = max(rest, key=_degree)
        m = quotient_of_monomials(head, lead)
        if m is None or rest[head] % q[lead] or steps < 0:
            return None
        c = rest[head] // q[lead]
        result[m] = c
        for n, d in q.items():
            product = tuple(sorted(m + n))
            left = rest.get(product, 0) - c * d
            if left:
                rest[product] = left
            else:
                rest.pop(product, None)
    return result


def _degree(m: Monomial) -> tuple[int, Monomial]:
    """Graded lexicographic order, which respects multiplication."""
    return len(m), m[::-1]

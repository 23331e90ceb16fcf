"""Bounds of a polynomial over atoms.

`interval` adds up what is known of each atom. `lower_bound` and `upper_bound` also eliminate: a
division `q = p // d` is replaced by `(p - r) / d` with the bounds of the remainder `r`. A maximum
or minimum is replaced by its operands. So what cancels is seen to cancel. Both are sound, none is
complete.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice

from .atom import Atom
from .polynomial import (
    CONSTANT,
    Monomial,
    Poly,
    TooLarge,
    accumulate,
    constant_of,
    difference,
    multiply,
    scale,
)
from .quotient_bounds import remainder_ends

__all__ = [
    "interval",
    "is_nonnegative",
    "lower_bound",
    "product_bounds",
    "substitute_atom",
    "upper_bound",
]

# Inclusive; None is unbounded.
Bound = int | None
MAX_CANDIDATES = 6


def interval(atoms: Sequence[Atom], p: Poly) -> tuple[Bound, Bound]:
    """Bounds of `p` from those of its atoms, term by term."""
    low: Bound = 0
    high: Bound = 0
    for m, c in p.items():
        if len(m) == 1:
            atom = atoms[m[0]]
            a, b = atom.low, atom.high
        else:
            a, b = _monomial(atoms, m)
        if c < 0:
            a, b = b, a
        low = None if low is None or a is None else low + c * a
        high = None if high is None or b is None else high + c * b
        if low is None and high is None:
            break
    return low, high


def _monomial(atoms: Sequence[Atom], m: Monomial) -> tuple[Bound, Bound]:
    low: Bound = 1
    high: Bound = 1
    for number, group in groupby(m):
        power = len(list(group))
        a, b = _power(atoms[number].low, atoms[number].high, power)
        low, high = product_bounds(low, high, a, b)
    return low, high


def _power(low: Bound, high: Bound, n: int) -> tuple[Bound, Bound]:
    if n == 1:
        return low, high
    if n % 2 or (low is not None and low >= 0):
        return None if low is None else low**n, None if high is None else high**n
    least = high**n if high is not None and high < 0 else 0
    most = None if low is None or high is None else max(low**n, high**n)
    return least, most


def product_bounds(a: Bound, b: Bound, c: Bound, d: Bound) -> tuple[Bound, Bound]:
    """Bounds of `x * y` for `a <= x <= b` and `c <= y <= d`."""
    if None not in (a, b, c, d):
        corners = [x * y for x in (a, b) for y in (c, d)]  # type: ignore[operator]
        return min(corners), max(corners)
    xs = (-math.inf if a is None else a, math.inf if b is None else b)
    ys = (-math.inf if c is None else c, math.inf if d is None else d)
    ends = [_times(x, y) for x in xs for y in ys]
    low, high = min(ends), max(ends)
    return None if low == -math.inf else int(low), None if high == math.inf else int(high)


def _times(x: float, y: float) -> float:
    """The product of two ends; of nothing, however often, it is nothing."""
    if not x or not y:
        return 0
    if math.isinf(x) or math.isinf(y):
        return math.inf if (x > 0) == (y > 0) else -math.inf
    return x * y


def lower_bound(atoms: Sequence[Atom], p: Poly, depth: int = 2) -> Bound:
    """The greatest lower bound of `p` that is found by at most `depth` eliminations in a row."""
    best = interval(atoms, p)[0]
    if depth == 0:
        return best
    for found in islice(_eliminations(atoms, p, depth), MAX_CANDIDATES):
        if found is not None and (best is None or found > best):
            best = found
    return best


def is_nonnegative(atoms: Sequence[Atom], known: Sequence[Poly], p: Poly, depth: int = 2) -> bool:
    """True if `p >= 0` by its bounds, or by those of what it exceeds something known to be >= 0."""
    low = lower_bound(atoms, p, depth)
    if low is not None and low >= 0:
        return True
    gaps = (lower_bound(atoms, difference(p, other), 1) for other in known)
    return any(gap is not None and gap >= 0 for gap in gaps)


def upper_bound(atoms: Sequence[Atom], p: Poly, depth: int = 2) -> Bound:
    """The least upper bound of `p` that is found by at most `depth` eliminations in a row."""
    found = lower_bound(atoms, scale(p, -1), depth)
    return None if found is None else -found


def _eliminations(atoms: Sequence[Atom], p: Poly, depth: int) -> Iterator[Bound]:
    for m, c in p.items():
        for number in m if len(m) < 2 else dict.fromkeys(m):
            atom = atoms[number]
            if atom.kind in ("floordiv", "div"):
                yield from _division(atoms, p, atom, m, c, depth)
            elif atom.kind in _ELIMINATE and len(m) == 1:
                yield _ELIMINATE[atom.kind](atoms, p, atom, c, depth)


def _division(
    atoms: Sequence[Atom], p: Poly, atom: Atom, m: Monomial, c: int, depth: int
) -> Iterator[Bound]:
    d = constant_of(atom.args[1])
    try:
        if d is None:
            yield from _by_symbol(atoms, p, atom, depth)
        elif d > 0 and len(m) == 1:
            yield _by_number(atoms, p, atom, m, c, d, depth)
    except TooLarge:
        return


def _by_number(
    atoms: Sequence[Atom], p: Poly, atom: Atom, m: Monomial, c: int, d: int, depth: int
) -> Bound:
    """`d * p` with `d * q` replaced by `dividend - r`, `r` at its worst end."""
    dividend = atom.args[0]
    low, high = 0, d - 1
    if atom.kind == "div":
        ends = remainder_ends(interval(atoms, dividend), (d, d), True)
        low, high = ends[0] or 0, ends[1] or 0
    eliminated = {n: k * d for n, k in p.items() if n != m}
    accumulate(eliminated, dividend, c)
    accumulate(eliminated, {CONSTANT: -c * (high if c > 0 else low)})
    found = lower_bound(atoms, eliminated, depth - 1)
    return None if found is None else -(-found // d)


def _by_symbol(atoms: Sequence[Atom], p: Poly, atom: Atom, depth: int) -> Iterator[Bound]:
    """Eliminate a quotient: `f * divisor * q + rest` is `f * (dividend - r) + rest`."""
    dividend, divisor = atom.args
    lead = next(iter(divisor))
    product = tuple(sorted((*lead, atom.number)))
    if p.get(product, 0) % divisor[lead]:
        return
    factor = p.get(product, 0) // divisor[lead]
    if not factor:
        return
    eliminated = dict(p)
    accumulate(eliminated, multiply(divisor, {(atom.number,): 1}), -factor)
    if any(atom.number in m for m in eliminated):
        return
    accumulate(eliminated, dividend, factor)
    for worst in _worst_remainders(atoms, atom, upwards=factor > 0):
        rest = dict(eliminated)
        accumulate(rest, worst, -factor)
        yield lower_bound(atoms, rest, depth - 1)


def _worst_remainders(atoms: Sequence[Atom], atom: Atom, upwards: bool) -> Iterator[Poly]:
    """Bounds that a remainder by a divisor with variables never exceeds, or never falls below."""
    dividend, divisor = atom.args
    truncating = atom.kind == "div"
    ends, size = interval(atoms, dividend), interval(atoms, divisor)
    if size[0] is not None and size[0] >= 0:
        # It is smaller than the divisor, and unless truncation leaves a negative one, not negative.
        if upwards:
            yield {**divisor, CONSTANT: divisor.get(CONSTANT, 0) - 1}
        elif truncating and (ends[0] is None or ends[0] < 0):
            yield {**scale(divisor, -1), CONSTANT: 1 - divisor.get(CONSTANT, 0)}
    number = remainder_ends(ends, size, truncating)[upwards]
    if number is not None:
        yield {CONSTANT: number} if number else {}


def _extremum(atoms: Sequence[Atom], p: Poly, atom: Atom, c: int, depth: int) -> Bound:
    """Each operand in the place of the maximum or minimum: the best of them or the worst.

    The worst is always right, since it is one of them; the best only where `p` rises or falls with
    it, so not where it occurs in products too.
    """
    found = [lower_bound(atoms, substitute_atom(p, atom.number, a), depth - 1) for a in atom.args]
    alone = sum(atom.number in n for n in p) == 1
    if alone and (c > 0) == (atom.kind == "max"):
        known = [low for low in found if low is not None]
        return max(known) if known else None
    return _worst(found)


def _choice(atoms: Sequence[Atom], p: Poly, atom: Atom, c: int, depth: int) -> Bound:
    values = atom.args[1:]
    return _worst(
        [lower_bound(atoms, substitute_atom(p, atom.number, a), depth - 1) for a in values]
    )


def _worst(found: list[Bound]) -> Bound:
    known = [low for low in found if low is not None]
    return min(known) if len(known) == len(found) else None


def substitute_atom(p: Poly, number: int, value: Poly) -> Poly:
    """`p` with an atom replaced wherever it is a factor; raises `TooLarge` when that explodes."""
    result: Poly = {}
    for m, c in p.items():
        power = m.count(number)
        if not power:
            accumulate(result, {m: c})
            continue
        term: Poly = {tuple(n for n in m if n != number): c}
        for _ in range(power):
            term = multiply(term, value)
        accumulate(result, term)
    return result


_Eliminate = Callable[[Sequence[Atom], Poly, Atom, int, int], Bound]


def _skip_too_large(eliminate: _Eliminate) -> _Eliminate:
    def guarded(atoms: Sequence[Atom], p: Poly, atom: Atom, c: int, depth: int) -> Bound:
        try:
            return eliminate(atoms, p, atom, c, depth)
        except TooLarge:
            return None

    return guarded


_ELIMINATE: dict[str, _Eliminate] = {
    "max": _skip_too_large(_extremum),
    "min": _skip_too_large(_extremum),
    "select": _skip_too_large(_choice),
}

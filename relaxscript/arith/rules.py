"""Rules for divisions and remainders of polynomials, and of literals.

Each function takes the context, the operands as polynomials and their expression. It gives the
result as a polynomial. Every rule is an identity of mathematical integers where both sides are
defined; a division by zero is never folded away, except where a divisor cancels.
"""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Callable
from math import gcd
from typing import TYPE_CHECKING

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .atom import Atom
from .evaluate import evaluate, truncated_division
from .interval import interval, is_nonnegative, lower_bound, upper_bound
from .minmax_select import extremum, select
from .polynomial import (
    CONSTANT,
    Monomial,
    Poly,
    TooLarge,
    accumulate,
    constant_of,
    content,
    difference,
    divide_exactly,
    key_of,
    multiply,
    quotient_of_monomials,
    scale,
    total,
    without_constant,
)
from .quotient_bounds import Ends, quotient_ends

if TYPE_CHECKING:
    from .canonical import CanonicalContext

__all__ = ["exact_float", "floor_division", "remainder", "truncated"]

# Longer dividends are not taken apart, so that nesting cannot make polynomials grow and grow.
MAX_DIVIDED = 300
MAX_REMAINING = 60

Divide = Callable[["CanonicalContext", Poly, Poly, PrimExpr], Poly]


# ---------------------------------------------------------------- floor division


def floor_division(context: CanonicalContext, p: Poly, q: Poly, e: PrimExpr) -> Poly:
    """`p // q`, rounding towards minus infinity."""
    c = constant_of(q)
    if c is None:
        return _by_symbol(context, p, q, e)
    if c == 0:
        return _undefined(context, "floordiv", p, q, e)
    if c < 0:
        p, c = scale(p, -1), -c
    if c == 1:
        return dict(p)
    if len(p) > MAX_DIVIDED:
        return context.atom(
            "floordiv", (p, {CONSTANT: c}), e, lambda: _division_bounds(context, p, c)
        )
    quotient: Poly = {}
    rest: Poly = {}
    for m, k in p.items():
        # Of a term with a variable nothing is borrowed: `-n // 4` is not `-n + (3 * n) // 4`.
        whole = k // c if k >= 0 or not m else -(-k // c)
        if whole:
            quotient[m] = whole
        if k - whole * c:
            rest[m] = k - whole * c
    if any(rest):
        accumulate(quotient, _small_division(context, rest, c, e))
    return quotient


def _small_division(context: CanonicalContext, rest: Poly, c: int, e: PrimExpr) -> Poly:
    """`rest // c` where no whole multiple of `c` can be taken out of any term."""
    g = content((c, *(k for m, k in rest.items() if m)))
    if g > 1:
        rest, c = {m: k // g for m, k in rest.items() if k // g}, c // g
        if c == 1:
            return rest
    known = context.by_key.get(("floordiv", None, (key_of(rest), key_of({CONSTANT: c}))))
    if known is not None:
        return {(known,): 1}
    found = _without_low_digits(context, rest, c, e)
    if found is not None:
        return found
    low, high = _division_bounds(context, rest, c)
    if low is not None and low == high:
        return {CONSTANT: low} if low else {}
    terms = without_constant(rest)
    (m, k), *others = terms.items()
    if k == 1 and not others and len(m) == 1:
        found = _division_of_atom(context, context.atoms[m[0]], rest.get(CONSTANT, 0), c, e)
        if found is not None:
            return found
    return context.atom("floordiv", (rest, {CONSTANT: c}), e, lambda: (low, high))


def _without_low_digits(context: CanonicalContext, rest: Poly, c: int, e: PrimExpr) -> Poly | None:
    """`(32 * x + y) // 64` as `x // 2` where `y` is from 0 to 31; None where there is no such."""
    terms = {m: k for m, k in rest.items() if m}
    for g in sorted({gcd(k, c) for k in terms.values()} - {1}, reverse=True):
        low = {m: k for m, k in terms.items() if k % g}
        # `y % 32` is `y - y // 32 * 32`: such a quotient belongs to what is left of `y`.
        low |= {m: k for m, k in terms.items() if _is_quotient_of(context, m, low)}
        accumulate(low, {CONSTANT: rest.get(CONSTANT, 0) % g})
        high = difference(rest, low)
        if any(high) and _is_remainder(context, low, {CONSTANT: g}):
            divided = {m: k // g for m, k in high.items()}
            return floor_division(context, divided, {CONSTANT: c // g}, e)
    return None


def _is_quotient_of(context: CanonicalContext, m: Monomial, p: Poly) -> bool:
    """True if `m` is a quotient of something that has a term of `p`."""
    atom = context.atoms[m[0]]
    return len(m) == 1 and atom.kind == "floordiv" and any(n in p for n in atom.args[0] if n)


def _division_of_atom(
    context: CanonicalContext, atom: Atom, k: int, c: int, e: PrimExpr
) -> Poly | None:
    """`(atom + k) // c` where what the atom is made of can be divided instead."""
    if atom.kind == "floordiv" and (a := constant_of(atom.args[1])) is not None and a > 0:
        # (x // a + k) // c == (x + k * a) // (a * c) for positive a and c.
        inner = total(atom.args[0], {CONSTANT: k * a})
        return floor_division(context, inner, {CONSTANT: a * c}, e)
    values = atom.args[1:] if atom.kind == "select" else atom.args
    if atom.kind not in ("max", "min", "select") or any(
        k % c for p in values for m, k in p.items() if m
    ):
        return None
    # Division by a positive number respects order, and choices; here nothing is left to divide.
    divided = [floor_division(context, total(p, {CONSTANT: k}), {CONSTANT: c}, e) for p in values]
    if atom.kind == "select":
        return select(context, atom.args[0], divided[0], divided[1], atom.node)
    result = divided[0]
    for other in divided[1:]:
        result = extremum(context, atom.kind, result, other, atom.node)
    return result


def _division_bounds(context: CanonicalContext, p: Poly, c: int) -> tuple[int | None, int | None]:
    low, high = interval(context.atoms, p)
    settled = low is not None and high is not None and low // c == high // c
    if not settled and any(context.atoms[n].kind != "var" for m in p for n in m):
        low, high = lower_bound(context.atoms, p), upper_bound(context.atoms, p)
    return None if low is None else low // c, None if high is None else high // c


def _by_symbol(context: CanonicalContext, p: Poly, q: Poly, e: PrimExpr) -> Poly:
    """`p // q` for a divisor with variables; what cancels is taken not to be zero."""
    p, q = _without_common_factors(p, q)
    if constant_of(q) is not None:
        return floor_division(context, p, q, e)
    exact = divide_exactly(p, q) if p else None
    if exact is not None:
        return exact
    quotient, rest = _split_by_monomial(p, q)
    if not rest or _is_remainder(context, rest, q):
        may_be_zero = not (quotient or rest) and not _never_zero(context, q)
        return _undefined(context, "floordiv", p, q, e) if may_be_zero else quotient
    result = context.atom(
        "floordiv", (rest, q), e, lambda: _quotient_bounds(context, rest, q, False)
    )
    _mark_partial(context, result, q)
    accumulate(quotient, result)
    return quotient


def _undefined(context: CanonicalContext, kind: str, p: Poly, q: Poly, e: PrimExpr) -> Poly:
    """A division whose divisor is or may be zero: it stays, whatever the dividend."""
    result = context.atom(kind, (p, q), e, lambda: (None, None))
    _mark_partial(context, result, q)
    return result


def _mark_partial(context: CanonicalContext, result: Poly, q: Poly) -> None:
    if not _never_zero(context, q):
        context.partial.update(m[0] for m in result if m)


def _never_zero(context: CanonicalContext, q: Poly) -> bool:
    low, high = interval(context.atoms, q)
    return (low is not None and low > 0) or (high is not None and high < 0)


def _without_common_factors(p: Poly, q: Poly) -> tuple[Poly, Poly]:
    """Both without the integer and the atoms that divide every term, and `q` not all negative."""
    if not p:
        return p, q
    g = content((*p.values(), *q.values()))
    if all(k < 0 for k in q.values()):
        g = -g
    common = _common_monomial((*p, *q))
    if g == 1 and not common:
        return p, q

    def reduced(r: Poly) -> Poly:
        return {_quotient(m, common): k // g for m, k in r.items()}

    return reduced(p), reduced(q)


def _quotient(a: Monomial, b: Monomial) -> Monomial:
    found = quotient_of_monomials(a, b)
    assert found is not None
    return found


def _common_monomial(monomials: tuple[Monomial, ...]) -> Monomial:
    common = monomials[0]
    for m in monomials[1:]:
        if not common:
            break
        rest = list(m)
        kept = []
        for atom in common:
            if atom in rest:
                rest.remove(atom)
                kept.append(atom)
        common = tuple(kept)
    return common


def _split_by_monomial(p: Poly, q: Poly) -> tuple[Poly, Poly]:
    """`p == q * quotient + rest`, taking out the terms that a divisor of one term divides."""
    if len(q) != 1:
        return {}, p
    ((lead, d),) = q.items()
    quotient: Poly = {}
    rest: Poly = {}
    for m, k in p.items():
        found = quotient_of_monomials(m, lead)
        if found is None or k % d:
            rest[m] = k
        else:
            quotient[found] = k // d
    return quotient, rest


def _is_remainder(context: CanonicalContext, p: Poly, q: Poly) -> bool:
    """True if `0 <= p < q` is known, which includes that `q` is not zero."""
    gap = difference(difference(q, p), {CONSTANT: 1})
    atoms, known = context.atoms, context.inequalities
    return is_nonnegative(atoms, known, p) and is_nonnegative(atoms, known, gap)


def _quotient_bounds(context: CanonicalContext, p: Poly, q: Poly, truncating: bool) -> Ends:
    return quotient_ends(interval(context.atoms, p), interval(context.atoms, q), truncating)


# ---------------------------------------------------------------- truncating division, remainders


def truncated(context: CanonicalContext, p: Poly, q: Poly, e: PrimExpr) -> Poly:
    """`p / q` rounding towards zero, as in C."""
    c = constant_of(q)
    if c == 0:
        return _undefined(context, "div", p, q, e)
    if c is not None and c < 0:
        return scale(truncated(context, p, {CONSTANT: -c}, e), -1)
    least = interval(context.atoms, q)[0]
    if least is not None and least >= 0 and is_nonnegative(context.atoms, context.inequalities, p):
        return floor_division(context, p, q, e)
    exact = divide_exactly(p, q) if p else None
    if exact is not None:
        return exact
    if c is None:
        result = context.atom("div", (p, q), e, lambda: _quotient_bounds(context, p, q, True))
        _mark_partial(context, result, q)
        return result
    high = upper_bound(context.atoms, p)
    if high is not None and high <= 0:
        return scale(floor_division(context, scale(p, -1), q, e), -1)
    g = content((c, *p.values()))
    return _small_truncated(context, {m: k // g for m, k in p.items()}, c // g, e)


def _small_truncated(context: CanonicalContext, p: Poly, c: int, e: PrimExpr) -> Poly:
    """`p / c` rounding towards zero, for a positive `c` that shares no divisor with `p`."""
    (m, k), *others = p.items()
    if not others and abs(k) == 1 and len(m) == 1 and context.atoms[m[0]].kind == "div":
        # x / a / c == x / (a * c), whatever the signs.
        dividend, divisor = context.atoms[m[0]].args
        if a := constant_of(divisor):
            return truncated(context, scale(dividend, k), {CONSTANT: a * c}, e)
    if ("div", None, (key_of(scale(p, -1)), key_of({CONSTANT: c}))) in context.by_key:
        return scale(context.atom("div", (scale(p, -1), {CONSTANT: c}), e), -1)
    ends = interval(context.atoms, p)

    def bounds() -> tuple[int | None, int | None]:
        low, high = (None if end is None else truncated_division(end, c) for end in ends)
        return low, high

    return context.atom("div", (p, {CONSTANT: c}), e, bounds)


def remainder(context: CanonicalContext, p: Poly, q: Poly, e: PrimExpr, divide: Divide) -> Poly:
    """The remainder of `divide`: `p - p / q * q`."""
    if len(p) <= MAX_REMAINING:
        with contextlib.suppress(TooLarge):
            return difference(p, multiply(q, divide(context, p, q, e)))

    def bounds() -> tuple[int | None, int | None]:
        c = constant_of(q)
        return (0, c - 1) if c and c > 0 and isinstance(e, prim.FloorMod) else (None, None)

    result = context.atom("opaque", (p, q), e, bounds, detail=type(e))
    _mark_partial(context, result, q)
    return result


# ---------------------------------------------------------------- literals


def exact_float(e: prim.Binary, a: prim.FloatImm, b: prim.FloatImm) -> prim.FloatImm | None:
    """The literal for an operation on two, if its result is exact in their dtype.

    Results of zero are left alone, since zero has a sign.
    """
    from fractions import Fraction  # slow to import, and few programs come here

    first, second = evaluate(a), evaluate(b)
    if a.dtype is not b.dtype or not (math.isfinite(first) and math.isfinite(second)):
        return None
    x, y = Fraction(first), Fraction(second)
    match e:
        case prim.Add():
            result = x + y
        case prim.Sub():
            result = x - y
        case prim.Mul():
            result = x * y
        case prim.Div() if y:
            result = x / y
        case _:
            return None
    try:
        value = float(result)
        stored = float(a.dtype.numpy.type(value))
    except (OverflowError, TypeError, struct.error):
        return None
    exact = result != 0 and math.isfinite(stored) and Fraction(stored) == result
    return prim.FloatImm.make(a.dtype, stored) if exact else None

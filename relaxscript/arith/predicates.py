"""Rules for comparisons and logic: bools are polynomials of value 0 or 1, `not x` is `1 - x`.

A comparison of integers becomes one of two atoms: "ge0", a polynomial is at least zero, or "eq0",
it is zero. Each function takes the context, the operands and the expression they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .interval import is_nonnegative, lower_bound, upper_bound
from .polynomial import (
    CONSTANT,
    Key,
    Poly,
    constant_of,
    content,
    difference,
    key_of,
    scale,
    tighten,
    total,
)

if TYPE_CHECKING:
    from .canonical import CanonicalContext

__all__ = ["comparison", "complement", "logic", "negation", "never_zero"]

TRUE: Poly = {CONSTANT: 1}
MAX_OPERANDS = 16


def comparison(context: CanonicalContext, a: Poly, b: Poly, e: PrimExpr) -> Poly:
    """A comparison of two integers."""
    match e:
        case prim.LE() | prim.LT():
            a, b = b, a
        case prim.EQ():
            return _is_zero(context, difference(a, b), e)
        case prim.NE():
            return negation(_is_zero(context, difference(a, b), e))
    gap = difference(a, b)
    return _at_least_zero(
        context, complement(gap, -1) if isinstance(e, (prim.LT, prim.GT)) else gap, e
    )


def complement(p: Poly, offset: int) -> Poly:
    """`p + offset`."""
    return total(p, {CONSTANT: offset})


def negation(x: Poly) -> Poly:
    """`not x`."""
    return difference(TRUE, x)


def _at_least_zero(context: CanonicalContext, p: Poly, e: PrimExpr) -> Poly:
    p = tighten(p)
    known = _decide(context, p)
    if known is not None:
        return dict(TRUE) if known else {}
    simpler = _without_quotient(context, p) or _without_extremum(context, p)
    if simpler is not None:
        return _at_least_zero(context, simpler, e)
    opposite = complement(scale(p, -1), -1)
    if ("ge0", None, (key_of(opposite),)) in context.by_key:
        return negation(context.atom("ge0", (opposite,), e))
    return context.atom("ge0", (p,), e)


def _decide(context: CanonicalContext, p: Poly) -> bool | None:
    """True if `p >= 0` is known to hold, False if it is known not to."""
    if is_nonnegative(context.atoms, context.inequalities, p):
        return True
    opposite = complement(scale(p, -1), -1)
    return False if is_nonnegative(context.atoms, context.inequalities, opposite) else None


def _without_quotient(context: CanonicalContext, p: Poly) -> Poly | None:
    """The polynomial that is at least zero where `p`, a quotient and a number, is.

    `x // 8 >= 3` is `x >= 24`, and `x // 8 <= 3` is `x <= 31`.
    """
    m = next((m for m in p if m), CONSTANT)
    if len(m) != 1 or any(n for n in p if n and n != m) or abs(p[m]) != 1:
        return None
    atom, sign, constant = context.atoms[m[0]], p[m], p.get(CONSTANT, 0)
    c = constant_of(atom.args[1]) if atom.kind in ("floordiv", "div") else None
    if c is None or c <= 0:
        return None
    if atom.kind == "div":
        # Towards zero: `x / 8 >= 0` is `x >= -7`.
        offset = constant * c if constant < 0 else constant * c + c - 1
    else:
        offset = constant * c if sign > 0 else constant * c + c - 1
    return complement(scale(atom.args[0], sign), offset)


def _without_extremum(context: CanonicalContext, p: Poly) -> Poly | None:
    """The polynomial that is at least zero where `p` is, by one operand of a maximum.

    `max(x, 8) >= 10` is `x >= 10`, and `min(x, 11) < 10` is `x < 10`.
    """
    for m, k in p.items():
        atom = context.atoms[m[0]] if len(m) == 1 else None
        if atom is None or atom.kind not in ("max", "min") or sum(m[0] in n for n in p) > 1:
            continue
        one_is_enough = (atom.kind == "max") == (k > 0)
        rest = {n: c for n, c in p.items() if n != m}
        undecided = []
        for operand in atom.args:
            gap = total(rest, scale(operand, k))
            known = _decide(context, gap)
            if known is None:
                undecided.append(gap)
            elif known is one_is_enough:
                return {} if known else {CONSTANT: -1}
        if len(undecided) == 1:
            return undecided[0]
    return None


def _is_zero(context: CanonicalContext, p: Poly, e: PrimExpr) -> Poly:
    if not p:
        return dict(TRUE)
    if never_zero(context, p):
        return {}
    g = content(p.values())
    p = {m: c // g for m, c in p.items()}
    opposite = scale(p, -1)
    if ("eq0", None, (key_of(opposite),)) in context.by_key:
        p = opposite
    return context.atom("eq0", (p,), e)


def never_zero(context: CanonicalContext, p: Poly) -> bool:
    """True if `p` is zero for no values, by divisibility or by its bounds."""
    constant = p.get(CONSTANT, 0)
    g = content(c for m, c in p.items() if m)
    if g == 0 or constant % g:
        return constant != 0
    least = lower_bound(context.atoms, p)
    if least is not None and least > 0:
        return True
    most = upper_bound(context.atoms, p)
    return most is not None and most < 0


def logic(context: CanonicalContext, x: Poly, y: Poly, e: PrimExpr) -> Poly:
    """The conjunction or disjunction of two bools."""
    conjunction = isinstance(e, prim.And)
    for known, other in ((constant_of(x), y), (constant_of(y), x)):
        if known is not None:
            return dict(other) if bool(known) == conjunction else {CONSTANT: known} if known else {}
    kind = "and" if conjunction else "or"
    mine, theirs = _operands(context, kind, x), _operands(context, kind, y)
    if len(mine) + len(theirs) > MAX_OPERANDS:
        mine, theirs = (x,), (y,)
    kept = {key_of(p): p for p in (*mine, *theirs)}
    if any(key_of(negation(p)) in kept for p in kept.values()):
        return {} if conjunction else dict(TRUE)
    implied = _implied(context, kept, conjunction)
    if implied is None:
        return {} if conjunction else dict(TRUE)
    kept = {key: p for key, p in kept.items() if key not in implied}
    if len(kept) == 1:
        return dict(next(iter(kept.values())))
    # What may divide by zero may occur where another operand keeps it from being evaluated.
    return context.atom(kind, tuple(kept.values()), e, unordered=context.is_total(x, y))


def _implied(
    context: CanonicalContext, kept: Mapping[Key, Poly], conjunction: bool
) -> set[Key] | None:
    """The operands that say nothing: `x != 2` beside `x == 1`. None where no value is left.

    In a disjunction `x == 2` says nothing beside `x != 1`.
    """
    equations = [
        (key, *found) for key, p in kept.items() if (found := _equation(context, p)) is not None
    ]
    implied: set[Key] = set()
    for key, gap, holds in equations:
        if holds is not conjunction:
            continue
        for other, other_gap, other_holds in equations:
            apart = [constant_of(combine(gap, other_gap)) for combine in (difference, total)]
            if other == key or not any(apart):
                continue
            if other_holds is conjunction:
                return None
            implied.add(other)
    return implied


def _equation(context: CanonicalContext, p: Poly) -> tuple[Poly, bool] | None:
    """The operand of an equation with zero, and whether it holds; None for any other bool."""
    m = next((m for m in p if m), CONSTANT)
    if len(m) != 1 or context.atoms[m[0]].kind != "eq0" or p not in ({m: 1}, {**TRUE, m: -1}):
        return None
    return context.atoms[m[0]].args[0], p[m] == 1


def _operands(context: CanonicalContext, kind: str, p: Poly) -> tuple[Poly, ...]:
    if len(p) == 1:
        ((m, k),) = p.items()
        if k == 1 and len(m) == 1 and context.atoms[m[0]].kind == kind:
            return context.atoms[m[0]].args
    return (p,)

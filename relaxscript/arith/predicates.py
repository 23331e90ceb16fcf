"""Rules for comparisons and logic: bools are polynomials of value 0 or 1, `not x` is `1 - x`.

A comparison of integers becomes one of two atoms: "ge0", a polynomial is at least zero, or "eq0",
it is zero. Each function takes the context, the operands and the expression they come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .interval import is_nonnegative, lower_bound, upper_bound
from .polynomial import (
    CONSTANT,
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
    if is_nonnegative(context.atoms, context.inequalities, p):
        return dict(TRUE)
    opposite = complement(scale(p, -1), -1)
    if is_nonnegative(context.atoms, context.inequalities, opposite):
        return {}
    if ("ge0", None, (key_of(opposite),)) in context.by_key:
        return negation(context.atom("ge0", (opposite,), e))
    return context.atom("ge0", (p,), e)


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
    if len(kept) == 1:
        return dict(x)
    # What may divide by zero may occur where another operand keeps it from being evaluated.
    return context.atom(kind, tuple(kept.values()), e, unordered=context.is_total(x, y))


def _operands(context: CanonicalContext, kind: str, p: Poly) -> tuple[Poly, ...]:
    if len(p) == 1:
        ((m, k),) = p.items()
        if k == 1 and len(m) == 1 and context.atoms[m[0]].kind == kind:
            return context.atoms[m[0]].args
    return (p,)

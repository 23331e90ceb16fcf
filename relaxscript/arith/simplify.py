"""Simplification of scalar expressions.

An expression is read into its canonical form (`canonical.py`) and written again (`to_expr.py`).
"""

from __future__ import annotations

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .arguments import scalar
from .atom import INT64
from .canonical import CanonicalContext
from .facts import Facts
from .format import format_expr
from .literals import value_of_literals
from .polynomial import GiveUp, Poly
from .to_expr import ExprBuilder, same_expression
from .vectors import combine_vectors

__all__ = ["simplify"]

DIVISIONS = ("floordiv", "div")
MAX_ROUNDS = 4
_SIMPLE = frozenset({prim.IntImm, prim.FloatImm, prim.StringImm})


def simplify(e: PrimExpr | int, facts: Facts | None = None) -> PrimExpr:
    """An equal expression in a simpler, canonical form; `e` itself when there is nothing to do.

    int32 and int64 are read as mathematical integers, and variables as at least zero unless
    `facts` say otherwise. Other dtypes are left alone but for literals and the integers inside
    (indices, conditions). A division that may be by zero is never dropped, except where its divisor
    cancels: `n * m // m` is `n`. Simplifying twice gives the same object as simplifying once.
    Raises `TypeError` for what is no expression or number.
    """
    if not isinstance(e, PrimExpr):
        return scalar("simplify.e", e)
    cls = e.__class__
    if cls in _SIMPLE or (facts is None and (cls is prim.Var or cls is prim.SizeVar)):
        return e
    value = value_of_literals(e) if e.dtype is INT64 else None
    if value is not None and -(1 << 63) <= value < 1 << 63:
        literal = prim.IntImm.make(INT64, value)
        return literal if e.span is None else literal.replace(span=e.span)
    whole = e if e.dtype.lanes == 1 else combine_vectors(e, facts)
    if whole is not e:
        simpler = simplify(whole, facts)
        return simpler if e.span is None else simpler.replace(span=e.span)
    try:
        result, again = _rewrite(e, facts)
        if again and result is not e:
            result = _rewrite_to_fixpoint(result, facts)
            if same_expression(result, e):
                return e
    except GiveUp:
        return e
    if e.span is not None and result is not e and not isinstance(result, prim.Var):
        return result.replace(span=e.span)
    return result


def _rewrite(e: PrimExpr, facts: Facts | None) -> tuple[PrimExpr, bool]:
    """`e` read and written, and whether reading that may lead to yet another way to write it."""
    context = CanonicalContext(facts)
    p = context.read(e)
    if context.partial and not _keeps_all(context, p):
        return e, False
    writer = ExprBuilder(context)
    result = writer.write(p, e)
    divisions = sum(atom.kind in DIVISIONS for atom in context.atoms)
    return result, divisions > 1 or writer.has_remainders


def _rewrite_to_fixpoint(e: PrimExpr, facts: Facts | None) -> PrimExpr:
    """`e` rewritten until nothing changes.

    The remainders that are seen depend on the order of terms. Writing a remainder brings its terms
    into another order.
    """
    passed = [e]
    for _ in range(MAX_ROUNDS):
        new, _ = _rewrite(passed[-1], facts)
        if new is passed[-1]:
            return new
        for i, known in enumerate(passed):
            if same_expression(known, new):
                return min(passed[i:], key=format_expr)
        passed.append(new)
    return passed[-1]


def _keeps_all(context: CanonicalContext, p: Poly) -> bool:
    """True if every division that may be by zero is still in `p`."""
    return context.partial <= context.reachable(p)

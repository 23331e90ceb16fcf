"""Proofs: whether equations and conditions hold for all values of their variables, or for none."""

from __future__ import annotations

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .answer import NO, UNKNOWN, YES, Answer
from .arguments import condition as truth, scalar
from .atom import is_index
from .canonical import CanonicalContext
from .evaluate import evaluate
from .facts import Facts
from .literals import truth_of_literals
from .polynomial import GiveUp, difference
from .prover import Prover

__all__ = ["prove", "prove_equal"]


def prove_equal(a: PrimExpr | int, b: PrimExpr | int, facts: Facts | None = None) -> Answer:
    """Decide whether `a == b`: YES for all values of the variables, NO for none, else UNKNOWN.

    Variables are at least zero unless `facts` say otherwise; values for which one side divides by
    zero are left out of account. Raises `TypeError` for what is no expression or number.
    """
    if a is b:
        return YES
    if not isinstance(a, PrimExpr) or not isinstance(b, PrimExpr):
        a, b = scalar("prove_equal.a", a), scalar("prove_equal.b", b)
    known = _at_a_glance(a, b, facts)
    if known is not None:
        return known
    context = CanonicalContext(facts)
    try:
        gap = difference(context.read(a), context.read(b))
    except GiveUp:
        return UNKNOWN
    if not gap:
        return YES
    return UNKNOWN if a.dtype.is_float or b.dtype.is_float else Prover(context).is_zero(gap)


def _at_a_glance(a: PrimExpr, b: PrimExpr, facts: Facts | None) -> Answer | None:
    """The answer for literals and sizes, which most questions are about."""
    cls, other = a.__class__, b.__class__
    if cls is prim.IntImm and other is prim.IntImm:
        return YES if a.value == b.value else NO  # type: ignore[attr-defined]
    if facts is None and a.dtype is b.dtype and is_index(a.dtype):
        if cls is prim.Var and other is prim.Var:
            return UNKNOWN
        if cls is prim.IntImm and other is prim.Var:
            return NO if a.value < 0 else UNKNOWN  # type: ignore[attr-defined]
        if cls is prim.Var and other is prim.IntImm:
            return NO if b.value < 0 else UNKNOWN  # type: ignore[attr-defined]
    if isinstance(a, prim.FloatImm) and isinstance(b, prim.FloatImm):
        x, y = evaluate(a), evaluate(b)
        return YES if x == y or (x != x and y != y) else NO
    return None


def prove(condition: PrimExpr | bool, facts: Facts | None = None) -> Answer:
    """Decide whether a bool expression holds: YES for all values of the variables, NO for none.

    Values for which it has none, since it divides by zero, are left out of account. Raises
    `TypeError` for what is no bool.
    """
    asked = truth("prove.condition", condition)
    known = truth_of_literals(asked)
    if known is not None:
        return YES if known else NO
    context = CanonicalContext(facts)
    try:
        return Prover(context).holds(context.read(asked))
    except GiveUp:
        return UNKNOWN

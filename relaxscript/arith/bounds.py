"""Bounds of scalar expressions."""

from __future__ import annotations

from relaxscript.ir.prim import PrimExpr

from .arguments import scalar
from .canonical import CanonicalContext
from .facts import Facts, Interval
from .interval import lower_bound
from .polynomial import GiveUp, Poly, difference, scale

__all__ = ["bounds"]


def bounds(e: PrimExpr | int, facts: Facts | None = None) -> Interval:
    """Inclusive bounds of the values of `e`, an integer or bool; None where none was found.

    Raises `TypeError` for what is no expression or number.
    """
    e = scalar("bounds.e", e)
    context = CanonicalContext(facts)
    try:
        p = context.read(e)
    except GiveUp:
        return None, None
    if e.dtype.is_float:
        return None, None
    return _least(context, p), _negative(_least(context, scale(p, -1)))


def _least(context: CanonicalContext, p: Poly) -> int | None:
    """The greatest bound below `p`: its own, or what `p` exceeds something known to be >= 0 by."""
    touching = (known for known in context.inequalities if any(m in p for m in known if m))
    gaps = (lower_bound(context.atoms, difference(p, known), 1) for known in touching)
    found = [lower_bound(context.atoms, p), *gaps]
    return max((low for low in found if low is not None), default=None)


def _negative(low: int | None) -> int | None:
    return None if low is None else -low

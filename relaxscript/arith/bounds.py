"""Bounds of scalar expressions."""

from __future__ import annotations

from relaxscript.ir.prim import PrimExpr

from .arguments import scalar
from .canonical import CanonicalContext
from .facts import Facts, Interval
from .interval import lower_bound, upper_bound
from .polynomial import GiveUp

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
    return lower_bound(context.atoms, p), upper_bound(context.atoms, p)

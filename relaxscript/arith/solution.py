"""The one value for which two expressions are equal, where there is only one."""

from __future__ import annotations

from relaxscript.ir.prim import PrimExpr

from .canonical import CanonicalContext
from .facts import Facts
from .format import format_expr
from .polynomial import CONSTANT, GiveUp, difference

__all__ = ["only_solution"]


def only_solution(a: PrimExpr, b: PrimExpr, facts: Facts | None = None) -> tuple[str, int] | None:
    """The expression and the value that it must have for `a == b`: `n` and 1 for `n * 400 == 400`,
    `n * m` and 0.

    None where that is no variable or product of variables, or where several must be weighed.
    """
    context = CanonicalContext(facts)
    try:
        gap = difference(context.read(a), context.read(b))
    except GiveUp:
        return None
    unknown = [m for m in gap if m != CONSTANT]
    if len(unknown) != 1 or gap.get(CONSTANT, 0) % gap[unknown[0]]:
        return None
    atoms = [context.atoms[number] for number in unknown[0]]
    if any(atom.kind != "var" for atom in atoms):
        return None
    name = " * ".join(format_expr(atom.node) for atom in atoms)
    return name, -gap.get(CONSTANT, 0) // gap[unknown[0]]

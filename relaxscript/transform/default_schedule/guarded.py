"""Functions that are arranged for most sizes, and done as they are written for others."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

from relaxscript.ir.prim import And, PrimExpr
from relaxscript.ir.tir import DeclBuffer, IfThenElse, PrimFunc

__all__ = ["Guarded", "guarded"]


class Guarded(NamedTuple):
    """A function that does what another one does where all conditions hold."""

    func: PrimFunc
    conditions: tuple[PrimExpr, ...] = ()


def guarded(func: PrimFunc, made: PrimFunc, conditions: Iterable[PrimExpr]) -> PrimFunc:
    """The function that is made of one, with its parameters, where conditions hold.

    Elsewhere all is done as it is written. Parameters of another shape are views of those.
    """
    body = made.body
    for param, view in made.buffer_map.items():
        if func.buffer_map[param] is not view:
            body = DeclBuffer(view, body)
    needed = tuple(conditions)
    if needed:
        body = IfThenElse(reduce(And, needed), body, func.body)
    return made if body is made.body else made.replace(buffer_map=func.buffer_map, body=body)

"""Loops around several statements, as loops around each of them.

Who writes loops by hand clears an element where he is about to add to it. Rules know nests, each of
which stores one element an iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import PrimFunc, SeqStmt, Stmt
from relaxscript.ir.walk import Substitution
from relaxscript.transform.prim_func.memory_access import ElementAccess, Memories
from relaxscript.transform.prim_func.vectorize_loop import never_fails
from relaxscript.transform.schedule.accesses import EFFECTS, accesses_in

from .loop_nests import Loop, loops_around, parts_of, with_parts
from .loop_writing import in_loops

__all__ = ["element_accesses", "in_own_loops", "is_around_several", "with_distributed_loops"]


def with_distributed_loops(func: PrimFunc) -> PrimFunc:
    """The function with loops for each statement in the place of loops around several.

    for i in range(n):                      for i in range(n):
        s[i] = T.float32(0)         →           s[i] = T.float32(0)
        for k in range(64):                 for i, k in T.grid(n, 64):
            s[i] = s[i] + A[i, k]               s[i] = s[i] + A[i, k]

    That is where no iteration of the loops uses what another one writes, and nothing in the
    function fails: what fails first would be something else. The same object where no loops are
    around several statements.
    """
    parts = parts_of(func)
    if parts is None or not any(map(is_around_several, parts.parts)):
        return func
    if not never_fails(func, func.body, lazily=True):
        return func
    made: list[Stmt] = []
    for part in parts.parts:
        distributed = _distributed(func, part)
        if distributed is None:
            return func
        made += distributed
    return func.replace(body=with_parts(func.body, made))


def is_around_several(part: Stmt) -> bool:
    """True if a statement is loops around several."""
    found = loops_around(part)
    return found is not None and bool(found[0]) and isinstance(found[1], SeqStmt)


def _distributed(func: PrimFunc, part: Stmt) -> list[Stmt] | None:
    """The statements with loops of their own; None where their order would be another one."""
    found = loops_around(part)
    if found is None or not isinstance(found[1], SeqStmt):
        return [part]
    loops, statements = found[0], found[1].seq
    if not _are_independent(func, part, [loop.var for loop in loops]):
        return None
    made: list[Stmt] = []
    for inner in statements:
        distributed = _distributed(func, inner)
        if distributed is None:
            return None
        made += [in_own_loops(loops, each) for each in distributed]
    return made


def in_own_loops(loops: Sequence[Loop], body: Stmt) -> Stmt:
    """A statement in loops like others, over variables of their own."""
    own = [Loop(Var.make(loop.var.name, loop.var.dtype), loop.extent) for loop in loops]
    names: dict[Any, Node] = {old.var: new.var for old, new in zip(loops, own)}
    return Substitution(names).apply(in_loops(own, body))


def _are_independent(func: PrimFunc, part: Stmt, variables: Sequence[Var]) -> bool:
    """True if no iteration of the outer loops uses what another one writes."""
    found = element_accesses(part)
    if found is None:
        return False
    memories = Memories(func, part)
    outer: set[Var] = set()
    for var in variables:
        outer.add(var)
        if not memories.are_independent(found.accesses, var, found.variables - outer):
            return False
    return True


class ElementAccesses(NamedTuple):
    """The elements that a statement reads and writes, and the variables of the loops in it."""

    accesses: list[ElementAccess]
    variables: set[Var]


def element_accesses(part: Stmt) -> ElementAccesses | None:
    """The elements that a statement reads and writes; None where it is not known which."""
    found = accesses_in(part)
    accesses: list[ElementAccess] = []
    for access in found:
        indices = _known(access.indices)
        if access.buffer is EFFECTS or indices is None:
            return None
        accesses.append(ElementAccess(access.buffer, indices, access.is_write))
    return ElementAccesses(accesses, {loop.loop_var for access in found for loop in access.loops})


def _known(indices: tuple[PrimExpr | None, ...] | None) -> tuple[PrimExpr, ...] | None:
    """The indices of an access where all of them are known."""
    found = tuple([index for index in indices or () if index is not None])
    return found if indices is not None and len(found) == len(indices) else None

"""Loops that go through several axes at once, `C[t // 64, t % 64]`, as loops over each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relaxscript.ir.node import Node
from relaxscript.ir.prim import FloorDiv, FloorMod, IntImm, PrimExpr, Var
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import BlockRealize, BufferStore, PrimFunc, Stmt
from relaxscript.ir.walk import walk

from .divided_loops import with_divided_loops

__all__ = ["with_loops_of_quotients"]

# So many axes a loop may go through.
_MOST_AXES = 4


def with_loops_of_quotients(func: PrimFunc) -> PrimFunc:
    """The function with a loop for each axis in the place of one that is divided where it stores.

    for t in range(512):                            for i, j in T.grid(8, 64):
        C[t // 64, t % 64] = A[t % 64]      →           C[i, j] = A[j]

    So are axes of blocks whose values are quotients and remainders. The order of iterations stays.
    The same object where there are no such loops, or where a division leaves something over.
    """
    body = func.body
    sizes = {dim for buffer in func.buffer_map.values() for dim in buffer.shape}
    for _ in range(_MOST_AXES):
        # Numbers that may be negative are none.
        numbers = {
            var: by for var, by in _numbers_in(body).items()
            if (by.value > 0 if isinstance(by, IntImm) else isinstance(by, Var) and by in sizes)
        }  # fmt: skip
        made = with_divided_loops(body, numbers) if numbers else None
        if made is None:
            break
        body = made
    return func if body is func.body else func.replace(body=body)


def _numbers_in(body: Stmt) -> Mapping[Var, PrimExpr]:
    """The number by which each variable is divided in places of results, the smallest one."""
    found: dict[Var, PrimExpr] = {}
    stack = [body]
    while stack:
        at = stack.pop()
        stack += inner_statements(at)
        for place in _places_in(at):
            for node in walk(place):
                _note(node, found)
    return found


def _places_in(stmt: Stmt) -> Iterator[PrimExpr]:
    match stmt:
        case BufferStore(indices=places) | BlockRealize(iter_values=places):
            yield from (place for place in places if not isinstance(place, (Var, IntImm)))


def _note(node: Node, found: dict[Var, PrimExpr]) -> None:
    match node:
        case FloorDiv(a=Var() as var, b=by) | FloorMod(a=Var() as var, b=by):
            known = found.setdefault(var, by)
            match known, by:
                case IntImm(value=old), IntImm(value=new) if new < old:
                    found[var] = by

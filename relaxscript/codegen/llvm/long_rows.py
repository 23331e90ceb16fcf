"""Long rows of variables, of which few are needed at a time: LLVM need not optimise them.

It takes half of the time that code for such a function costs, and finds nothing: registers never
run short, and there is no order better than that of the row. Where many values are needed at once
it is worth its time.
"""

from __future__ import annotations

from typing import Any

from relaxscript.ir import prim, tir
from relaxscript.ir.stmt_functor import parts_of_tir
from relaxscript.transform.default_schedule.apply_default_schedule import SCHEDULE

__all__ = ["NOT_OPTIMISED", "is_long_row"]

# The attributes by which a function is left as it stands.
NOT_OPTIMISED = "noinline optnone"

# So many variables are a long row, and so many are few, as are registers for these.
LONG, FEW = 100, 6


def is_long_row(func: tir.PrimFunc) -> bool:
    """True if a schedule made a function of loops around long rows of variables, few at a time.

    Others are loops in which LLVM is to find vectors. Each row ends by a store. Memory of its own,
    blocks and conditions are something else.
    """
    if func.attrs is None or SCHEDULE not in func.attrs:
        return False
    longest = 0
    stack: list[tir.Stmt] = [func.body]
    while stack:
        stmt = stack.pop()
        match stmt:
            case tir.SeqStmt(seq):
                stack += seq
            case tir.For(body=body) | tir.DeclBuffer(body=body):
                stack.append(body)
            case tir.LetStmt() | tir.BufferStore():
                size = _size_of_row(stmt)
                if size is None:
                    return False
                longest = max(longest, size)
            case _:
                return False
    return longest >= LONG


def _size_of_row(stmt: tir.Stmt) -> int | None:
    """The number of variables before a store; None where many are needed at a time."""
    row: list[tir.Stmt] = []
    while isinstance(stmt, tir.LetStmt):
        row.append(stmt)
        stmt = stmt.body
    if not isinstance(stmt, tir.BufferStore):
        return None
    row.append(stmt)
    last_use: dict[prim.Var, int] = {}
    for place, one in enumerate(row):
        for var in _variables_in(one):
            last_use[var] = place
    ends = [0] * len(row)
    needed = 0
    for place, one in enumerate(row):
        needed -= ends[place]
        if isinstance(one, tir.LetStmt) and (end := last_use.get(one.var, place)) > place:
            needed += 1
            ends[end] += 1
        if needed > FEW:
            return None
    return len(row) - 1


def _variables_in(stmt: tir.Stmt) -> set[prim.Var]:
    """The variables that are used in the scalars of a statement."""
    found: set[prim.Var] = set()
    seen: set[int] = set()
    stack: list[Any] = [part for part in parts_of_tir(stmt) if isinstance(part, prim.PrimExpr)]
    while stack:
        e = stack.pop()
        if isinstance(e, prim.Var):
            found.add(e)
        elif id(e) not in seen:
            seen.add(id(e))
            stack += parts_of_tir(e)
    return found

"""Statements of the last iteration of loops, behind these loops.

Who writes loops by hand goes on with a sum where it is complete: where `k == 63`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript.arith import YES, prove_equal, simplify
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, Var, const
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import IfThenElse, PrimFunc, SeqStmt, Stmt
from relaxscript.ir.walk import rewrite
from relaxscript.transform.prim_func.known_facts import sizes_of
from relaxscript.transform.prim_func.vectorize_loop import never_fails

from .conditional_inits import are_independent, have_iterations, statements_of
from .distributed_loops import in_own_loops
from .guarded import Guarded
from .loop_nests import Loop, is_without, loops_around, parts_of, with_parts
from .loop_writing import in_loops, in_row

__all__ = ["with_ends"]


def with_ends(func: PrimFunc) -> Guarded:
    """The function with what is done in the last iteration of loops behind them.

    for i, k in T.grid(n, 64):              for i in range(n):
        s[i] = s[i] + A[i, k]                   for k in range(64):
        if k == 63:                     →           s[i] = s[i] + A[i, k]
            B[i] = T.exp(s[i])                  B[i] = T.exp(s[i])

    It has to be the last of the iteration, and the loops must have one. Where other loops are
    inside of these, nothing fails, and no iteration of theirs uses what another one writes. The
    same object where there is no such condition.
    """
    parts = parts_of(func)
    if parts is None or not any(map(_has_condition, parts.parts)):
        return Guarded(func)
    behind = _Behind(func)
    made = [behind.ended(part) for part in parts.parts]
    if all(new is old for new, old in zip(made, parts.parts)):
        return Guarded(func)
    return Guarded(func.replace(body=with_parts(func.body, made)), tuple(behind.conditions))


def _has_condition(part: Stmt) -> bool:
    """True if the last of several statements is under a condition."""
    stack = [part]
    while stack:
        at = stack.pop()
        if isinstance(at, SeqStmt) and isinstance(at.seq[-1], IfThenElse):
            return True
        stack += inner_statements(at)
    return False


class _Behind:
    """Puts what ends behind the loops in which it does, `conditions` holding of their extents."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.sizes = sizes_of(func)
        self.conditions: list[PrimExpr] = []

    def ended(self, stmt: Stmt) -> Stmt:
        """A statement in which what ends is behind the loops in which it does."""
        found = loops_around(stmt)
        if found is None or not isinstance(found[1], SeqStmt):
            return stmt
        loops, body = found
        parts = statements_of(body)
        inner = [self.ended(part) for part in parts]
        if any(new is not old for new, old in zip(inner, parts)):
            body = in_row(*[s for part in inner for s in statements_of(part)])
            stmt = in_loops(loops, body)
        *before, last = statements_of(body)
        if not isinstance(last, IfThenElse) or last.else_case is not None:
            return stmt
        extents = {loop.var: loop.extent for loop in loops}
        ending = _last_of(last.condition, extents)
        if not ending:
            return stmt
        return self.behind_loops(stmt, loops, ending, in_row(*before), last.then_case)

    def behind_loops(
        self, stmt: Stmt, loops: Sequence[Loop], ending: Sequence[Var], body: Stmt, last: Stmt
    ) -> Stmt:
        """A statement whose last part is done once the loops over some variables have ended."""
        places = [place for place, loop in enumerate(loops) if loop.var in ending]
        around, inner = [*loops[: places[0]]], [*loops[places[0] :]]
        others = [loop for loop in inner if loop.var not in ending]
        extents = [loops[place].extent for place in places]
        needed = have_iterations(extents, self.sizes)
        if needed is None or not is_without(extents, inner):
            return stmt
        if others and not never_fails(self.func, stmt, lazily=True):
            return stmt
        if not are_independent(self.func, in_loops(inner, in_row(body, last)), inner, others):
            return stmt
        self.conditions += needed
        values: dict[Node, PrimExpr] = {
            var: simplify(extent - const(1, extent.dtype))
            for var, extent in ((loops[place].var, loops[place].extent) for place in places)
        }
        own = [Loop(loop.var, rewrite(loop.extent, values.get)) for loop in others]
        end = in_own_loops(own, rewrite(last, values.get))
        return in_loops(around, in_row(in_loops(inner, body), *statements_of(end)))


def _last_of(condition: PrimExpr, extents: Mapping[Var, PrimExpr]) -> tuple[Var, ...]:
    """The variables of loops that have their last value where a condition holds, and only there.

    None of them where the condition is about something else.
    """
    match condition:
        case prim.And(a, b):
            one, other = _last_of(a, extents), _last_of(b, extents)
            return (*one, *other) if one and other else ()
        case prim.EQ(Var() as var, last) | prim.EQ(last, Var() as var):
            begins = 1
        case prim.GE(Var() as var, last) | prim.LE(last, Var() as var):
            begins = 1
        case prim.GT(Var() as var, last) | prim.LT(last, Var() as var):
            begins = 2
        case _:
            return ()
    extent = extents.get(var)
    if extent is None or last.dtype != extent.dtype:
        return ()
    return (var,) if prove_equal(last + begins, extent) is YES else ()

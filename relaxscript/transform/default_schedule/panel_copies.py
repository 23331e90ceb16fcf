"""Copies of elements that lie side by side, and variables for what they have in common."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, FloorDiv, FloorMod, IntImm, PrimExpr, Var
from relaxscript.ir.tir import For, ForKind, LetStmt, Stmt
from relaxscript.ir.walk import walk
from relaxscript.transform.prim_func.vectorize_loop import by_lanes

from .contraction_axes import Factor
from .loop_nests import Loop, is_without
from .loop_writing import in_row, loop, number
from .reduction_loops import has_step_one

__all__ = ["along", "in_lanes", "is_run", "with_variables"]


def is_run(factor: Factor, loop: Loop) -> bool:
    """True if the elements for indices of a loop that follow one another lie side by side."""
    for node in walk(factor.value):
        if isinstance(node, BufferLoad):
            *outer, last = node.indices
            beside = is_without(outer, [loop]) and has_step_one(last, loop.var)
            if not beside or node.buffer.strides:
                return False
    return True


def along(count: PrimExpr, lanes: int, one: Callable[[PrimExpr], Stmt]) -> Stmt:
    """A statement for each index, by vectors; the last one begins earlier where they overlap."""

    def vector(first: PrimExpr) -> Stmt:
        return in_lanes(lanes, lambda k: one(first + k))

    if not isinstance(count, IntImm):
        rest = FloorMod(count, number(lanes))
        whole = loop("x", FloorDiv(count, number(lanes)), lambda x: vector(x * lanes))
        return in_row(whole, loop("rest", rest, lambda k: one(count - rest + k)))
    while lanes > max(count.value, 1):
        lanes //= 2
    if lanes == 1:
        return loop("x", count, one)
    whole = loop("x", count.value // lanes, lambda x: vector(x * lanes))
    last = vector(number(count.value - lanes))
    return in_row(whole, last) if count.value % lanes else whole


def with_variables(
    values: dict[Node, PrimExpr], body: Callable[[dict[Node, PrimExpr]], Stmt]
) -> Stmt:
    """A statement that is told of variables which have these values."""
    names: dict[Node, PrimExpr] = {}
    lets = []
    for var, value in values.items():
        assert isinstance(var, Var)
        name = names[var] = Var.make(var.name, var.dtype)
        lets.append((name, value))
    made = body(names)
    for name, value in reversed(lets):
        made = LetStmt(name, value, made)
    return made


def in_lanes(count: int, one: Callable[[PrimExpr], Stmt]) -> Stmt:
    """A statement for so many lanes at once."""
    lane = Var.make("lane", INT64)
    return by_lanes(For(lane, number(0), number(count), ForKind.VECTORIZED, one(lane)))

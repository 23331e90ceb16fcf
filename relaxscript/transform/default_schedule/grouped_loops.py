"""Loops whose indices are divided as two: one over groups, and one inside of a group."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from relaxscript.arith import simplify
from relaxscript.ir.node import Node
from relaxscript.ir.prim import FloorDiv, FloorMod, IntImm, PrimExpr, Var, cast, const
from relaxscript.ir.tir import BufferStore
from relaxscript.ir.walk import rewrite_top_down, walk

from .loop_nests import Loop

__all__ = ["with_groups_as_loops"]


def with_groups_as_loops(
    loops: Sequence[Loop], store: BufferStore, least: int = 1
) -> tuple[tuple[Loop, ...], BufferStore]:
    """The loops of a store, of which those that are divided by a number are two.

    for i in range(12):                             for g, k in T.grid(3, 4):
        B[i] = A[i % 4, i // 4]             →           B[g * 4 + k] = A[k, g]

    Loops that are divided by several numbers stay, and those in groups of fewer than `least`.
    """
    made: list[Loop] = []
    for loop in loops:
        sizes = {_group_size(node, loop) for node in walk(store.value)} - {0}
        if len(sizes) != 1 or max(sizes) < least:
            made.append(loop)
            continue
        size, dtype = const(sizes.pop(), loop.var.dtype), loop.var.dtype
        group, inner = (Var.make(f"{loop.var.name}_{name}", dtype) for name in ("group", "in"))
        made += [Loop(group, simplify(FloorDiv(cast(loop.extent, dtype), size))), Loop(inner, size)]
        store = rewrite_top_down(store, partial(_in_group, loop, group, inner, size))
    return tuple(made), store


def _in_group(loop: Loop, group: Var, inner: Var, size: PrimExpr, node: Node) -> Node | None:
    """An index of a loop as one of a group and of one inside of it."""
    if _group_size(node, loop):
        return group if isinstance(node, FloorDiv) else inner
    return group * size + inner if node is loop.var else None


def _group_size(node: Node, loop: Loop) -> int:
    """The number by which the index of a loop is divided, if that gives whole groups; 0 if not."""
    match node:
        case (
            FloorDiv(a=Var() as a, b=IntImm(value=size))
            | FloorMod(a=Var() as a, b=IntImm(value=size))
        ) if a is loop.var and size > 0:
            extent = loop.extent
            if isinstance(extent, IntImm) and extent.value % size == 0:
                return size
    return 0

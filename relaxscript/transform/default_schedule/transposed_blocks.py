"""Elements that are stored along one axis and read along another: by blocks that stay in cache."""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.arith import simplify
from relaxscript.ir.node import Node
from relaxscript.ir.prim import (
    BufferLoad,
    FloorDiv,
    FloorMod,
    IntImm,
    PrimExpr,
    Var,
    const,
)
from relaxscript.ir.tir import BufferStore, DeclBuffer, For, ForKind, PrimFunc, Stmt
from relaxscript.ir.walk import rewrite, walk
from relaxscript.transform.prim_func.vectorize_loop import never_fails

from .collapsed_axes import collapsed
from .inline_producers import InlinedNest
from .loop_nests import Loop, is_without
from .loop_writing import in_loops, in_row
from .reduction_loops import has_step_one
from .rows_elsewhere import without_lets

__all__ = ["transposed_blocks"]

# The bytes of a line of the cache, which is as much of a row as a block has.
LINE = 64


def transposed_blocks(func: PrimFunc, value: InlinedNest) -> Stmt | None:
    """The loops of elements by blocks; None where all is read along the axis that is stored.

    for i, j in T.grid(64, 64):         for a, b in T.grid(4, 4):
        B[i, j] = A[j, i]          →        for i in range(16):
                                                for j in T.unroll(16):
                                                    B[a * 16 + i, b * 16 + j] = A[...]
    """
    store = without_lets(value)
    if store is None or len(value.nest.loops) < 2:
        return None
    made = collapsed((value.nest.loops,), store)
    *outer, last = made.groups[0]
    across = next((loop for loop in reversed(outer) if _reads_along(made.store, loop, last)), None)
    if across is None or not never_fails(func, in_loops(made.groups[0], made.store)):
        return None
    size = LINE // max(made.store.buffer.dtype.itemsize, 2)
    others = [loop for loop in outer if loop is not across]
    body = in_loops(others, _Blocks(made.store, across, last, size).all_blocks())
    for view in made.views:
        body = DeclBuffer(view, body)
    return body


def _reads_along(store: BufferStore, loop: Loop, last: Loop) -> bool:
    """True if elements are read along a loop, and those of the last loop lie far apart."""
    for node in walk(store.value):
        if isinstance(node, BufferLoad) and node.indices:
            *outer, inner = node.indices
            apart = not is_without(outer, [last]) and is_without([inner], [last])
            if apart and has_step_one(inner, loop.var):
                return True
    return False


class _Part(NamedTuple):
    """A part of an axis: the loop over its blocks, the one in a block, and the index for both."""

    block: Loop | None
    loop: Loop
    place: PrimExpr


class _Blocks:
    def __init__(self, store: BufferStore, row: Loop, column: Loop, size: int) -> None:
        self.store = store
        self.row = row
        self.column = column
        self.size = size

    def all_blocks(self) -> Stmt:
        """Whole blocks, and behind them nests for what is left over of columns and of rows."""
        nests = [
            self._nest(in_blocks, side_by_side)
            for in_blocks in (True, False)
            for side_by_side in (True, False)
        ]
        return in_row(*(nest for nest in nests if nest is not None))

    def _nest(self, in_blocks: bool, side_by_side: bool) -> Stmt | None:
        """Rows that are in blocks or left over, and such columns; None where there are none."""
        found = self._part(self.row, in_blocks), self._part(self.column, side_by_side)
        blocks = [part.block for part in found if part.block is not None]
        loops = [part.loop for part in found]
        if any(isinstance(loop.extent, IntImm) and loop.extent.value == 0 for loop in loops):
            return None
        if any(isinstance(loop.extent, IntImm) and loop.extent.value == 0 for loop in blocks):
            return None
        given: dict[Node, PrimExpr] = {
            self.row.var: found[0].place, self.column.var: found[1].place,
        }  # fmt: skip
        kind = ForKind.UNROLLED if in_blocks and side_by_side else ForKind.SERIAL
        var, extent = loops[1]
        inner = For(var, const(0, var.dtype), extent, kind, rewrite(self.store, given.get))
        return in_loops([*blocks, loops[0]], inner)

    def _part(self, axis: Loop, in_blocks: bool) -> _Part:
        """The blocks of an axis, or what is left over of it."""
        dtype = axis.var.dtype
        size = const(self.size, dtype)
        whole = simplify(FloorDiv(axis.extent, size))
        var = Var.make(axis.var.name, dtype)
        if in_blocks:
            block = Var.make(f"{axis.var.name}_block", dtype)
            return _Part(Loop(block, whole), Loop(var, size), block * size + var)
        left = simplify(FloorMod(axis.extent, size))
        return _Part(None, Loop(var, left), simplify(whole * size) + var)

"""Elements that are stored along one axis and read along another: by blocks that stay in cache."""

from __future__ import annotations

from relaxscript.arith import simplify
from relaxscript.ir.node import Node
from relaxscript.ir.prim import (
    And,
    BufferLoad,
    FloorDiv,
    FloorMod,
    IntImm,
    Min,
    PrimExpr,
    Var,
    const,
)
from relaxscript.ir.tir import BufferStore, DeclBuffer, For, ForKind, IfThenElse, PrimFunc, Stmt
from relaxscript.ir.walk import rewrite, walk
from relaxscript.transform.prim_func.vectorize_loop import never_fails

from .collapsed_axes import collapsed
from .inline_producers import InlinedNest
from .loop_nests import Loop, is_without
from .loop_writing import in_loops
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


class _Blocks:
    def __init__(self, store: BufferStore, row: Loop, column: Loop, size: int) -> None:
        self.store = store
        self.row = row
        self.column = column
        self.size = size

    def all_blocks(self) -> Stmt:
        a, b = (Var.make(f"{x.var.name}_block", x.var.dtype) for x in (self.row, self.column))
        loops = [Loop(a, self._blocks(self.row)), Loop(b, self._blocks(self.column))]
        return in_loops(loops, self._block(self._first(a), self._first(b)))

    def _first(self, block: Var) -> PrimExpr:
        return block * const(self.size, block.dtype)

    def _blocks(self, loop: Loop) -> PrimExpr:
        most = const(self.size - 1, loop.var.dtype)
        return simplify(FloorDiv(loop.extent + most, const(self.size, loop.var.dtype)))

    def _block(self, i: PrimExpr, j: PrimExpr) -> Stmt:
        size = const(self.size, i.dtype), const(self.size, j.dtype)
        whole = self._elements(i, j, size, ForKind.UNROLLED)
        if self._is_even(self.row) and self._is_even(self.column):
            return whole
        left = Min(size[0], self.row.extent - i), Min(size[1], self.column.extent - j)
        inside = And(i + size[0] <= self.row.extent, j + size[1] <= self.column.extent)
        return IfThenElse(inside, whole, self._elements(i, j, left, ForKind.SERIAL))

    def _is_even(self, loop: Loop) -> bool:
        rest = simplify(FloorMod(loop.extent, const(self.size, loop.var.dtype)))
        return isinstance(rest, IntImm) and rest.value == 0

    def _elements(
        self, i: PrimExpr, j: PrimExpr, extents: tuple[PrimExpr, PrimExpr], kind: str
    ) -> Stmt:
        r, c = (Var.make(x.var.name, x.var.dtype) for x in (self.row, self.column))
        given: dict[Node, PrimExpr] = {self.row.var: i + r, self.column.var: j + c}
        zero = const(0, c.dtype)
        inner = For(c, zero, extents[1], kind, rewrite(self.store, given.get))
        return in_loops([Loop(r, extents[0])], inner)

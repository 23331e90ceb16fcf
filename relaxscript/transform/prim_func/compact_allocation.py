"""Memory of blocks that has the elements that are used, and no others."""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.arith import YES, Facts, prove, simplify
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad, IntImm, PrimExpr, cast, const
from relaxscript.ir.tir import Block, Buffer, BufferStore, PrimFunc, Stmt
from relaxscript.ir.walk import rewrite
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass
from relaxscript.transform.schedule.accesses import accesses_in
from relaxscript.transform.schedule.coverage import box_of
from relaxscript.transform.schedule.scopes import with_regions
from relaxscript.transform.schedule.tree import FunctionTree

from .rewriter import StatementRewriter

__all__ = ["CompactBufferAllocation"]


class CompactBufferAllocation(PrimFuncPass):
    """Make buffers of blocks as large as what is used of them.

        for i in range(8):                             for i in range(8):
            with T.block(""):                              with T.block(""):
                t = T.alloc_buffer((64,))         →            t = T.alloc_buffer((8,))
                for j in range(8):                             for j in range(8):
                    t[i * 8 + j] = A[i * 8 + j]                    t[j] = A[i * 8 + j]

    A dimension stays where it is not known which of its elements are used. So does a buffer with
    strides, one whose address is taken, and a function whose blocks have axes
    (`ConvertBlocksToOpaque` removes them). Source: TVM `tir.transform.CompactBufferAllocation`.
    """

    name = "tir.CompactBufferAllocation"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        tree = FunctionTree(func)
        if any(realize.block.iter_vars for realize in tree.realizes):
            return func
        smaller: dict[Buffer, _Smaller] = {}
        for realize in tree.realizes:
            block = realize.block
            facts = tree.facts_at(block, inclusive=True)
            for buffer in block.alloc_buffers:
                found = _compacted(block, buffer, facts)
                if found is not None:
                    smaller[buffer] = found
        if not smaller:
            return func
        return func.replace(body=_Compacting(func, smaller).rewrite(func.body, None))


class _Smaller(NamedTuple):
    """A buffer in the place of one, and the first index of that in each dimension."""

    buffer: Buffer
    first: tuple[PrimExpr, ...]

    def place(self, indices: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...]:
        """The indices of an element of the old buffer in the new one."""
        pairs = zip(indices, self.first, strict=True)
        return tuple(_minus(index, low) for index, low in pairs)


def _minus(index: PrimExpr, low: PrimExpr) -> PrimExpr:
    if isinstance(low, IntImm) and low.value == 0:
        return index
    return simplify(index - cast(low, index.dtype))


def _compacted(block: Block, buffer: Buffer, facts: Facts) -> _Smaller | None:
    """The elements of a buffer of a block that are used; None where these are all."""
    if buffer.strides or buffer.elem_offset is not None or buffer.axis_separators:
        return None
    found = [a for a in accesses_in(block.body) if a.buffer.data is buffer.data]
    if not found or any(a.buffer is not buffer or a.indices is None for a in found):
        return None
    first: list[PrimExpr] = []
    shape: list[PrimExpr] = []
    for axis, extent in enumerate(buffer.shape):
        only = [a._replace(indices=(a.indices or ())[axis : axis + 1]) for a in found]
        box = box_of(only, [a.loops for a in only], facts)
        low, size = const(0, extent.dtype), extent
        if box is not None:
            (begin, end) = box[0]
            count = simplify(end - begin + 1, facts)
            inside = prove(begin >= 0, facts) is YES and prove(end < extent, facts) is YES
            if inside and prove(count >= 0, facts) is YES:
                low, size = simplify(begin, facts), cast(count, extent.dtype)
        first.append(low)
        shape.append(size)
    if all(prove(a >= b, facts) is YES for a, b in zip(shape, buffer.shape)):
        return None
    return _Smaller(buffer.replace(shape=tuple(shape)), tuple(first))


class _Compacting(StatementRewriter[None]):
    def __init__(self, func: PrimFunc, smaller: dict[Buffer, _Smaller]) -> None:
        self.func = func
        self.smaller = smaller

    def scalar(self, e: PrimExpr, context: None) -> PrimExpr:
        def step(node: Node) -> Node | None:
            if isinstance(node, BufferLoad) and node.buffer in self.smaller:
                found = self.smaller[node.buffer]
                return node.replace(buffer=found.buffer, indices=found.place(node.indices))
            return None

        return rewrite(e, step)

    def leave(self, stmt: Stmt, context: None) -> Stmt:
        match stmt:
            case BufferStore(buffer=buffer, indices=indices) if buffer in self.smaller:
                found = self.smaller[buffer]
                return stmt.replace(buffer=found.buffer, indices=found.place(indices))
            case Block():
                return self._block(stmt)
        return stmt

    def _block(self, block: Block) -> Block:
        own = tuple(
            self.smaller[buffer].buffer if buffer in self.smaller else buffer
            for buffer in block.alloc_buffers
        )
        made = block.replace(alloc_buffers=own)
        regions = (*block.reads, *block.writes)
        if any(region.buffer in self.smaller for region in regions):
            return with_regions(made, self.func)
        return made

"""Memory of blocks in the loops that use it."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var, const
from relaxscript.ir.tir import Block, BlockRealize, Buffer, For, ForKind, PrimFunc, Stmt
from relaxscript.ir.walk import walk
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass
from relaxscript.transform.schedule.accesses import LoopAccess, accesses_in
from relaxscript.transform.schedule.independence import computes_what_it_reads
from relaxscript.transform.schedule.scopes import with_regions
from relaxscript.transform.schedule.tree import FunctionTree

from .rewriter import StatementRewriter

__all__ = ["PlanAndUpdateBufferAllocationLocation"]


class PlanAndUpdateBufferAllocationLocation(PrimFuncPass):
    """Let each iteration of a loop have memory of its own, where no other one uses it.

        with T.block("root"):                          with T.block("root"):
            t = T.alloc_buffer((64,))                      for i in range(8):
            for i in range(8):                                 with T.block(""):
                for j in range(8):                 →               t = T.alloc_buffer((64,))
                    with T.block("t"): ...                         for j in range(8):
                for j in range(8):                                     with T.block("t"): ...
                    with T.block("B"): ...                         for j in range(8): ...

    That is the innermost loop of which each iteration writes all that it reads, before it reads it.
    Loops that are vectors or threads have no memory of their own. `CompactBufferAllocation` makes
    it smaller. Source: TVM `tir.transform.PlanAndUpdateBufferAllocationLocation`.
    """

    name = "tir.PlanAndUpdateBufferAllocationLocation"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        tree = FunctionTree(func)
        moved: dict[Var, list[Buffer]] = {}
        for realize in tree.realizes:
            block = realize.block
            for buffer in block.alloc_buffers:
                loop = _location(tree, block, buffer)
                if loop is not None:
                    moved.setdefault(loop.loop_var, []).append(buffer)
        if not moved:
            return func
        return func.replace(body=_Mover(func, moved).rewrite(func.body, None))


def _location(tree: FunctionTree, block: Block, buffer: Buffer) -> For | None:
    """The innermost loop in a block for whose iterations a buffer can be made; None for none."""
    found = [a for a in accesses_in(block.body) if a.buffer.data is buffer.data]
    if not found or any(a.buffer is not buffer or a.indices is None for a in found):
        return None
    location = None
    for loop in _common_loops(found):
        if loop.kind in (ForKind.VECTORIZED, ForKind.THREAD_BINDING):
            break
        if computes_what_it_reads(tree, loop, buffer.data):
            location = loop
    return location


def _common_loops(found: list[LoopAccess]) -> list[For]:
    """The loops around all accesses, the outermost first."""
    common = []
    for row in zip(*(access.loops for access in found)):
        if any(loop is not row[0] for loop in row):
            break
        common.append(row[0])
    return common


class _Mover(StatementRewriter[None]):
    def __init__(self, func: PrimFunc, moved: dict[Var, list[Buffer]]) -> None:
        self.func = func
        # The buffers that each loop gets, by its variable.
        self.moved = moved
        self.gone = {id(buffer) for buffers in moved.values() for buffer in buffers}

    def leave(self, stmt: Stmt, context: None) -> Stmt:
        match stmt:
            case For(loop_var=var) if var in self.moved:
                block = Block((), (), (), "", stmt.body, None, tuple(self.moved[var]))
                made = with_regions(block, self.func)
                return stmt.replace(body=BlockRealize((), const(True), made))
            case Block():
                kept = tuple(b for b in stmt.alloc_buffers if id(b) not in self.gone)
                made = stmt.replace(alloc_buffers=kept)
                regions = (*stmt.reads, *stmt.writes)
                # What is used around a loop that has it now is nothing that exists there.
                if any(id(region.buffer) in self.gone for region in regions):
                    return self._without_regions(made)
                return made
        return stmt

    def _without_regions(self, block: Block) -> Block:
        """A block that names no buffers that exist in it only."""
        own = {
            id(buffer)
            for part in walk(block.body)
            if isinstance(part, Block)
            for buffer in part.alloc_buffers
        }
        reads, writes = (
            tuple(region for region in regions if id(region.buffer) not in own)
            for regions in (block.reads, block.writes)
        )
        return block.replace(reads=reads, writes=writes)

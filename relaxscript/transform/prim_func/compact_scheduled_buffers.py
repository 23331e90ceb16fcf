"""Memory of schedules that somebody wrote, no larger than what one iteration needs."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import Block, Buffer, For, PrimFunc, Stmt
from relaxscript.semantics.fill_sets import FILLS, filled_params
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .allocation_location import PlanAndUpdateBufferAllocationLocation
from .compact_allocation import CompactBufferAllocation
from .lower_blocks import ConvertBlocksToOpaque, LowerOpaqueBlock
from .vectorize_loop import never_fails

__all__ = ["CompactScheduledBuffers"]

# So much memory in loops is on the stack, which costs nothing for each iteration.
MOST_BYTES = 8 * 1024


class CompactScheduledBuffers(PrimFuncPass):
    """Give each iteration the memory that it needs, where a schedule has made memory for all.

        with T.block("root"):                      with T.block("root"):
            B_local = T.alloc_buffer((1024,))          for i in range(16):
            for i in range(16):                            with T.block(""):
                for j in range(64):                            B_local = T.alloc_buffer((64,))
                    with T.block("B"):         →               for j in range(64):
                        B_local[i * 64 + j] = ...                  with T.block("B"):
                for j in range(64):                                    B_local[j] = ...
                    with T.block("B_local"): ...               for j in range(64):
                                                                   with T.block("B_local"): ...

    These are `PlanAndUpdateBufferAllocationLocation`, `ConvertBlocksToOpaque` and
    `CompactBufferAllocation`, one after the other. All memory in loops is then of known size, and
    small enough for the stack. Else the function stays, and so it does where something in it may
    fail. What is written wholly is no longer told by blocks, but by `relaxscript.fills`.
    """

    name = "tir.CompactScheduledBuffers"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        if not _makes_memory(func):
            return func
        moved = PlanAndUpdateBufferAllocationLocation().transform_function(func, mod, ctx)
        if moved is func:
            return func
        opaque = ConvertBlocksToOpaque().transform_function(moved, mod, ctx)
        made = CompactBufferAllocation().transform_function(opaque, mod, ctx)
        sizes = [_bytes_of(buffer) for buffer in _buffers_in_loops(made.body, False)]
        if None in sizes or sum(filter(None, sizes)) > MOST_BYTES:
            return func
        lowered = LowerOpaqueBlock().transform_function(made, mod, ctx)
        if not never_fails(func, lowered.body):
            return func
        fills = sorted(filled_params(func, mod))
        compact: PrimFunc = made.with_attr(FILLS, fills) if fills else made
        return compact


def _makes_memory(func: PrimFunc) -> bool:
    """True if a block makes memory; only statements are gone through, for most functions do not."""
    stack: list[Stmt] = [func.body]
    while stack:
        at = stack.pop()
        if isinstance(at, Block) and at.alloc_buffers:
            return True
        stack += inner_statements(at)
    return False


def _buffers_in_loops(stmt: Stmt, is_in_loop: bool) -> Iterator[Buffer]:
    """The buffers that blocks in loops make."""
    stack = [(stmt, is_in_loop)]
    while stack:
        at, inside = stack.pop()
        if isinstance(at, Block) and inside:
            yield from at.alloc_buffers
        inside = inside or isinstance(at, For)
        stack += [(part, inside) for part in inner_statements(at)]


def _bytes_of(buffer: Buffer) -> int | None:
    """The size of a buffer; None where it is not known."""
    sizes = [extent.value for extent in buffer.shape if isinstance(extent, IntImm)]
    return prod(sizes) * buffer.dtype.itemsize if len(sizes) == len(buffer.shape) else None

"""Examples of passes over PrimFuncs, for the laws of all passes."""

from __future__ import annotations

from contextlib import suppress

from relaxscript import tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm
from relaxscript.ir.tir import BlockRealize, For, ForKind, PrimFunc
from relaxscript.ir.walk import rewrite
from relaxscript_tests.transform.default_schedule.fused_programs import FUSED
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module
from relaxscript_tests.transform.pass_case import Case


def computed_in_loops(seed: int) -> IRModule:
    """A random module in whose PrimFuncs blocks are computed in the loops of what reads them."""
    mod = FUSED(fusable_module(seed))
    for var, func in mod.functions.items():
        if not isinstance(func, PrimFunc) or not isinstance(func.body, BlockRealize):
            continue
        sch = tir.Schedule(func)
        for block in sch.get_child_blocks(sch.get_block(func.body.block.name_hint))[::-1]:
            with suppress(tir.ScheduleError, ValueError):
                (reader,) = sch.get_consumers(block)
                for loop in sch.get_loops(reader)[:1]:  # a reader of scalars has none
                    sch.compute_at(block, loop)
        mod[var] = sch.mod["main"]
    return mod


def computed_in_parts(seed: int) -> IRModule:
    """The same, with memory in these loops, and blocks without axes."""
    moved = tir.transform.PlanAndUpdateBufferAllocationLocation()(computed_in_loops(seed))
    return tir.transform.ConvertBlocksToOpaque()(moved)


def unrolled(seed: int) -> IRModule:
    """The same, the loops of a known number of iterations being unrolled."""

    def step(node: Node) -> Node | None:
        is_short = isinstance(node, For) and isinstance(node.extent, IntImm)
        return node.replace(kind=ForKind.UNROLLED) if is_short else None

    mod = computed_in_loops(seed)
    for var, func in mod.functions.items():
        if isinstance(func, PrimFunc):
            mod[var] = func.replace(body=rewrite(func.body, step))
    return mod


OF_LOOPS = {
    "tir.UnrollLoop": [Case("unrolled", lambda mod, inputs: tir.transform.UnrollLoop(), unrolled)],
    "tir.PlanAndUpdateBufferAllocationLocation": [
        Case(
            "in_loops", lambda mod, inputs: tir.transform.PlanAndUpdateBufferAllocationLocation(),
            computed_in_loops,
        ),
    ],
    "tir.CompactScheduledBuffers": [
        Case(
            "in_loops", lambda mod, inputs: tir.transform.CompactScheduledBuffers(),
            computed_in_loops,
        ),
    ],
    "tir.CompactBufferAllocation": [
        Case(
            "parts", lambda mod, inputs: tir.transform.CompactBufferAllocation(), computed_in_parts
        ),
    ],
}  # fmt: skip

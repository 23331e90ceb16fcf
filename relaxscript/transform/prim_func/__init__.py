"""Passes over PrimFuncs, by the names of `tvm.tir.transform`.

rewriter.py        statements rewritten with what is known around them.
simplify.py        indices, sizes and conditions by arithmetic.
remove_no_op.py    statements without effect.
convert_ssa.py     each variable defined once.
lower_init_block.py  the init of a block as a condition in its body.
vectorize_loop.py  loops of kind vectorized as operations on vectors.
unroll_loop.py     loops of kind unrolled as their iterations.
lower_blocks.py    blocks without axes, and none at all.
allocation_location.py  memory in the loops that use it.
compact_allocation.py  memory of what is used only.
compact_scheduled_buffers.py  both for what somebody scheduled.
flatten_buffer.py  buffers of one dimension.
annotate.py        attributes of functions, and passes made of functions.
"""

from __future__ import annotations

from .allocation_location import PlanAndUpdateBufferAllocationLocation
from .annotate import AnnotateEntryFunc, Apply, BindTarget, Filter
from .compact_allocation import CompactBufferAllocation
from .compact_scheduled_buffers import CompactScheduledBuffers
from .convert_ssa import ConvertSSA
from .flatten_buffer import FlattenBuffer
from .lower_blocks import ConvertBlocksToOpaque, LowerOpaqueBlock
from .lower_init_block import LowerInitBlock
from .remove_no_op import RemoveNoOp
from .simplify import Simplify
from .unroll_loop import UnrollLoop
from .vectorize_loop import VectorizeLoop

__all__ = [
    "AnnotateEntryFunc", "Apply", "BindTarget", "CompactBufferAllocation",
    "CompactScheduledBuffers", "ConvertBlocksToOpaque", "ConvertSSA", "Filter",
    "FlattenBuffer", "LowerInitBlock", "LowerOpaqueBlock",
    "PlanAndUpdateBufferAllocationLocation", "RemoveNoOp", "Simplify", "UnrollLoop",
    "VectorizeLoop",
]  # fmt: skip

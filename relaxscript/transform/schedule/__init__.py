"""Schedules of PrimFuncs: loops and blocks changed step by step, each step checked before.

schedule.py        `Schedule`, which has a method for each step.
program.py         the module that is scheduled, and names of its blocks and loops.
tree.py            where the statements of a function are, and others in their place.
accesses.py        the elements that statements read and write.
dependences.py     the iterations that must keep their order.
independence.py    the loops whose iterations may run at the same time.
relations.py       the blocks that write what others read.
loops.py           split, fuse, reorder.
loop_kinds.py      parallel, vectorize, unroll, bind; annotations.
coverage.py        the values that axes get, and the elements that accesses touch.
scopes.py          the accesses of a scope, and what a block that moves must keep.
inline.py          compute_inline, reverse_compute_inline.
moves.py           compute_at, reverse_compute_at.
caching.py         cache_read, cache_write.
reductions.py      decompose_reduction.
thread_loops.py    loops over threads that run on the CPU.
rfactor.py         rfactor.
pad_einsum.py      pad_einsum.
trace.py           the steps as data.
mistakes.py        what is said of a step that is refused.

Source: TVM `tir.schedule`.
"""

from __future__ import annotations

from .mistakes import ScheduleError
from .random_variables import BlockRV, ExprRV, LoopRV
from .schedule import Schedule
from .trace import Instruction, InstructionKind, ScheduleTrace as Trace

__all__ = [
    "BlockRV", "ExprRV", "Instruction", "InstructionKind", "LoopRV", "Schedule", "ScheduleError",
    "Trace",
]  # fmt: skip

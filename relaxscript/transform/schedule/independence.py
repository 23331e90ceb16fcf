"""Loops whose iterations may run at the same time.

They may where no iteration touches what another one writes. All may add to one sum where they are
threads of one block. Each may compute what it reads by itself: others then write the same values.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import YES, Facts, prove
from relaxscript.ir.prim import Var
from relaxscript.ir.tir import Block, BufferStore, For

from .accesses import EFFECTS, LoopAccess, accesses_in
from .coverage import box_of, filled
from .dependences import Dependence, carried_by, dependences, runs_before
from .tree import FunctionTree, in_loop

__all__ = ["computes_what_it_reads", "shared_elements"]


def shared_elements(tree: FunctionTree, loop: For, sums: bool) -> Dependence | None:
    """A reason why the iterations of a loop must keep their order; None without one.

    With `sums` they may add to the same elements.
    """
    known: dict[Var, bool] = {}
    for found in dependences(accesses_in(loop), tree.facts_at(loop)):
        if not carried_by(found, loop) or (sums and found.is_accumulation):
            continue
        memory = found.first.buffer.data
        if memory not in known:
            known[memory] = _is_recomputed(tree, loop, memory)
        if not known[memory]:
            return found
    return None


def computes_what_it_reads(tree: FunctionTree, loop: For, memory: Var) -> bool:
    """True if each iteration of a loop writes all that it reads of a buffer, before it reads it."""
    facts = tree.facts_at(loop, inclusive=True)
    touching = [access for access in accesses_in(loop.body) if access.buffer.data is memory]
    writes = [access for access in touching if access.is_write and not access.conditions]
    return all(
        any(runs_before(write, read, tree, facts) and _covers(write, read, facts)
            for write in writes)
        for read in touching
        if not read.is_write
    )  # fmt: skip


def _is_recomputed(tree: FunctionTree, loop: For, memory: Var) -> bool:
    """True if each iteration writes what it reads of a buffer, always with the same values."""
    facts = tree.facts_at(loop, inclusive=True)
    inside = accesses_in(loop.body)
    touching = [access for access in inside if access.buffer.data is memory]
    writes = [access for access in touching if access.is_write]
    if len(writes) != 1 or not _is_function_of_indices(writes[0], inside):
        return False
    return all(
        runs_before(writes[0], read, tree, facts) and _covers(writes[0], read, facts)
        for read in touching
        if not read.is_write
    )


def _is_function_of_indices(write: LoopAccess, inside: Sequence[LoopAccess]) -> bool:
    """True if the value of an element that is written is the same whenever it is."""
    block = write.block
    if block is None or block.body is not write.statement or block.init is not None:
        return False
    written = {access.buffer.data for access in inside if access.is_write}
    own = [access for access in inside if access.realize is write.realize and not access.is_write]
    if any(access.buffer.data in written or access.buffer is EFFECTS for access in own):
        return False
    return _chosen_axes(block) == [axis.var for axis in block.iter_vars]


def _chosen_axes(block: Block) -> list[Var]:
    """The axes that are indices of the store that a block is, in the order of the axes."""
    assert isinstance(block.body, BufferStore)
    used = {index for index in block.body.indices if isinstance(index, Var)}
    return [axis.var for axis in block.iter_vars if axis.var in used]


def _covers(write: LoopAccess, read: LoopAccess, facts: Facts) -> bool:
    """True if all that is read is written before, in the same iterations of loops around both."""
    common = [x for x, y in zip(write.loops, read.loops) if x is y]
    for loop in common:
        facts = in_loop(facts, loop.loop_var, loop.min, loop.extent)
    if write.realize is None or write.indices is None:
        return False
    ends = filled(write.realize, write.loops[len(common) :], facts)
    had = box_of([write], [write.loops[len(common) :]], facts)
    wanted = box_of([read], [read.loops[len(common) :]], facts)
    if ends is None or had is None or wanted is None:
        return False
    return all(
        prove(low <= least, facts) is YES and prove(most <= high, facts) is YES
        for (low, high), (least, most) in zip(had, wanted)
    )

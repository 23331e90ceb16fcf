"""The accesses of a scope by its blocks, and what a block that moves must keep."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import NoReturn

from relaxscript.analysis.prim_funcs import get_block_read_write_region
from relaxscript.ir.prim import Var
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferStore,
    ForKind,
    IfThenElse,
    PrimFunc,
    Stmt,
    While,
)

from .accesses import EFFECTS, LoopAccess, accesses_in
from .coverage import covers_axes
from .dependences import runs_before
from .independence import shared_elements
from .loops import places_of, told
from .mistakes import refuse
from .tree import FunctionTree

__all__ = [
    "ScopeAccesses", "check_covers", "check_moved", "check_parallel", "intermediate", "plain_store",
    "with_regions",
]  # fmt: skip


class ScopeAccesses:
    """All accesses of the scope that a block is in, with all loops of the scope around each."""

    def __init__(self, tree: FunctionTree, block: Block) -> None:
        self.tree = tree
        self.realize = tree.realize_of(block)
        self.scope = tree.scope_of(self.realize)
        body = tree.func.body if self.scope is None else self.scope.body
        self.body: Stmt = body
        self.facts = tree.facts_at(body)
        self.all = accesses_in(body)
        self.own = [access for access in self.all if self._is_own(access)]
        own = {id(access) for access in self.own}
        self.others = [access for access in self.all if id(access) not in own]

    def _is_own(self, access: LoopAccess) -> bool:
        statement = access.statement
        if statement is self.realize:
            return True
        assert isinstance(statement, Stmt)
        return any(parent is self.realize for parent in self.tree.above(statement))

    def touching(self, buffer: Buffer) -> Iterator[LoopAccess]:
        """The accesses of other blocks to the memory of a buffer."""
        return (access for access in self.others if access.buffer.data is buffer.data)

    def runs_before(self, a: LoopAccess, b: LoopAccess) -> bool:
        """True if `a` has done all before `b` touches the same elements."""
        return runs_before(a, b, self.tree, self.facts)


def refuse_order(what: str, a: LoopAccess, b: LoopAccess) -> NoReturn:
    """Refuse a step that would change the order of two accesses of one element."""
    places = []
    for access in (a, b):
        verb = "writes" if access.is_write else "reads"
        name = "this" if access.block is None else f"block `{access.block.name_hint}`"
        places.append((access.statement, f"{name} {verb} `{access.buffer.name}`"))
    raise refuse(f"{what}: elements of `{a.buffer.name}` would change in between", places)


def check_moved(
    old: ScopeAccesses, new: ScopeAccesses, ignored: Collection[Var], what: str
) -> None:
    """Refuse where a block, from `old` to `new`, goes past a statement that it depends on."""
    start = old.tree.order[id(old.realize)]
    for where in (old, new):
        for mine in where.own:
            if mine.buffer.data in ignored:
                continue
            for other in where.touching(mine.buffer):
                if not (mine.is_write or other.is_write):
                    continue
                place = old.tree.order.get(id(other.statement))
                later = place is None or place > start
                first, second = (mine, other) if later else (other, mine)
                if not where.runs_before(first, second):
                    refuse_order(what, first, second)


def check_parallel(tree: FunctionTree, realize: BlockRealize) -> None:
    """Refuse where iterations of a loop around a block that run together share elements by now."""
    for loop in tree.loops_of(realize):
        if loop.kind not in (ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.THREAD_BINDING):
            continue
        found = shared_elements(tree, loop, loop.kind == ForKind.THREAD_BINDING)
        if found is not None:
            raise refuse(
                f"the iterations of the loop `{loop.loop_var.name}`, which is {loop.kind}, would "
                f"not be independent: {told(found)}",
                [*places_of(found), (loop, f"is {loop.kind}")],
                "take this step before the loop is made so",
            )  # fmt: skip


# ---------------------------------------------------------------- what blocks are


def plain_store(block: Block, what: str) -> BufferStore:
    """The one store that a block consists of; refused where it does anything else."""
    name = block.name_hint
    if block.init is not None or any(axis.iter_type != "spatial" for axis in block.iter_vars):
        raise refuse(
            f"the block `{name}` sums up or keeps an order, so it cannot be {what}",
            [(block, f"the block `{name}`")],
            "elementwise blocks can: all axes spatial, and no `T.init()`",
        )  # fmt: skip
    if not isinstance(block.body, BufferStore) or block.body.predicate is not None:
        raise refuse(
            f"the block `{name}` is more than one store, so it cannot be {what}",
            [(block, f"the block `{name}`")],
        )  # fmt: skip
    return block.body


def intermediate(accesses: ScopeAccesses, buffer: Buffer, what: str) -> None:
    """Refuse a buffer that exists outside of the scope, or that several blocks write."""
    block = accesses.realize.block
    scope = accesses.scope
    if scope is None or buffer not in scope.alloc_buffers:
        raise refuse(
            f"the block `{block.name_hint}` writes `{buffer.name}`, which exists outside of the "
            f"scope, so it cannot be {what}",
            [(block, f"writes `{buffer.name}`")],
            "buffers that `T.alloc_buffer` makes can",
        )  # fmt: skip
    for other in accesses.touching(buffer):
        if other.is_write or other.buffer is not buffer or other.indices is None:
            how = "writes" if other.is_write else "uses the memory of"
            raise refuse(
                f"`{buffer.name}` is not written by the block `{block.name_hint}` alone, so it "
                f"cannot be {what}",
                [(other.statement, f"{how} `{buffer.name}` too"), (block, "the block")],
            )  # fmt: skip


def check_covers(accesses: ScopeAccesses, what: str) -> None:
    """Refuse a block that is not known to run once for all values of its axes."""
    realize, tree = accesses.realize, accesses.tree
    for access in accesses.own:
        if access.buffer is EFFECTS:
            raise refuse(
                f"the block `{realize.block.name_hint}` calls what may have effects, so it cannot "
                f"be {what}", [(access.statement, "the call")],
            )  # fmt: skip
    loops = tree.loops_of(realize)
    plain = not any(_is_conditional(parent) for parent in _inside(tree, realize))
    if not plain or not covers_axes(realize, loops, accesses.facts):
        block = realize.block
        raise refuse(
            f"the block `{block.name_hint}` is not known to run once for each value of its axes, "
            f"so it cannot be {what}",
            [(block, f"the block `{block.name_hint}`")],
        )  # fmt: skip


def _is_conditional(stmt: Stmt) -> bool:
    return isinstance(stmt, (IfThenElse, While))


def _inside(tree: FunctionTree, stmt: Stmt) -> Iterator[Stmt]:
    """The statements around one up to the next block."""
    return itertools.takewhile(lambda parent: not isinstance(parent, Block), tree.above(stmt))


def with_regions(block: Block, func: PrimFunc) -> Block:
    """A block that says by itself what its statements read and write."""
    around = {buffer.data: buffer for buffer in func.buffer_map.values()}
    reads, writes = get_block_read_write_region(block, around)
    return block.replace(reads=tuple(reads), writes=tuple(writes))

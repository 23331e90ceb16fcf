"""Copies of what a block reads, made before it, and of what it writes, made after it."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import YES, Facts, prove, simplify
from relaxscript.errors import quantity
from relaxscript.ir import prim
from relaxscript.ir.buffer_access import StorageScope
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import IntImm, Var, const
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    BufferStore,
    For,
    IterVar,
    Range,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import substitute, walk

from .accesses import LoopAccess
from .coverage import Box, box_of
from .mistakes import refuse
from .moves import own_axes_of, stores_of
from .relations import reads_of
from .scopes import ScopeAccesses, check_covers, check_parallel, refuse_order, with_regions
from .tree import Change, FunctionTree, StatementMap, sequence

__all__ = ["cache_read", "cache_write"]


def cache_read(
    tree: FunctionTree, block: Block, index: object, storage: str, consumers: Sequence[Block]
) -> tuple[Change, Block]:
    """A buffer that blocks read, copied before into another, which they read instead."""
    buffer = _region(block, index, "reads")
    accesses = ScopeAccesses(tree, block)
    scope = _scope(accesses, buffer)
    readers = [*consumers] or [
        r.block for r in tree.blocks_in(scope) if buffer.data in reads_of(r.block)
    ]
    if not any(reader is block for reader in readers):
        readers.append(block)
    inside = {id(part) for reader in readers for part in walk(tree.realize_of(reader))}
    touching = [a for a in accesses.all if a.buffer.data is buffer.data]
    reads = [a for a in touching if id(a.statement) in inside and not a.is_write]
    writes = [a for a in touching if a.is_write]
    if not reads:
        raise refuse(
            f"the block `{block.name_hint}` reads no element of `{buffer.name}`, whatever it says",
            [(block, f"the block `{block.name_hint}`")], "take it out of `T.reads`",
        )  # fmt: skip
    for write in writes:
        for read in reads:
            if not accesses.runs_before(write, read):
                refuse_order(f"`{buffer.name}` cannot be copied before it is read", write, read)
    loop, place = _before(tree, scope, writes, reads, buffer)
    facts = tree.facts_at(scope.body) if loop is None else tree.facts_at(loop, inclusive=True)
    inner = [a.loops if loop is None else a.loops[_place_in(a, loop) + 1 :] for a in reads]
    box = _inside_shape(box_of(reads, inner, facts), buffer, facts)
    cache = Buffer(
        f"{buffer.name}_{storage}", buffer.shape, buffer.dtype, scope=StorageScope(storage)
    )
    nest, copy = _copy_nest(buffer, cache, box, block)
    changes = StatementMap()
    for reader in readers:
        _rename(changes, tree.realize_of(reader), buffer, cache)
    change = _inserted(tree, changes, scope, loop, place, nest, cache)
    made = ScopeAccesses(FunctionTree(change.func), copy)
    check_parallel(made.tree, made.realize)
    return change, copy


def cache_write(
    tree: FunctionTree, block: Block, index: object, storage: str, consumers: Sequence[Block]
) -> tuple[Change, Block]:
    """A buffer that a block writes, in place of which it writes another that is copied after."""
    what = "written to a cache"
    buffer = _region(block, index, "writes")
    accesses = ScopeAccesses(tree, block)
    scope = _scope(accesses, buffer)
    stores = stores_of(block, what)
    own_axes_of(block, stores, what)
    check_covers(accesses, what)
    for other in accesses.touching(buffer):
        if other.is_write or other.indices is None:
            raise refuse(
                f"`{buffer.name}` is written by other blocks too, so it cannot be {what}",
                [(other.statement, f"uses `{buffer.name}`"), (block, "the block")],
            )  # fmt: skip
    domains = {axis.var: axis.dom for axis in block.iter_vars}
    box: Box = []
    for at in stores[0].indices:
        domain = domains.get(at) if isinstance(at, Var) else None
        box.append((at, at) if domain is None else (domain.min, domain.min + domain.extent - 1))
    cache = Buffer(
        f"{buffer.name}_{storage}", buffer.shape, buffer.dtype, scope=StorageScope(storage)
    )
    nest, copy = _copy_nest(cache, buffer, box, block)
    changes = StatementMap()
    for user in (block, *consumers):
        _rename(changes, tree.realize_of(user), buffer, cache)
    children = _children(scope.body)
    own = {id(accesses.realize)}
    place = next(
        n + 1 for n, child in enumerate(children) if any(id(part) in own for part in walk(child))
    )
    change = _inserted(tree, changes, scope, None, place, nest, cache)
    made = ScopeAccesses(FunctionTree(change.func), copy)
    write = next(access for access in made.own if access.is_write)
    for other in made.touching(buffer):
        if not made.runs_before(write, other):
            refuse_order(f"`{buffer.name}` cannot be {what}", write, other)
    return change, copy


def _region(block: Block, index: object, which: str) -> Buffer:
    """The buffer of a number or name, or the buffer itself, among those that a block uses."""
    buffers: list[Buffer] = [region.buffer for region in getattr(block, which)]
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(buffers):
        return buffers[index]
    found = [b for b in buffers if b is index or (isinstance(index, str) and b.name == index)]
    if len(found) == 1:
        return found[0]
    named = ", ".join(f"{n} is `{buffer.name}`" for n, buffer in enumerate(buffers))
    given = repr(index) if isinstance(index, (int, str)) else brief(index)
    raise refuse(
        f"the block `{block.name_hint}` {which} {quantity(len(buffers), 'buffer')}, of which "
        f"{given} is none", [(block, "the block")],
        f"they are numbered: {named}" if named else None,
    )  # fmt: skip


def _scope(accesses: ScopeAccesses, buffer: Buffer) -> Block:
    """The block that holds another buffer; refused where one has several names."""
    for access in accesses.all:
        if access.buffer.data is buffer.data and access.buffer is not buffer:
            raise refuse(
                f"the memory of `{buffer.name}` is `{access.buffer.name}` too, so it has no copy",
                [(access.statement, f"uses `{access.buffer.name}`")],
            )  # fmt: skip
    if accesses.scope is None:
        name = accesses.realize.block.name_hint
        raise refuse(
            f"there is no block around `{name}` that could hold another buffer",
            [(accesses.realize.block, f"the block `{name}`")],
        )  # fmt: skip
    return accesses.scope


def _children(stmt: Stmt) -> list[Stmt]:
    return [*stmt.seq] if isinstance(stmt, SeqStmt) else [stmt]


def _place_in(access: LoopAccess, loop: For) -> int:
    return [one is loop for one in access.loops].index(True)


def _before(
    tree: FunctionTree, scope: Block, writes: Sequence[LoopAccess], reads: Sequence[LoopAccess],
    buffer: Buffer,
) -> tuple[For | None, int]:  # fmt: skip
    """The loop, None for none, and the number of the statement in it before which to copy."""
    loop: For | None = None
    body = scope.body
    while True:
        ids = [{id(part) for part in walk(child)} for child in _children(body)]
        written = [n for n, of in enumerate(ids) if any(id(a.statement) in of for a in writes)]
        read = [n for n, of in enumerate(ids) if any(id(a.statement) in of for a in reads)]
        if not written:
            return loop, 0 if loop is None else min(read)
        if max(written) < min(read):
            return loop, max(written) + 1
        shared = _children(body)[min(read)]
        if not isinstance(shared, For) or len(set(written + read)) > 1:
            raise refuse(
                f"there is no place after `{buffer.name}` is written and before it is read",
                [(writes[-1].statement, f"writes `{buffer.name}`"),
                 (reads[0].statement, f"reads `{buffer.name}`")],
            )  # fmt: skip
        loop, body = shared, shared.body


def _inside_shape(box: Box | None, buffer: Buffer, facts: Facts) -> Box:
    """The part of a buffer that has a box in it; a whole axis where it is not known to be less."""
    found: Box = []
    for d, dim in enumerate(buffer.shape):
        low, high = (None, None) if box is None else box[d]
        if (
            low is None
            or high is None
            or prove(prim.GE(low, const(0, low.dtype)), facts) is not YES
            or prove(prim.LT(*prim.match_dtypes(high, dim)), facts) is not YES
        ):
            dtype = prim.INT32 if isinstance(dim, IntImm) else dim.dtype
            low, high = const(0, dtype), prim.cast(simplify(dim - 1, facts), dtype)
        found.append((low, high))
    return found


def _copy_nest(source: Buffer, target: Buffer, box: Box, block: Block) -> tuple[Stmt, Block]:
    """Loops over a part of a buffer, and the block in them that copies it."""
    loops, axes, values = [], [], []
    for d, ((low, high), dim) in enumerate(zip(box, source.shape)):
        # Sizes that are numbers take the dtype of the loops around.
        dtype = low.dtype if isinstance(dim, IntImm) else dim.dtype
        extent = prim.cast(simplify(high - low + 1), dtype)
        var = Var.make(f"ax{d}", dtype)
        axis = Var.make(f"v{d}", dtype)
        start = prim.cast(low, dtype)
        zero = isinstance(start, IntImm) and start.value == 0
        loops.append((var, extent))
        values.append(var if zero else start + var)
        axes.append(
            IterVar(Range.from_min_extent(const(0, dtype), prim.cast(dim, dtype)), axis, "spatial")
        )
    indices = tuple(axis.var for axis in axes)
    store = BufferStore(target, prim.BufferLoad(source, indices), indices)
    point = tuple(Range.from_min_extent(i, const(1, i.dtype)) for i in indices)
    name = target.name if target.name.startswith(f"{source.name}_") else source.name
    copy = Block(
        tuple(axes), (BufferRegion(source, point),), (BufferRegion(target, point),), name,
        store.replace(span=block.span),
    ).replace(span=block.span)  # fmt: skip
    nest: Stmt = BlockRealize(tuple(values), const(True), copy).replace(span=block.span)
    for var, extent in reversed(loops):
        nest = For(var, const(0, var.dtype), extent, "serial", nest).replace(span=block.span)
    return nest, copy


def _rename(changes: StatementMap, realize: BlockRealize, old: Buffer, new: Buffer) -> None:
    """Put a block that uses another buffer in the place of one."""
    made: BlockRealize = substitute(realize, {old: new})
    before = [part for part in walk(realize) if isinstance(part, Block)]
    after = [part for part in walk(made) if isinstance(part, Block)]
    for a, b in zip(before, after):
        changes.follow(a, b)
    changes.put(realize, made)


def _inserted(
    tree: FunctionTree, changes: StatementMap, scope: Block, loop: For | None, place: int,
    nest: Stmt, cache: Buffer,
) -> Change:  # fmt: skip
    """The function with statements in a loop or the scope itself, which holds another buffer."""
    body = scope.body if loop is None else loop.body
    children = [changes.mapped(child) for child in _children(body)]
    made = sequence(*children[:place], nest, *children[place:])
    buffers = (*scope.alloc_buffers, cache)
    if loop is None:
        whole = scope.replace(body=made, alloc_buffers=buffers)
    else:
        changes.put(loop, loop.replace(body=made))
        whole = scope.replace(body=changes.mapped(scope.body), alloc_buffers=buffers)
    if scope.reads or scope.writes:
        whole = with_regions(whole, tree.func)
    changes.put(scope, whole)
    changes.follow(scope, whole)
    return tree.rewritten(changes)

"""Blocks moved into loops of others: each iteration computes what it needs, or uses what it has."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import YES, Facts, prove, simplify
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr, Var, const
from relaxscript.ir.tir import Block, BlockRealize, BufferStore, For, SeqStmt, Stmt
from relaxscript.ir.walk import walk

from .accesses import LoopAccess
from .coverage import Box, box_of
from .inline import own_axes, same_range
from .mistakes import refuse
from .scopes import (
    ScopeAccesses,
    check_covers,
    check_moved,
    check_parallel,
    intermediate,
    refuse_order,
)
from .tree import NOTHING, Change, FunctionTree, StatementMap, and_also, in_loop, sequence

__all__ = ["compute_at", "own_axes_of", "reverse_compute_at", "stores_of"]


def compute_at(tree: FunctionTree, block: Block, loop: For, unit_loops: bool, index: int) -> Change:
    """A producer in a loop of its consumers, of which each iteration computes what it reads."""
    what = "computed there"
    accesses = ScopeAccesses(tree, block)
    _check_place(accesses, loop)
    stores = stores_of(block, what)
    buffer = stores[0].buffer
    intermediate(accesses, buffer, what)
    axes = own_axes_of(block, stores, what)
    check_covers(accesses, what)
    readers = [*accesses.touching(buffer)]
    _check_readers(accesses, readers, loop)
    facts = tree.facts_at(loop, inclusive=True)
    inner = [access.loops[_place_in(access, loop) + 1 :] for access in readers]
    box = box_of(readers, inner, facts) if readers else None
    if box is None:
        raise refuse(
            f"the elements of `{buffer.name}` that an iteration of `{loop.loop_var.name}` reads "
            "are not known",
            [(readers[0].statement if readers else block, f"reads `{buffer.name}`")],
        )  # fmt: skip
    wanted = {axis: box[d] for d, axis in enumerate(stores[0].indices) if axis in axes}
    nest = _nest(accesses.realize, wanted, facts, unit_loops)
    children = [*loop.body.seq] if isinstance(loop.body, SeqStmt) else [loop.body]
    inside = [{id(part) for part in walk(child)} for child in children]
    latest = min(n for n, ids in enumerate(inside) if any(id(a.statement) in ids for a in readers))
    place = _index(index, 0, latest, loop)
    change = _moved(tree, accesses, loop, nest, place)
    _check_change(accesses, change, {buffer.data}, f"the block `{block.name_hint}` cannot move")
    return change


def own_axes_of(block: Block, stores: Sequence[BufferStore], what: str) -> list[Var]:
    """The axes that choose the element which a block writes."""
    spatial = tuple(axis for axis in block.iter_vars if axis.iter_type == "spatial")
    for axis in block.iter_vars:
        if axis.iter_type not in ("spatial", "reduce"):
            raise refuse(
                f"the axis `{axis.var.name}` of the block `{block.name_hint}` keeps an order, so "
                f"it cannot be {what}", [(axis.var, "the axis")],
            )  # fmt: skip
    only = block.replace(iter_vars=spatial)
    return own_axes(only, stores[0].indices, stores[0].buffer, what)


def stores_of(block: Block, what: str) -> list[BufferStore]:
    """The stores of a block that gives each element of one buffer one value."""
    found = [s for s in (block.init, block.body) if s is not None]
    stores = [s for s in found if isinstance(s, BufferStore) and s.predicate is None]
    name = block.name_hint
    if len(stores) < len(found) or len({id(s.buffer) for s in stores}) > 1:
        raise refuse(
            f"the block `{name}` is more than the store of one element, so it cannot be {what}",
            [(block, f"the block `{name}`")],
        )  # fmt: skip
    reads = [r.buffer.data for r in block.reads] if block.init is None else []
    if stores[0].buffer.data in reads:
        raise refuse(
            f"the block `{name}` changes elements that have values already, so it cannot be {what}",
            [(block, f"reads and writes `{stores[0].buffer.name}`")],
        )  # fmt: skip
    return stores


def _check_place(accesses: ScopeAccesses, loop: For) -> None:
    """Refuse a loop of another scope, or one that is around the block already."""
    tree, block = accesses.tree, accesses.realize.block
    if tree.scope_of(loop) is not accesses.scope:
        raise refuse(
            f"the loop `{loop.loop_var.name}` is not in the scope of the block "
            f"`{block.name_hint}`", [(loop, "the loop"), (block, "the block")],
        )  # fmt: skip
    if any(parent is loop for parent in tree.above(accesses.realize)):
        raise refuse(
            f"the block `{block.name_hint}` is in the loop `{loop.loop_var.name}` already",
            [(loop, "the loop"), (block, "the block")],
        )  # fmt: skip


def _check_readers(accesses: ScopeAccesses, readers: Sequence[LoopAccess], loop: For) -> None:
    """Refuse where what a block writes is read outside of a loop, or before it is there."""
    block = accesses.realize.block
    writes = [access for access in accesses.own if access.is_write]
    for reader in readers:
        if not any(one is loop for one in reader.loops):
            raise refuse(
                f"`{reader.buffer.name}` is read outside of the loop `{loop.loop_var.name}` too, "
                f"so the block `{block.name_hint}` cannot move into it",
                [(reader.statement, "reads it"), (loop, f"the loop `{loop.loop_var.name}`")],
                "choose a loop that is around all that reads it",
            )  # fmt: skip
        for write in writes:
            if not accesses.runs_before(write, reader):
                refuse_order(f"the block `{block.name_hint}` cannot move", write, reader)


def _place_in(access: LoopAccess, loop: For) -> int:
    return [one is loop for one in access.loops].index(True)


def _index(index: int, first: int, last: int, loop: For) -> int:
    """The number of statements of a loop before which a block is put."""
    if index in (-1, -2):
        return last if index == -1 else first
    if isinstance(index, bool) or not isinstance(index, int) or not first <= index <= last:
        raise refuse(
            f"a block can be put before statement {first} to {last} of the loop "
            f"`{loop.loop_var.name}`, not {index}",
            [(loop, "the loop")], "-1 is the last place that is right, -2 the first",
        )  # fmt: skip
    return index


def _nest(
    realize: BlockRealize, wanted: dict[PrimExpr, tuple[PrimExpr, PrimExpr]], facts: Facts,
    unit_loops: bool,
) -> Stmt:  # fmt: skip
    """Loops over the wanted values of some axes and all values of others, and the block in them."""
    loops: list[tuple[Var, PrimExpr]] = []
    values: list[PrimExpr] = []
    condition: PrimExpr = const(True)
    for axis in realize.block.iter_vars:
        assert axis.dom is not None
        low, extent, dtype = axis.dom.min, axis.dom.extent, axis.var.dtype
        if axis.var in wanted:
            low, extent = _part(wanted[axis.var], axis.dom, facts)
        low, extent = prim.cast(low, dtype), prim.cast(extent, dtype)
        value = low
        if unit_loops or not (isinstance(extent, IntImm) and extent.value == 1):
            var = Var.make(f"ax{len(loops)}", dtype, span=axis.var.span)
            loops.append((var, extent))
            facts = in_loop(facts, var, const(0, dtype), extent)
            value = var if isinstance(low, IntImm) and low.value == 0 else low + var
        values.append(value)
        end = axis.dom.min + axis.dom.extent
        for inside in (prim.GE(value, axis.dom.min), prim.LT(value, simplify(end, facts))):
            if prove(inside, facts) is not YES:
                condition = and_also(condition, inside)
    nest: Stmt = realize.replace(iter_values=tuple(values), predicate=condition)
    for var, extent in reversed(loops):
        nest = For(var, const(0, var.dtype), extent, "serial", nest).replace(span=realize.span)
    return nest


def _part(
    ends: tuple[PrimExpr, PrimExpr], domain: object, facts: Facts
) -> tuple[PrimExpr, PrimExpr]:
    """The least value and the number of values between ends, all of a domain at most."""
    low, high = ends
    whole_low, whole = domain.min, domain.extent  # type: ignore[attr-defined]
    extent = simplify(high - low + 1, facts)
    if prove(prim.GE(extent, whole), facts) is YES:
        return whole_low, whole
    return low, extent


def _moved(
    tree: FunctionTree, accesses: ScopeAccesses, loop: For, nest: Stmt, place: int
) -> Change:
    changes = StatementMap()
    changes.put(accesses.realize, NOTHING)
    children = [*loop.body.seq] if isinstance(loop.body, SeqStmt) else [loop.body]
    body = sequence(*children[:place], nest, *children[place:])
    changes.put(loop, loop.replace(body=body))
    return tree.rewritten(changes)


def _check_change(accesses: ScopeAccesses, change: Change, ignored: set[Var], what: str) -> None:
    moved = ScopeAccesses(FunctionTree(change.func), accesses.realize.block)
    check_moved(accesses, moved, ignored, what)
    check_parallel(moved.tree, moved.realize)


# ---------------------------------------------------------------- consumers


def reverse_compute_at(
    tree: FunctionTree, block: Block, loop: For, unit_loops: bool, index: int
) -> Change:
    """A consumer in a loop of its producers, of which each iteration uses what it has computed."""
    what = "computed there"
    accesses = ScopeAccesses(tree, block)
    _check_place(accesses, loop)
    stores_of(block, what)
    for axis in block.iter_vars:
        if axis.iter_type != "spatial":
            raise refuse(
                f"the block `{block.name_hint}` sums over `{axis.var.name}`, of which an iteration "
                f"of `{loop.loop_var.name}` may have a part only",
                [(axis.var, "the axis"), (loop, "the loop")],
                "`sch.compute_at` moves what it reads",
            )  # fmt: skip
    check_covers(accesses, what)
    inside = {id(part) for part in walk(loop)}
    read = {access.buffer.data for access in accesses.own if not access.is_write}
    writers = [
        a for a in accesses.others
        if a.is_write and a.buffer.data in read and id(a.statement) in inside
    ]  # fmt: skip
    if not writers:
        raise refuse(
            f"nothing in the loop `{loop.loop_var.name}` computes what the block "
            f"`{block.name_hint}` reads", [(loop, "the loop"), (block, "the block")],
        )  # fmt: skip
    facts = tree.facts_at(loop, inclusive=True)
    wanted = _had(tree, accesses, writers, loop, facts)
    nest = _nest(accesses.realize, dict(wanted), facts, unit_loops)
    children = [*loop.body.seq] if isinstance(loop.body, SeqStmt) else [loop.body]
    ids = [{id(part) for part in walk(child)} for child in children]
    first = 1 + max(n for n, of in enumerate(ids) if any(id(a.statement) in of for a in writers))
    place = _index(-2 if index == -1 and first == len(children) else index, first, len(children),
                   loop)  # fmt: skip
    change = _moved(tree, accesses, loop, nest, place)
    _check_change(accesses, change, set(), f"the block `{block.name_hint}` cannot move")
    return change


def _had(
    tree: FunctionTree, accesses: ScopeAccesses, writers: Sequence[LoopAccess], loop: For,
    facts: Facts,
) -> dict[PrimExpr, tuple[PrimExpr, PrimExpr]]:  # fmt: skip
    """The values of the axes of a consumer for which an iteration has computed what it reads."""
    block = accesses.realize.block
    buffer = writers[0].buffer
    producer = writers[0].block
    same = [w for w in writers if w.buffer.data is buffer.data]
    indices = _indices_of(block, buffer)
    box: Box | None = box_of(same, [a.loops[_place_in(a, loop) + 1 :] for a in same], facts)
    if box is None or producer is None or indices is None:
        raise refuse(
            f"the elements of `{buffer.name}` that an iteration of `{loop.loop_var.name}` computes "
            f"are not known, or not read by the axes of `{block.name_hint}`",
            [(same[0].statement, f"writes `{buffer.name}`"), (block, "the block")],
        )  # fmt: skip
    before = ScopeAccesses(tree, producer)
    check_covers(before, f"what `{block.name_hint}` is moved to")
    written = next(s for s in (producer.init, producer.body) if isinstance(s, BufferStore))
    domains = {axis.var: axis.dom for axis in producer.iter_vars}
    mine = {axis.var: axis.dom for axis in block.iter_vars}
    found: dict[PrimExpr, tuple[PrimExpr, PrimExpr]] = {}
    for d, axis in enumerate(indices):
        theirs = domains.get(written.indices[d])  # type: ignore[call-overload]
        own = mine.get(axis)  # type: ignore[call-overload]
        if own is None:
            continue
        if theirs is None or not same_range(own, theirs, facts):
            raise refuse(
                f"the block `{block.name_hint}` reads other elements of `{buffer.name}` than "
                f"`{producer.name_hint}` writes",
                [(block, f"reads `{buffer.name}`"), (producer, f"writes `{buffer.name}`")],
            )  # fmt: skip
        found[axis] = box[d]
    return found


def _indices_of(block: Block, buffer: object) -> Sequence[PrimExpr] | None:
    """The indices with which a block reads a buffer, axes each once; None where they are others."""
    loads = [
        part.indices
        for part in walk(block.body)
        if isinstance(part, prim.BufferLoad) and part.buffer is buffer
    ]
    axes: set[Node] = {axis.var for axis in block.iter_vars}
    for indices in loads:
        own = [index for index in indices if index in axes]
        if [*map(id, indices)] != [*map(id, loads[0])] and not all(
            a is b or (isinstance(a, IntImm) and isinstance(b, IntImm) and a.value == b.value)
            for a, b in zip(indices, loads[0])
        ):
            return None
        if len(set(own)) < len(own) or not all(
            index in axes or isinstance(index, IntImm) for index in indices
        ):
            return None
    return loads[0] if loads else None

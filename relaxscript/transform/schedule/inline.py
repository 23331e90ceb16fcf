"""Inlining: what a block computes is written where it is read, or into the block that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.analysis.prim_funcs import expr_deep_equal
from relaxscript.arith import (
    YES,
    Facts,
    IterMapLevel,
    detect_iter_map,
    inverse_affine_iter_map,
    prove_equal,
    simplify,
)
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad, IntImm, PrimExpr, Var
from relaxscript.ir.tir import Block, Buffer, BufferStore, Range
from relaxscript.ir.walk import rewrite, substitute, walk

from .mistakes import refuse
from .relations import producers
from .scopes import (
    ScopeAccesses,
    check_covers,
    check_moved,
    intermediate,
    plain_store,
    refuse_order,
    with_regions,
)
from .tree import NOTHING, Change, FunctionTree, StatementMap

__all__ = ["compute_inline", "own_axes", "reverse_compute_inline", "same_range"]


def own_axes(block: Block, indices: Sequence[PrimExpr], buffer: Buffer, what: str) -> list[Var]:
    """The axes that are the indices of a buffer, each once; all of a block, but those of one value.

    An index that is no axis is that of a dimension of one element.
    """
    domains = {axis.var: axis.dom for axis in block.iter_vars}
    found: list[Var] = []
    for index, dim in zip(indices, buffer.shape):
        if isinstance(index, Var) and index in domains and index not in found:
            found.append(index)
        elif not (isinstance(dim, IntImm) and dim.value == 1):
            raise refuse(
                f"the indices of `{buffer.name}` in the block `{block.name_hint}` are not its axes,"
                f" each once, so it cannot be {what}",
                [(block, f"the block `{block.name_hint}`")],
            )  # fmt: skip
    for var, domain in domains.items():
        one = domain is not None and isinstance(domain.extent, IntImm) and domain.extent.value == 1
        if var not in found and not one:
            raise refuse(
                f"the axis `{var.name}` of the block `{block.name_hint}` is no index of "
                f"`{buffer.name}`, so it cannot be {what}",
                [(var, f"the axis `{var.name}`")],
            )  # fmt: skip
    return found


def _axis_values(
    block: Block, indices: Sequence[PrimExpr], given: Sequence[PrimExpr]
) -> dict[Node, Node]:
    """The values of the axes of a block for which its indices are the given ones."""
    values: dict[Node, Node] = {
        axis.var: axis.dom.min for axis in block.iter_vars if axis.dom is not None
    }
    for index, wanted in zip(indices, given):
        if isinstance(index, Var) and index in values:
            values[index] = prim.cast(wanted, index.dtype)
    return values


def compute_inline(tree: FunctionTree, block: Block) -> Change:
    """The program without a block, whose value stands where the elements were read."""
    what = "inlined"
    store = plain_store(block, what)
    buffer = store.buffer
    own_axes(block, store.indices, buffer, what)
    accesses = ScopeAccesses(tree, block)
    intermediate(accesses, buffer, what)
    check_covers(accesses, what)
    write = next(access for access in accesses.own if access.is_write)
    for reader in accesses.touching(buffer):
        if not accesses.runs_before(write, reader):
            refuse_order(f"the block `{block.name_hint}` cannot be inlined", write, reader)
    for read in accesses.own:
        for other in accesses.touching(read.buffer):
            if other.is_write and not accesses.runs_before(other, read):
                refuse_order(f"the block `{block.name_hint}` cannot be inlined", read, other)
        if read.buffer is buffer and not read.is_write:
            raise refuse(
                f"the block `{block.name_hint}` reads `{buffer.name}`, which it writes, so it "
                "cannot be inlined", [(read.statement, "here")],
            )  # fmt: skip

    def step(node: Node) -> Node | None:
        if isinstance(node, BufferLoad) and node.buffer is buffer:
            return substitute(store.value, _axis_values(block, store.indices, node.indices))
        return None

    changes = StatementMap()
    changes.put(accesses.realize, NOTHING)

    def renewed(old: Block, new: Block) -> Block:
        read = any(region.buffer is buffer for region in old.reads)
        return with_regions(new, tree.func) if read else new

    return _without_buffer(tree, accesses, buffer, changes, lambda e: rewrite(e, step), renewed)


def _without_buffer(
    tree: FunctionTree, accesses: ScopeAccesses, buffer: Buffer, changes: StatementMap,
    scalar: Callable[[PrimExpr], PrimExpr] | None = None,
    renewed: Callable[[Block, Block], Block] | None = None,
) -> Change:  # fmt: skip
    """The function with changes in a scope, which no longer holds a buffer."""
    scope = accesses.scope
    assert scope is not None
    body = changes.mapped(scope.body, scalar, renewed)
    left = tuple(b for b in scope.alloc_buffers if b is not buffer)
    made = scope.replace(body=body, alloc_buffers=left)
    if made.reads or made.writes:
        made = with_regions(made, tree.func)
    changes.put(scope, made)
    changes.follow(scope, made)
    return tree.rewritten(changes)


def reverse_compute_inline(tree: FunctionTree, block: Block) -> Change:
    """The program without an elementwise block, which its producer computes at once.

    It may read the elements in another shape.
    """
    what = "inlined into its producer"
    store = plain_store(block, what)
    found = producers(tree, block)
    if len(found) != 1:
        raise refuse(
            f"the block `{block.name_hint}` reads what {len(found)} blocks write, so it cannot be "
            f"{what}",
            [(block, "the block"), *((r.block, "writes what it reads") for r in found)],
        )  # fmt: skip
    producer = found[0].block
    given = plain_store(producer, f"what `{block.name_hint}` is inlined into")
    buffer = given.buffer
    accesses, before = ScopeAccesses(tree, block), ScopeAccesses(tree, producer)
    intermediate(before, buffer, what)
    indices = _read_indices(block, store, buffer, what)
    own_axes(producer, given.indices, buffer, what)
    check_covers(accesses, what)
    check_covers(before, what)
    values = _affine_values(tree, block, indices, producer, given)
    if values is None:
        own_axes(block, indices, buffer, what)
        _check_domains(tree, block, indices, producer, given, buffer)
        values = _axis_values(block, indices, given.indices)
    for other in before.touching(buffer):
        if other.block is not block:
            raise refuse(
                f"`{buffer.name}` is read by other blocks too, so `{block.name_hint}` cannot be "
                f"{what}", [(other.statement, f"reads `{buffer.name}`"), (block, "the block")],
            )  # fmt: skip

    def step(node: Node) -> Node | None:
        return given.value if isinstance(node, BufferLoad) and node.buffer is buffer else None

    body = BufferStore(
        store.buffer, rewrite(substitute(store.value, values), step),
        tuple(substitute(index, values) for index in store.indices),
    )  # fmt: skip
    changes = StatementMap()
    changes.put(accesses.realize, NOTHING)
    made = with_regions(producer.replace(body=body.replace(span=store.span)), tree.func)
    changes.put(producer, made)
    changes.follow(producer, made)
    change = _without_buffer(tree, accesses, buffer, changes)
    joined = ScopeAccesses(FunctionTree(change.func), made)
    _check_joined(accesses, before, joined, buffer)
    return change


def _affine_values(
    tree: FunctionTree, block: Block, indices: Sequence[PrimExpr], producer: Block,
    given: BufferStore,
) -> dict[Node, Node] | None:  # fmt: skip
    """The values of the axes of a block that reads a buffer in another shape.

    Of `B[i * 4 + j]`, which is written as `B[k]`, they are `k // 4` and `k % 4`. None where the
    indices are axes, or do not go through the elements that are written, each once.
    """
    if all(isinstance(index, (Var, IntImm)) for index in indices):
        return None
    domains = {axis.var: axis.dom for axis in block.iter_vars if axis.dom is not None}
    found = detect_iter_map(list(indices), domains, check_level=IterMapLevel.Bijective).indices
    theirs = {axis.var: axis.dom for axis in producer.iter_vars}
    facts = tree.facts_at(tree.realize_of(block))
    for total, index in zip(found, given.indices):
        domain = theirs.get(index) if isinstance(index, Var) else None
        one = prim.like(1, index)
        extent = total.args[0].extent if total.args else one
        is_whole = not total.args or prove_equal(total.args[0].scale, one, facts) is YES
        domain = Range(index, one) if domain is None else domain
        if len(total.args) > 1 or not is_whole:
            return None
        if not same_range(Range(*prim.match_dtypes(total.base, extent)), domain, facts):
            return None
    if not found:
        return None
    values: dict[Node, Node] = {axis: domain.min for axis, domain in domains.items()}
    for axis, value in inverse_affine_iter_map(found, given.indices).items():
        values[axis] = prim.cast(simplify(value, facts), axis.dtype)
    return values


def _check_joined(
    consumer: ScopeAccesses, producer: ScopeAccesses, joined: ScopeAccesses, buffer: Buffer
) -> None:
    """Refuse where a block that is computed earlier goes past what it depends on."""
    what = f"the block `{consumer.realize.block.name_hint}` cannot be computed earlier"
    written = {access.buffer.data for access in consumer.own if access.is_write}
    for access in producer.own:
        if access.buffer.data in written:
            raise refuse(
                f"{what}: its producer uses `{access.buffer.name}` too",
                [(access.statement, f"uses `{access.buffer.name}`")],
            )  # fmt: skip
    consumer.others = [a for a in consumer.others if a not in producer.own]
    check_moved(consumer, joined, {buffer.data}, what)


def _read_indices(
    block: Block, store: BufferStore, buffer: Buffer, what: str
) -> Sequence[PrimExpr]:
    """The indices with which a block reads a buffer, which are the same everywhere."""
    loads = [
        part
        for e in (store.value, *store.indices)
        for part in walk(e)
        if isinstance(part, BufferLoad) and part.buffer is buffer
    ]
    first = loads[0].indices if loads else ()
    if not all(all(map(expr_deep_equal, load.indices, first)) for load in loads) or not loads:
        raise refuse(
            f"the block `{block.name_hint}` reads several elements of `{buffer.name}`, so it "
            f"cannot be {what}", [(store, f"reads `{buffer.name}`")],
        )  # fmt: skip
    return first


def same_range(a: Range, b: Range, facts: Facts) -> bool:
    """True if two ranges are proved to have the same integers."""
    ends = ((a.min, b.min), (a.extent, b.extent))
    return all(prove_equal(x, y, facts) is YES for x, y in ends)


def _check_domains(
    tree: FunctionTree, block: Block, indices: Sequence[PrimExpr], producer: Block,
    given: BufferStore, buffer: Buffer,
) -> None:  # fmt: skip
    """Refuse where two blocks do not go through the same elements of a buffer."""
    facts = tree.facts_at(tree.realize_of(block))
    mine = {axis.var: axis.dom for axis in block.iter_vars}
    theirs = {axis.var: axis.dom for axis in producer.iter_vars}
    for a, b in zip(indices, given.indices):
        x, y = (d.get(i) if isinstance(i, Var) else None for d, i in ((mine, a), (theirs, b)))
        if x is None and y is None:
            continue
        if x is None or y is None or not same_range(x, y, facts):
            raise refuse(
                f"the block `{block.name_hint}` reads other elements of `{buffer.name}` than "
                f"`{producer.name_hint}` writes",
                [(block, f"reads `{buffer.name}`"), (producer, f"writes `{buffer.name}`")],
            )  # fmt: skip

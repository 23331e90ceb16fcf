"""Partial sums: the iterations of a loop over which a sum is made get an accumulator each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.arith import YES, prove
from relaxscript.ir import prim
from relaxscript.ir.prim import BufferLoad, PrimExpr, Var, const
from relaxscript.ir.scalar_functions import max_value, min_value
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferStore,
    For,
    IterVar,
    Range,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import substitute, walk

from .accesses import accumulated
from .coverage import conjuncts
from .mistakes import refuse
from .pad_einsum import nest_of
from .scopes import ScopeAccesses, check_covers, with_regions
from .tree import Change, FunctionTree, StatementMap, and_also

__all__ = ["rfactor"]


def rfactor(tree: FunctionTree, loop: For, factor_axis: int) -> tuple[Change, Block]:
    """A sum as one over `loop` of sums over the other loops, each at its own element."""
    found = tree.blocks_in(loop)
    if len(found) != 1:
        raise refuse(
            f"there are {len(found)} blocks in the loop `{loop.loop_var.name}`, of which one sum "
            "would have partial sums",
            [(loop, "the loop"), *((r.block, f"the block `{r.block.name_hint}`") for r in found)],
        )  # fmt: skip
    realize = found[0]
    block = realize.block
    scope, loops = nest_of(tree, realize, "have partial sums")
    store, _own = _sum_of(block)
    check_covers(ScopeAccesses(tree, block), "a sum of partial sums")
    _check_loop(tree, realize, loop, loops)
    axis = _place(store, factor_axis, loop)
    buffer = store.buffer
    shape = [*buffer.shape]
    dtype = shape[0].dtype if shape else prim.INT32
    shape.insert(axis, prim.cast(loop.extent, dtype))
    partial = Buffer(f"{buffer.name}_rf", tuple(shape), buffer.dtype, scope=buffer.scope)
    inner = _partial_sums(tree, realize, loop, loops, partial, axis)
    final = _final_sum(tree, realize, loop, loops, partial, axis)
    changes = StatementMap()
    changes.put(realize, inner)
    changes.follow(block, _block_in(final))
    nest = changes.mapped(loops[0])
    changes.put(loops[0], SeqStmt((nest, final)))
    whole = scope.replace(
        body=changes.mapped(scope.body), alloc_buffers=(*scope.alloc_buffers, partial)
    )
    if scope.reads or scope.writes:
        whole = with_regions(whole, tree.func)
    changes.put(scope, whole)
    changes.follow(scope, whole)
    return tree.rewritten(changes), inner.block


def _block_in(nest: Stmt) -> Block:
    return next(part for part in walk(nest) if isinstance(part, Block))


def _sum_of(block: Block) -> tuple[BufferStore, BufferLoad]:
    """The store of a block that adds to an element, and the element that it adds to."""
    store, init = block.body, block.init
    own = accumulated(store) if isinstance(store, BufferStore) else None
    begins = (
        isinstance(init, BufferStore)
        and isinstance(store, BufferStore)
        and init.buffer is store.buffer
        and not isinstance(store.value, (prim.And, prim.Or))
    )
    if own is None or not begins or not isinstance(store, BufferStore):
        raise refuse(
            f"the block `{block.name_hint}` is no sum, product, maximum or minimum that begins in "
            "`T.init()`",
            [(block, f"the block `{block.name_hint}`")],
        )  # fmt: skip
    return store, own


def _used(e: PrimExpr) -> set[Var]:
    return {part for part in walk(e) if isinstance(part, Var)}


def _check_loop(tree: FunctionTree, realize: BlockRealize, loop: For, loops: Sequence[For]) -> None:
    """Refuse a loop that chooses elements, and sums of which some would not begin."""
    block, var = realize.block, loop.loop_var
    pairs = [*zip(block.iter_vars, realize.iter_values)]
    spatial = {v for axis, value in pairs if axis.iter_type != "reduce" for v in _used(value)}
    summed = {v for axis, value in pairs if axis.iter_type == "reduce" for v in _used(value)}
    if var not in summed or summed & spatial or not _is_zero(loop.min):
        raise refuse(
            f"the loop `{var.name}` is not one over which the block `{block.name_hint}` sums only, "
            "from 0 on", [(loop, f"the loop `{var.name}`"), (block, "the block")],
        )  # fmt: skip
    starts = {one.loop_var: one.min for one in loops if one.loop_var in summed and one is not loop}
    facts = tree.facts_at(loops[-1], inclusive=True)
    for condition in conjuncts(realize.predicate):
        if not _used(condition) & summed:
            continue
        if prove(substitute(condition, starts), facts) is not YES:
            raise refuse(
                f"some iterations of the loop `{var.name}` may have no part of the sum of "
                f"`{block.name_hint}`", [(loop, f"the loop `{var.name}`"), (realize, "the block")],
                "choose factors that divide the loop",
            )  # fmt: skip


def _is_zero(e: PrimExpr) -> bool:
    return isinstance(e, prim.IntImm) and e.value == 0


def _place(store: BufferStore, factor_axis: int, loop: For) -> int:
    """The number of the dimension that the loop becomes."""
    count = len(store.indices) + 1
    known = isinstance(factor_axis, int) and not isinstance(factor_axis, bool)
    if not known or not -count <= factor_axis < count:
        raise refuse(
            f"`factor_axis` is a number from {-count} to {count - 1}, not {factor_axis!r}",
            [(loop, "the loop")],
        )  # fmt: skip
    return factor_axis % count


def _identity(value: PrimExpr, buffer: Buffer) -> PrimExpr:
    """The number that changes nothing when it is added, multiplied or compared."""
    dtype = buffer.dtype
    match value:
        case prim.Add():
            return const(0, dtype)
        case prim.Mul():
            return const(1, dtype)
        case prim.Max():
            return const(-math.inf, dtype) if dtype.is_float else min_value(dtype)
    return const(math.inf, dtype) if dtype.is_float else max_value(dtype)


def _with(indices: Sequence[PrimExpr], place: int, index: PrimExpr) -> tuple[PrimExpr, ...]:
    made = [*indices]
    made.insert(place, index)
    return tuple(made)


def _partial_sums(
    tree: FunctionTree, realize: BlockRealize, loop: For, loops: Sequence[For], partial: Buffer,
    place: int,
) -> BlockRealize:  # fmt: skip
    """The block that sums up for each iteration of a loop by itself."""
    block = realize.block
    store, own = _sum_of(block)
    own_axis = _axis_of(loop, "spatial")
    axes: list[IterVar] = []
    values: list[PrimExpr] = []
    by_loop: dict[Any, Any] = {loop.loop_var: own_axis.var}
    parts: dict[Any, Any] = {}
    for axis, value in zip(block.iter_vars, realize.iter_values):
        if axis.iter_type != "reduce" or loop.loop_var not in _used(value):
            axes.append(axis)
            values.append(value)
            continue
        for other in loops:
            if other.loop_var in _used(value) and other.loop_var not in by_loop:
                made = _axis_of(other, "reduce")
                by_loop[other.loop_var] = made.var
                axes.append(made)
                values.append(other.loop_var)
        parts[axis.var] = prim.cast(substitute(value, by_loop), axis.var.dtype)
    axes.append(own_axis)
    values.append(loop.loop_var)
    indices = _with(store.indices, place, own_axis.var)
    term = store.value
    assert isinstance(term, (prim.Add, prim.Mul, prim.Max, prim.Min))
    here = BufferLoad(partial, indices)
    left = term.a is own
    a, b = (here, term.b) if left else (term.a, here)
    body: Stmt = BufferStore(partial, type(term)(a, b), indices).replace(span=store.span)
    body = substitute(body, parts)
    init = BufferStore(partial, _identity(term, partial), indices).replace(span=store.span)
    made_block = Block(
        tuple(axes), (), (), f"{block.name_hint}_rf", body, init, (), (), block.annotations
    ).replace(span=block.span)  # fmt: skip
    return realize.replace(iter_values=tuple(values), block=with_regions(made_block, tree.func))


def _axis_of(loop: For, kind: str) -> IterVar:
    var = loop.loop_var
    return IterVar(
        Range.from_min_extent(loop.min, loop.extent),
        Var.make(f"v{var.name}", var.dtype, span=var.span), kind,
    )  # fmt: skip


def _final_sum(
    tree: FunctionTree, realize: BlockRealize, loop: For, loops: Sequence[For], partial: Buffer,
    place: int,
) -> Stmt:  # fmt: skip
    """Loops of their own, and the block in them that sums up partial sums."""
    block = realize.block
    store, _own = _sum_of(block)
    pairs = [*zip(block.iter_vars, realize.iter_values)]
    summed = {v for axis, value in pairs if axis.iter_type == "reduce" for v in _used(value)}
    kept = [one for one in loops if one.loop_var not in summed or one is loop]
    variables: Mapping[Any, Any] = {
        one.loop_var: Var.make(one.loop_var.name, one.loop_var.dtype, span=one.loop_var.span)
        for one in kept
    }
    axes: dict[Any, Any] = {}
    iter_vars: list[IterVar] = []
    values: list[PrimExpr] = []
    for axis, value in pairs:
        if axis.iter_type != "reduce":
            var = Var.make(axis.var.name, axis.var.dtype, span=axis.var.span)
            axes[axis.var] = var
            iter_vars.append(IterVar(axis.dom, var, axis.iter_type))
            values.append(substitute(value, variables))
    over = _axis_of(loop, "reduce")
    iter_vars.append(over)
    values.append(variables[loop.loop_var])
    indices = tuple(substitute(index, axes) for index in store.indices)
    here = BufferLoad(store.buffer, indices)
    whole = store.value
    assert isinstance(whole, (prim.Add, prim.Mul, prim.Max, prim.Min))
    term = type(whole)(here, BufferLoad(partial, _with(indices, place, over.var)))
    body = BufferStore(store.buffer, term, indices).replace(span=store.span)
    assert block.init is not None
    made = Block(
        tuple(iter_vars), (), (), block.name_hint, body, substitute(block.init, axes)
    ).replace(span=block.span)  # fmt: skip
    condition: PrimExpr = const(True)
    for one in conjuncts(realize.predicate):
        if not _used(one) & summed:
            condition = and_also(condition, substitute(one, variables))
    nest: Stmt = BlockRealize(tuple(values), condition, with_regions(made, tree.func))
    nest = nest.replace(span=realize.span)
    for outer in reversed(kept):
        nest = For(
            variables[outer.loop_var], outer.min, substitute(outer.extent, variables), "serial",
            nest,
        ).replace(span=outer.span)  # fmt: skip
    return nest

"""Sums of products over sizes that are multiples of numbers, with zeros in what is more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.arith import YES, Facts, prove_equal, simplify
from relaxscript.ir import prim
from relaxscript.ir.prim import BufferLoad, PrimExpr, Var, const
from relaxscript.ir.scalar_functions import if_then_else
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

from .accesses import accumulated
from .mistakes import refuse
from .scopes import with_regions
from .tree import Change, FunctionTree, StatementMap

__all__ = ["nest_of", "pad_einsum"]

Sizes = Mapping[Var, PrimExpr]


def pad_einsum(tree: FunctionTree, block: Block, padding: Sequence[int]) -> Change:
    """A sum of products whose axes have multiples of `padding` as sizes, and copies around it."""
    realize = tree.realize_of(block)
    scope, loops = nest_of(tree, realize, "be padded")
    sizes = _padded_sizes(tree, realize, loops, padding)
    grown = {
        axis.var
        for axis in block.iter_vars
        if axis.dom is not None and sizes[axis.var] is not axis.dom.extent
    }
    stores = _einsum(block, grown)
    facts = tree.facts_at(scope.body)
    reads = {load.buffer: load.indices for load in _loads(stores[-1].value)}
    written = stores[-1].buffer
    reads.pop(written, None)
    before: list[Stmt] = []
    buffers: dict[Any, Buffer] = {}
    for buffer, indices in reads.items():
        if grown.isdisjoint(indices):
            continue
        buffers[buffer] = _grown(block, buffer, indices, sizes, facts)
        before.append(_copy(buffer, buffers[buffer], buffers[buffer].shape, buffer.shape, block))
    after: list[Stmt] = []
    if not grown.isdisjoint(stores[-1].indices):
        made = buffers[written] = _grown(block, written, stores[-1].indices, sizes, facts)
        after.append(_copy(made, written, written.shape, None, block))
    if not buffers:
        return tree.rewritten(StatementMap())
    changes = StatementMap()
    nest = _nest(tree, changes, realize, loops, sizes, buffers)
    changes.put(loops[0], SeqStmt((*before, nest, *after)))
    whole = scope.replace(
        body=changes.mapped(scope.body), alloc_buffers=(*scope.alloc_buffers, *buffers.values())
    )
    if scope.reads or scope.writes:
        whole = with_regions(whole, tree.func)
    changes.put(scope, whole)
    changes.follow(scope, whole)
    return tree.rewritten(changes)


def nest_of(tree: FunctionTree, realize: BlockRealize, what: str) -> tuple[Block, list[For]]:
    """The scope of a block, and the loops around it, in which there is nothing else."""
    block, scope, loops = realize.block, tree.scope_of(realize), tree.loops_of(realize)
    inner: Stmt = realize
    for loop in reversed(loops):
        if loop.body is not inner:
            break
        inner = loop
    if scope is None or not loops or inner is not loops[0]:
        raise refuse(
            f"the block `{block.name_hint}` is not alone in its loops, so it cannot {what}",
            [(block, f"the block `{block.name_hint}`")],
            "take this step before other blocks move into its loops",
        )  # fmt: skip
    return scope, loops


def _padded_sizes(
    tree: FunctionTree, realize: BlockRealize, loops: Sequence[For], padding: Sequence[int]
) -> dict[Var, PrimExpr]:
    """The sizes of the axes of a block, each of which is one loop."""
    block = realize.block
    count = len(block.iter_vars)
    plain = isinstance(padding, (list, tuple)) and all(
        isinstance(p, int) and not isinstance(p, bool) and p >= 1 for p in padding
    )
    if not plain or len(padding) != count:
        raise refuse(
            f"`padding` has a number above 0 for each of the {count} axes of the block "
            f"`{block.name_hint}`",
            [(block, f"the block `{block.name_hint}`")], "1 leaves an axis as it is",
        )  # fmt: skip
    by_variable = {loop.loop_var: loop for loop in loops}
    facts = tree.facts_at(loops[0])
    sizes: dict[Var, PrimExpr] = {}
    for axis, value, number in zip(block.iter_vars, realize.iter_values, padding):
        loop = by_variable.pop(value, None) if isinstance(value, Var) else None
        same = (
            loop is not None
            and axis.dom is not None
            and prove_equal(loop.min, 0, facts) is YES
            and prove_equal(axis.dom.min, 0, facts) is YES
            and prove_equal(loop.extent, axis.dom.extent, facts) is YES
        )
        if not same or axis.dom is None:
            raise refuse(
                f"the axis `{axis.var.name}` of the block `{block.name_hint}` is not one whole "
                "loop, so it cannot be padded",
                [(axis.var, f"the axis `{axis.var.name}`")], "pad it before its loops are split",
            )  # fmt: skip
        extent = axis.dom.extent
        made = simplify((extent + (number - 1)) // number * number, facts)
        sizes[axis.var] = extent if prove_equal(made, extent, facts) is YES else made
    return sizes


def _loads(e: PrimExpr) -> list[BufferLoad]:
    return [part for part in walk(e) if isinstance(part, BufferLoad)]


def _factors(e: PrimExpr) -> list[PrimExpr] | None:
    """The factors of a product of elements and numbers; None for anything else."""
    match e:
        case prim.Mul(a=a, b=b):
            x, y = _factors(a), _factors(b)
            return None if x is None or y is None else [*x, *y]
        case prim.Cast(value=value):
            return _factors(value)
        case BufferLoad() | prim.IntImm():
            return [e]
        case prim.FloatImm(value=value) if math.isfinite(value):
            return [e]
    return None


def _einsum(block: Block, grown: set[Var]) -> list[BufferStore]:
    """The stores of a block that sums up products, or gives each element a product."""
    found = [part for part in (block.init, block.body) if part is not None]
    stores = [part for part in found if isinstance(part, BufferStore) and part.predicate is None]
    last = stores[-1] if len(stores) == len(found) else None
    own = None if last is None else accumulated(last)
    reduced = {axis.var for axis in block.iter_vars if axis.iter_type == "reduce"}
    term: PrimExpr | None = None
    if last is not None and block.init is None and not reduced:
        term = last.value
    elif last is not None and own is not None and block.init is not None:
        value = last.value
        if isinstance(value, prim.Add):
            term = value.b if value.a is own else value.a
    factors = None if term is None else _factors(term)
    axes = {axis.var for axis in block.iter_vars}
    trivial = last is not None and all(
        len({*indices}) == len(indices) and all(index in axes for index in indices)
        for indices in (last.indices, *(load.indices for load in _loads(last.value)))
    )
    # What is beyond must be 0, whatever else it is multiplied by.
    summed = grown & reduced
    zero = factors is not None and all(
        (isinstance(factor, BufferLoad) and summed <= {*factor.indices})
        or isinstance(factor, (prim.IntImm, prim.FloatImm))
        for factor in factors
    )
    if last is None or not trivial or factors is None or (summed and not zero):
        raise refuse(
            f"the block `{block.name_hint}` is no sum of products of elements at its axes, so it "
            "cannot be padded with zeros",
            [(block.body, f"what the block `{block.name_hint}` computes")],
        )  # fmt: skip
    return stores


def _grown(
    block: Block, buffer: Buffer, indices: Sequence[PrimExpr], sizes: Sizes, facts: Facts
) -> Buffer:
    """A buffer of padded sizes in the place of one."""
    domains = {axis.var: axis.dom for axis in block.iter_vars}
    shape = []
    for index, dim in zip(indices, buffer.shape):
        assert isinstance(index, Var)
        domain = domains[index]
        if domain is None or prove_equal(domain.extent, dim, facts) is not YES:
            raise refuse(
                f"the axis `{index.name}` of the block `{block.name_hint}` does not go through all "
                f"of `{buffer.name}`", [(index, f"the axis `{index.name}`")],
            )  # fmt: skip
        shape.append(prim.cast(sizes[index], dim.dtype))
    return Buffer(f"{buffer.name}_pad", tuple(shape), buffer.dtype, scope=buffer.scope)


def _copy(
    source: Buffer, target: Buffer, extents: Sequence[PrimExpr],
    limits: Sequence[PrimExpr] | None, block: Block,
) -> Stmt:  # fmt: skip
    """Loops that copy elements; beyond some limits, zeros."""
    loops = [Var.make(f"i{d}", extent.dtype) for d, extent in enumerate(extents)]
    axes = [Var.make(f"v{d}", extent.dtype) for d, extent in enumerate(extents)]
    indices = tuple(axes)
    value: PrimExpr = BufferLoad(source, indices)
    conditions = [
        axis < limit
        for axis, limit, extent in zip(axes, limits or (), extents)
        if prove_equal(limit, extent) is not YES
    ]
    if conditions:
        condition = conditions[0]
        for other in conditions[1:]:
            condition = prim.And(condition, other)
        value = if_then_else(condition, value, const(0, source.dtype))
    point = tuple(Range.from_min_extent(axis, const(1, axis.dtype)) for axis in axes)
    name = target.name if limits is not None else source.name
    made = Block(
        tuple(
            IterVar(Range.from_min_extent(const(0, axis.dtype), extent), axis, "spatial")
            for axis, extent in zip(axes, extents)
        ),
        (BufferRegion(source, point),), (BufferRegion(target, point),), name,
        BufferStore(target, value, indices).replace(span=block.span),
    ).replace(span=block.span)  # fmt: skip
    nest: Stmt = BlockRealize(tuple(loops), const(True), made).replace(span=block.span)
    for var, extent in reversed([*zip(loops, extents)]):
        nest = For(var, const(0, var.dtype), extent, "serial", nest).replace(span=block.span)
    return nest


def _nest(
    tree: FunctionTree, changes: StatementMap, realize: BlockRealize, loops: Sequence[For],
    sizes: Sizes, buffers: Mapping[Any, Buffer],
) -> Stmt:  # fmt: skip
    """The loops of a block over padded sizes, and the block over padded buffers."""
    block = realize.block
    axes = tuple(
        axis.replace(dom=Range.from_min_extent(axis.dom.min, sizes[axis.var]))
        if axis.dom is not None else axis
        for axis in block.iter_vars
    )  # fmt: skip
    made = with_regions(substitute(block, buffers).replace(iter_vars=axes), tree.func)
    changes.follow(block, made)
    extents = {value: sizes[axis.var] for axis, value in zip(block.iter_vars, realize.iter_values)}
    nest: Stmt = realize.replace(block=made)
    for loop in reversed(loops):
        extent = extents.get(loop.loop_var, loop.extent)
        nest = loop.replace(body=nest, extent=prim.cast(extent, loop.loop_var.dtype))
    return nest

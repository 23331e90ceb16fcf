"""PrimFuncs that only give a tensor another shape, decided by arithmetic over their indices.

Source: TVM `relax.analysis.has_reshape_pattern`.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import YES, Facts, prove_equal
from relaxscript.ir.prim import LT, BufferLoad, IntImm, PrimExpr, Var, const, match_dtypes
from relaxscript.ir.tir import BlockRealize, Buffer, BufferStore, For, PrimFunc
from relaxscript.ir.walk import substitute

__all__ = ["has_reshape_pattern"]


def has_reshape_pattern(func: PrimFunc) -> bool:
    """True if a PrimFunc is proved to be a reshape.

    It has two compact buffers of as many elements. It copies each element of the first to the
    place in the second that has as many elements before it. Other parameters are scalars, of which
    shapes are made.
    """
    buffers = [func.buffer_map[p] for p in func.params if p in func.buffer_map]
    if len(buffers) != 2 or any(buffer.strides for buffer in buffers):
        return False
    loops: list[For] = []
    store = _only_store(func, loops)
    if store is None:
        return False
    target, value, indices = store
    if not isinstance(value, BufferLoad) or value.predicate is not None:
        return False
    source = value.buffer
    if source is not buffers[0] or target is not buffers[1] or source.data is target.data:
        return False
    sizes = _product(source.shape), _product(target.shape)
    if source.dtype is not target.dtype or prove_equal(*sizes) is not YES:
        return False
    facts = _facts(loops)
    place = _flat(indices, target.shape)
    if prove_equal(_flat(value.indices, source.shape), place, facts) is not YES:
        return False
    return _goes_through(loops, indices, target, place, facts)


_Store = tuple[Buffer, PrimExpr, tuple[PrimExpr, ...]]


def _only_store(func: PrimFunc, loops: list[For]) -> _Store | None:
    """Buffer, value and indices of the store that is all inside some loops and blocks."""
    axes: dict[Var, PrimExpr] = {}
    stmt = func.body
    while True:
        match stmt:
            case For(body=body):
                loops.append(stmt)
                stmt = body
            case BlockRealize(values, IntImm(value=1), block) if block.init is None:
                if block.alloc_buffers or block.match_buffers:
                    return None
                outer = [substitute(value, axes) for value in values]
                axes.update(zip((axis.var for axis in block.iter_vars), outer))
                stmt = block.body
            case BufferStore(predicate=None):
                value = substitute(stmt.value, axes)
                return stmt.buffer, value, tuple([substitute(i, axes) for i in stmt.indices])
            case _:
                return None


def _facts(loops: Sequence[For]) -> Facts:
    facts = Facts()
    for loop in loops:
        low, extent = loop.min, loop.extent
        if isinstance(low, IntImm) and isinstance(extent, IntImm):
            facts = facts.with_range(loop.loop_var, low.value, low.value + extent.value - 1)
        else:
            facts = facts.with_condition(loop.loop_var >= low)
            facts = facts.with_condition(LT(*match_dtypes(loop.loop_var, low + extent)))
    return facts


def _product(dims: Sequence[PrimExpr]) -> PrimExpr:
    product: PrimExpr = const(1, "int64")
    for dim in dims:
        product = _times(product, dim)
    return product


def _times(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    x, y = match_dtypes(a, b)
    return x * y


def _flat(indices: Sequence[PrimExpr], shape: Sequence[PrimExpr]) -> PrimExpr:
    """The number of elements before the one at some indices."""
    flat: PrimExpr = const(0, "int64")
    for index, dim in zip(indices, shape):
        before, here = match_dtypes(_times(flat, dim), index)
        flat = before + here
    return flat


def _goes_through(
    loops: Sequence[For], indices: Sequence[PrimExpr], target: Buffer, place: PrimExpr,
    facts: Facts,
) -> bool:  # fmt: skip
    """True if loops are proved to reach all elements of a buffer: axis by axis, or as one row."""
    if any(prove_equal(loop.min, 0) is not YES for loop in loops):
        return False
    extents = {loop.loop_var: loop.extent for loop in loops}
    left = dict(extents)
    for index, dim in zip(indices, target.shape):
        extent = left.pop(index, None) if isinstance(index, Var) else None
        if prove_equal(dim if extent is None else extent, 1 if extent is None else dim) is not YES:
            break
    else:
        return not any(prove_equal(extent, 1) is not YES for extent in left.values())
    row = _flat(tuple(extents), tuple(extents.values()))
    size = _product(tuple(extents.values()))
    return (
        prove_equal(row, place, facts) is YES
        and prove_equal(size, _product(target.shape)) is YES
    )  # fmt: skip

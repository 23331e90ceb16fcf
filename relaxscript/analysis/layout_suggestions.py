"""Layouts of what a PrimFunc reads that go with those of what it writes.

Source: TVM `relax.analysis.suggest_layout_transforms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from relaxscript.arith import simplify
from relaxscript.ir.prim import INT64, BufferLoad, IntImm, PrimExpr, Var
from relaxscript.ir.tir import Block, BlockRealize, Buffer, BufferStore, PrimFunc
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.ir.walk import substitute, walk

__all__ = ["suggest_layout_transforms"]

# For each axis the variable that is its index, or None where a number is.
_Axes = tuple[Var | None, ...]


def suggest_layout_transforms(
    func: PrimFunc, write_buffer_transforms: Sequence[IndexMap | Callable[..., object]]
) -> dict[Block, dict[Block | Buffer, IndexMap]]:
    """The index maps of blocks and buffers that go with those of the results of a PrimFunc.

    `write_buffer_transforms` are those of the last buffers among the parameters, in their order.
    A block has a map for itself, which is that of its axes, and for each buffer that it accesses.
    So where `Y` becomes `(n, c // 4, h, w, c % 4)` and is a relu of `X`, `X` becomes the same.

    A buffer gets a map where each index is an axis of the block that reads it, or a number. The
    axes that both have must be in one order. Dimensions that only one has are left out, or added
    as they are. What a map mixes with such is not suggested. Neither is a map of a buffer on which
    blocks do not agree.

    Raises `ValueError` for more maps than buffers, or one of another number of indices.
    """
    maps = _of_results(func, write_buffer_transforms)
    found: dict[Block, dict[Block | Buffer, IndexMap]] = {}
    # Those who read a buffer come before the one who writes it.
    for block in reversed([n.block for n in walk(func.body) if isinstance(n, BlockRealize)]):
        suggested = _of_block(block, maps)
        if suggested is None:
            continue
        found[block] = suggested
        for part, made in suggested.items():
            if isinstance(part, Buffer):
                known = maps.setdefault(part, made)
                if known is not None and not known.is_equivalent_to(made):
                    maps[part] = None
    unsettled = {buffer for buffer, known in maps.items() if known is None}
    return {
        block: {part: made for part, made in found[block].items() if part not in unsettled}
        for block in reversed(found)
    }


def _of_results(
    func: PrimFunc, transforms: Sequence[IndexMap | Callable[..., object]]
) -> dict[Buffer, IndexMap | None]:
    """The maps of the buffers that a PrimFunc writes, which are its last parameters."""
    given = [t if isinstance(t, IndexMap) else IndexMap.from_func(t) for t in transforms]
    buffers = [func.buffer_map[p] for p in func.params if p in func.buffer_map]
    if len(given) > len(buffers):
        raise ValueError(f"there are {len(given)} index maps, and {len(buffers)} buffers")
    maps: dict[Buffer, IndexMap | None] = {}
    for buffer, made in zip(buffers[len(buffers) - len(given) :], given):
        if len(made.initial_indices) != len(buffer.shape):
            raise ValueError(
                f"the index map of `{buffer.name}` takes {len(made.initial_indices)} indices, "
                f"and the buffer has {len(buffer.shape)} dimensions"
            )
        maps[buffer] = made
    return maps


def _of_block(
    block: Block, maps: Mapping[Buffer, IndexMap | None]
) -> dict[Block | Buffer, IndexMap] | None:
    """The maps of a block and of its buffers; None where that of its result says nothing."""
    parts = [n for stmt in (block.init, block.body) if stmt is not None for n in walk(stmt)]
    stores = [n for n in parts if isinstance(n, BufferStore)]
    target = stores[0].buffer if stores else None
    own = maps.get(target) if target is not None else None
    is_plain = all(store.buffer is target for store in stores) and not block.match_buffers
    if target is None or own is None or not is_plain:
        return None
    if any(isinstance(n, BlockRealize) for n in parts):
        return None
    axes = {axis.var for axis in block.iter_vars}
    written = _common_axes((store.indices for store in stores), axes)
    if written is None:
        return None
    of_axes = _carried_over(written, own, tuple(axis.var for axis in block.iter_vars))
    if of_axes is None:
        return None
    suggested: dict[Block | Buffer, IndexMap] = {block: of_axes, target: own}
    accesses: dict[Buffer, list[Sequence[PrimExpr]]] = {}
    for load in parts:
        if isinstance(load, BufferLoad) and load.buffer is not target:
            accesses.setdefault(load.buffer, []).append(load.indices)
    for buffer, indices in accesses.items():
        read = _common_axes(indices, axes)
        made = None if read is None else _carried_over(written, own, read)
        if made is not None:
            suggested[buffer] = made
    return suggested


def _common_axes(accesses: Iterable[Sequence[PrimExpr]], axes: set[Var]) -> _Axes | None:
    """The axes of a block along those of a buffer, the same for all accesses; None for others."""
    found = {_axes_of(indices, axes) for indices in accesses}
    return found.pop() if len(found) == 1 else None


def _axes_of(indices: Sequence[PrimExpr], axes: set[Var]) -> _Axes | None:
    made: list[Var | None] = []
    left = set(axes)
    for index in map(simplify, indices):
        if isinstance(index, Var) and index in left:
            left.remove(index)
            made.append(index)
        elif isinstance(index, IntImm):
            made.append(None)
        else:
            return None
    return tuple(made)


def _carried_over(source: _Axes, own: IndexMap, target: _Axes) -> IndexMap | None:
    """The map of indices along `target` that does what `own` does to those along `source`."""
    shared = {*source} & {*target} - {None}
    orders = [[id(axis) for axis in axes if axis in shared] for axes in (source, target)]
    if orders[0] != orders[1]:
        return None
    names = ["i" + str(n) if axis is None else axis.name for n, axis in enumerate(target)]
    dtype = own.initial_indices[0].dtype if own.initial_indices else INT64
    initials = [Var(name, dtype) for name in names]
    inside = {axis: made for axis, made in zip(target, initials) if axis in shared}
    here = {v: inside[axis] for axis, v in zip(source, own.initial_indices) if axis in shared}
    finals: list[PrimExpr] = []
    for e in own.final_indices:
        used = {v for v in walk(e) if isinstance(v, Var)}
        if used <= set(here):
            finals.append(substitute(e, here))
        elif used & set(here):
            return None
    place = 0  # behind all that is made of the dimensions so far
    for axis, made in zip(target, initials):
        if axis in shared:
            using = [n + 1 for n, e in enumerate(finals) if any(v is made for v in walk(e))]
            place = max([place, *using])
        else:
            finals.insert(place, made)
            place += 1
    return IndexMap(tuple(initials), tuple(finals))

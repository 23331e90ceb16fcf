"""Scalars and tiles that loops keep for a moment, as buffers that have one for each iteration."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, IntImm, PrimExpr, cast
from relaxscript.ir.tir import Block, BlockRealize, Buffer, BufferStore, PrimFunc, SeqStmt, Stmt
from relaxscript.ir.walk import rewrite, walk
from relaxscript.transform.fuse.definite_writes import writes_all
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.schedule.accesses import EFFECTS, accesses_in

from .distributed_loops import is_around_several
from .loop_nests import Loop, loops_around, parts_of, with_parts

__all__ = ["with_expanded_scalars"]

# The most elements of what was a tile or a row.
MOST = 1 << 22


def with_expanded_scalars(func: PrimFunc) -> PrimFunc:
    """The function with buffers over loops in the place of such that are other ones in each.

    s = T.alloc_buffer((1,))                    s = T.alloc_buffer((n,))
    for i in range(n):                          for i in range(n):
        s[0] = T.float32(0)             →           s[i] = T.float32(0)
        for k in range(64):                         for k in range(64):
            s[0] = s[0] + A[i, k]                       s[i] = s[i] + A[i, k]
        B[i] = s[0]                                 B[i] = s[i]

    So each statement can have loops of its own. That is where every iteration stores all elements
    before it reads one, and no other loops mention them. Tiles and rows may have many elements:
    they stay where all of them together are more than 2 ** 22. The same object where there is no
    such buffer.
    """
    parts = parts_of(func)
    match func.body:
        case BlockRealize(block=Block(alloc_buffers=(_, *_) as buffers)):
            scalars = [b for b in buffers if not b.strides and b.elem_offset is None]
        case _:
            return func
    if parts is None or not any(map(is_around_several, parts.parts)) or not has_noalias(func):
        return func
    made, larger = [*parts.parts], dict[Buffer, Buffer]()
    for scalar in scalars:
        places = [place for place, part in enumerate(made) if _mentions(part, scalar)]
        loops = _loops_of(made[places[0]], scalar) if len(places) == 1 else None
        if loops:
            inner = () if _is_scalar(scalar) else scalar.shape
            shape = (*[cast(loop.extent, INT64) for loop in loops], *inner)
            if inner and not _is_small(shape):
                continue
            larger[scalar] = scalar.replace(shape=shape, axis_separators=())
            made[places[0]] = _expanded(made[places[0]], scalar, larger[scalar], loops)
    if not larger:
        return func
    body = with_parts(func.body, made)
    assert isinstance(body, BlockRealize), "the block is around all parts"
    own = tuple([larger.get(buffer, buffer) for buffer in body.block.alloc_buffers])
    return func.replace(body=body.replace(block=body.block.replace(alloc_buffers=own)))


def _is_scalar(buffer: Buffer) -> bool:
    return all(isinstance(extent, IntImm) and extent.value == 1 for extent in buffer.shape)


def _is_small(shape: Sequence[PrimExpr]) -> bool:
    sizes = [extent.value for extent in shape if isinstance(extent, IntImm)]
    return len(sizes) == len(shape) and prod(sizes) <= MOST


def _mentions(part: Stmt, buffer: Buffer) -> bool:
    return any(node is buffer or node is buffer.data for node in walk(part))


def _loops_of(part: Stmt, scalar: Buffer) -> list[Loop] | None:
    """The loops in each iteration of which a scalar is another one; None where it is not."""
    for access in accesses_in(part):
        is_same = access.buffer.data is scalar.data
        if access.buffer is EFFECTS or (is_same and access.buffer is not scalar):
            return None
        if is_same and access.realize is not None:
            return None
    loops: list[Loop] = []
    while True:
        found = loops_around(part)
        if found is None or not isinstance(found[1], SeqStmt):
            return None
        loops += found[0]
        inside = [stmt for stmt in found[1].seq if _mentions(stmt, scalar)]
        if len(inside) > 1:
            break
        part = inside[0]
    is_new = _is_stored(inside[0], scalar)
    extents_are_known = not {loop.var for loop in loops} & {
        node for loop in loops for node in walk(loop.extent)
    }
    return loops if is_new and extents_are_known else None


def _is_stored(first: Stmt, buffer: Buffer) -> bool:
    """True if a statement stores all elements of a buffer, and reads none of them."""
    if not _is_scalar(buffer):
        return writes_all(first, buffer)
    if not isinstance(first, BufferStore) or first.buffer is not buffer:
        return False
    return first.predicate is None and not _mentions_in(first.value, buffer)


def _mentions_in(value: PrimExpr, scalar: Buffer) -> bool:
    return any(node is scalar for node in walk(value))


def _expanded(part: Stmt, scalar: Buffer, larger: Buffer, loops: Sequence[Loop]) -> Stmt:
    indices = tuple([loop.var for loop in loops])

    def step(node: Node) -> Node | None:
        if isinstance(node, (BufferLoad, BufferStore)) and node.buffer is scalar:
            own = () if _is_scalar(scalar) else node.indices
            return node.replace(buffer=larger, indices=(*indices, *own))
        return None

    return rewrite(part, step)

"""Scalars that loops keep for a moment, as buffers with an element for each iteration."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, IntImm, PrimExpr, cast
from relaxscript.ir.tir import Block, BlockRealize, Buffer, BufferStore, PrimFunc, SeqStmt, Stmt
from relaxscript.ir.walk import rewrite, walk
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.schedule.accesses import EFFECTS, accesses_in

from .loop_nests import Loop, loops_around, parts_of, with_parts

__all__ = ["with_expanded_scalars"]


def with_expanded_scalars(func: PrimFunc) -> PrimFunc:
    """The function with buffers over loops in the place of such of one element.

    s = T.alloc_buffer((1,))                    s = T.alloc_buffer((n,))
    for i in range(n):                          for i in range(n):
        s[0] = T.float32(0)             →           s[i] = T.float32(0)
        for k in range(64):                         for k in range(64):
            s[0] = s[0] + A[i, k]                       s[i] = s[i] + A[i, k]
        B[i] = s[0]                                 B[i] = s[i]

    So each statement can have loops of its own. That is where every iteration stores the element
    before it reads it, and no other loops mention it. The same object where there is no such
    scalar.
    """
    parts = parts_of(func)
    match func.body:
        case BlockRealize(block=Block(alloc_buffers=(_, *_) as buffers)):
            scalars = [buffer for buffer in buffers if _is_scalar(buffer)]
        case _:
            return func
    if parts is None or not scalars or not has_noalias(func):
        return func
    made, larger = [*parts.parts], dict[Buffer, Buffer]()
    for scalar in scalars:
        places = [place for place, part in enumerate(made) if _mentions(part, scalar)]
        loops = _loops_of(made[places[0]], scalar) if len(places) == 1 else None
        if loops:
            shape = tuple([cast(loop.extent, INT64) for loop in loops])
            larger[scalar] = scalar.replace(shape=shape)
            made[places[0]] = _expanded(made[places[0]], scalar, larger[scalar], loops)
    if not larger:
        return func
    body = with_parts(func.body, made)
    assert isinstance(body, BlockRealize), "the block is around all parts"
    own = tuple([larger.get(buffer, buffer) for buffer in body.block.alloc_buffers])
    return func.replace(body=body.replace(block=body.block.replace(alloc_buffers=own)))


def _is_scalar(buffer: Buffer) -> bool:
    ones = all(isinstance(extent, IntImm) and extent.value == 1 for extent in buffer.shape)
    return ones and not buffer.strides and buffer.elem_offset is None


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
    first = inside[0]
    if not isinstance(first, BufferStore) or first.buffer is not scalar:
        return None
    is_new = first.predicate is None and not _mentions_in(first.value, scalar)
    extents_are_known = not {loop.var for loop in loops} & {
        node for loop in loops for node in walk(loop.extent)
    }
    return loops if is_new and extents_are_known else None


def _mentions_in(value: PrimExpr, scalar: Buffer) -> bool:
    return any(node is scalar for node in walk(value))


def _expanded(part: Stmt, scalar: Buffer, larger: Buffer, loops: Sequence[Loop]) -> Stmt:
    indices = tuple([loop.var for loop in loops])

    def step(node: Node) -> Node | None:
        if isinstance(node, (BufferLoad, BufferStore)) and node.buffer is scalar:
            return node.replace(buffer=larger, indices=indices)
        return None

    return rewrite(part, step)

"""Intermediate results that lie where the result will be, rather than in memory of their own."""

from __future__ import annotations

from relaxscript.arith import YES, prove_equal
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad
from relaxscript.ir.stmt_functor import pre_order_visit
from relaxscript.ir.tir import Buffer
from relaxscript.ir.walk import rewrite

from .loop_nests import Nest, Nests

__all__ = ["place_in_result", "with_buffer_in_place"]


def place_in_result(found: Nests, kept: Buffer) -> Buffer | None:
    """The one result of nests, where a buffer that they read can lie there; None elsewhere.

    All of its elements are stored, and none is read. Whether an element is read only where it is
    stored is for the caller to see.
    """
    results = [nest for nest in found.nests if nest.store.buffer not in found.own]
    if len(results) != 1 or not results[0].is_of_each_element:
        return None
    loops, buffer = results[0].loops, results[0].store.buffer
    if buffer.dtype != kept.dtype or len(buffer.shape) != len(kept.shape) or _is_apart(buffer):
        return None
    rows = zip((loop.extent for loop in loops), buffer.shape, kept.shape, strict=True)
    for extent, size, other in rows:
        if prove_equal(extent, size) is not YES or prove_equal(size, other) is not YES:
            return None
    return None if any(_reads(nest, buffer) for nest in found.nests) else buffer


def _is_apart(buffer: Buffer) -> bool:
    return bool(buffer.strides) or buffer.elem_offset is not None


def _reads(nest: Nest, buffer: Buffer) -> bool:
    nodes: list[Node] = []
    pre_order_visit(nest.store.value, nodes.append)
    return any(isinstance(node, BufferLoad) and node.buffer is buffer for node in nodes)


def with_buffer_in_place(found: Nests, kept: Buffer, place: Buffer) -> Nests:
    """The nests, reading from another buffer what they read from one."""

    def step(node: Node) -> Node | None:
        if isinstance(node, BufferLoad) and node.buffer is kept:
            return node.replace(buffer=place)
        return None

    return Nests(
        tuple(buffer for buffer in found.own if buffer is not kept),
        tuple(nest._replace(store=rewrite(nest.store, step)) for nest in found.nests),
    )

"""Results that are computed in several steps in one buffer, with a buffer for each step."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.analysis.prim_funcs import expr_deep_equal
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad, const
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import Buffer, BufferStore, PrimFunc, Stmt
from relaxscript.ir.walk import rewrite, walk
from relaxscript.transform.fuse.definite_writes import writes_all
from relaxscript.transform.prim_func.memory_access import has_noalias

from .loop_nests import nest_of, parts_of, with_parts
from .loop_writing import in_row, with_memory

__all__ = ["with_renamed_results"]


def with_renamed_results(func: PrimFunc) -> PrimFunc:
    """The function with a buffer of its own for what is stored in a result, and then again.

    for i in range(n):                          for i in range(n):
        B[i] = T.exp(A[i])                          B_1[i] = T.exp(A[i])
    for i in range(n):                  →       for i in range(n):
        B[i] = B[i] * T.float32(2)                  B[i] = B_1[i] * T.float32(2)

    So each buffer is stored by one nest, or by one that clears it and one that adds to it. That is
    where the last nest computes each element of that element, all of which have been stored
    before. The same object where no result is stored again, and for functions that do not promise
    `tir.noalias`.
    """
    parts = parts_of(func)
    if parts is None or not has_noalias(func) or len(parts.parts) < 2:
        return func
    made, new = [*parts.parts], list[Buffer]()
    several = _stored_by_several(made)
    for place in range(len(made) - 1, 0, -1) if several else ():
        buffer = _stored_again(made, place, several)
        if buffer is not None:
            new.append(Buffer(buffer.name, buffer.shape, buffer.dtype, scope=buffer.scope))
            several.add(new[-1])
            made = _renamed(made, place, buffer, new[-1])
    if not new:
        return func
    body = in_row(*made)
    for buffer in new:
        body = with_memory(buffer, body)
    return func.replace(body=with_parts(func.body, (body,)))


def _stored_by_several(parts: Sequence[Stmt]) -> set[Buffer]:
    """The buffers that several nests store: all are gone through once, most functions have none."""
    once, several = set[Buffer](), set[Buffer]()
    for part in parts:
        stored, stack = set[Buffer](), [part]
        while stack:
            at = stack.pop()
            if isinstance(at, BufferStore):
                stored.add(at.buffer)
            stack += inner_statements(at)
        several |= stored & once
        once |= stored
    return several


def _stored_again(parts: Sequence[Stmt], place: int, several: set[Buffer]) -> Buffer | None:
    """The buffer of which a nest stores each element as the last one of several; None for none.

    It is one of the buffers that `several` nests store.
    """
    nest = nest_of(parts[place])
    if nest is None or not nest.is_of_each_element or nest.store.buffer not in several:
        return None
    store = nest.store
    buffer = store.buffer
    if buffer.strides or buffer.elem_offset is not None or buffer.axis_separators:
        return None
    earlier = parts[:place]
    if not any(_stores(part, buffer) for part in earlier) or not all(
        _uses_only(part, buffer) for part in parts
    ):
        return None
    if any(_stores(part, buffer) for part in parts[place + 1 :]):
        return None
    loads = [node for node in walk(store.value) if isinstance(node, BufferLoad)]
    own = [load for load in loads if load.buffer is buffer]
    if not all(all(map(expr_deep_equal, load.indices, store.indices)) for load in own):
        return None
    again = store.replace(value=rewrite(store.value, lambda node: _zero_of(node, buffer)))
    filled = rewrite(parts[place], lambda node: again if node is store else None)
    return buffer if writes_all(in_row(*earlier), buffer) and writes_all(filled, buffer) else None


def _zero_of(node: Node, buffer: Buffer) -> Node | None:
    """Any other value for a load of a buffer, of which only is asked which elements it stores."""
    is_load = isinstance(node, BufferLoad) and node.buffer is buffer
    return const(0, buffer.dtype) if is_load else None


def _stores(part: Stmt, buffer: Buffer) -> bool:
    return any(isinstance(node, BufferStore) and node.buffer is buffer for node in walk(part))


def _uses_only(part: Stmt, buffer: Buffer) -> bool:
    """True if no other buffer lies in the memory of one."""
    found = (node for node in walk(part) if isinstance(node, (BufferLoad, BufferStore)))
    return all(node.buffer is buffer or node.buffer.data is not buffer.data for node in found)


def _renamed(parts: Sequence[Stmt], place: int, buffer: Buffer, new: Buffer) -> list[Stmt]:
    """The parts before a place with another buffer, which is read there."""

    def step(node: Node) -> Node | None:
        is_access = isinstance(node, (BufferLoad, BufferStore)) and node.buffer is buffer
        return node.replace(buffer=new) if is_access else None

    def reading(node: Node) -> Node | None:
        return step(node) if isinstance(node, BufferLoad) else None

    earlier = [rewrite(part, step) for part in parts[:place]]
    return [*earlier, rewrite(parts[place], reading), *parts[place + 1 :]]

"""Blocks around several statements, as these statements, with the values of the axes."""

from __future__ import annotations

from relaxscript.ir.prim import Var, const
from relaxscript.ir.stmt_functor import inner_statements, rewrite_tir
from relaxscript.ir.tir import Block, BlockRealize, Buffer, BufferStore, PrimFunc, Stmt
from relaxscript.ir.walk import substitute, walk
from relaxscript.transform.prim_func.known_facts import sizes_of
from relaxscript.transform.prim_func.lower_blocks import is_true

__all__ = ["with_open_blocks"]


def with_open_blocks(func: PrimFunc) -> PrimFunc:
    """The function with the statements of blocks in the place of blocks around several.

    for i in range(64):                         s = T.alloc_buffer((1,))
        with T.block("row"):                    for i in range(64):
            vi = T.axis.spatial(64, i)              s[0] = T.float32(0)
            s = T.alloc_buffer((1,))                for k in range(16):
            s[0] = T.float32(0)         →               s[0] = s[0] + A[i, k]
            for k in range(16):                     B[i] = s[0]
                s[0] = s[0] + A[vi, k]
            B[vi] = s[0]

    Their buffers become those of the function. What a buffer holds at first is left open, so it may
    be one for all iterations; its size must not depend on these. Blocks with an init, a predicate,
    annotations or parts of other buffers stay, as do those around a single store. The same object
    where there is no other.
    """
    sizes = sizes_of(func)
    own: list[Buffer] = []

    def step(part: object) -> Stmt | None:
        if not isinstance(part, BlockRealize) or not _is_open(part, sizes):
            return None
        own.extend(part.block.alloc_buffers)
        pairs = zip(part.block.iter_vars, part.iter_values, strict=True)
        return substitute(part.block.body, {axis.var: value for axis, value in pairs})

    root = func.body if isinstance(func.body, BlockRealize) else None
    inside = func.body if root is None else root.block.body
    if not any(map(_is_around_several, _blocks_in(inside))):
        return func
    body = rewrite_tir(inside, step)
    if body is inside:
        return func
    if root is not None:
        buffers = (*root.block.alloc_buffers, *own)
        block = root.block.replace(body=body, alloc_buffers=buffers)
        return func.replace(body=root.replace(block=block))
    if own:
        block = Block((), (), (), "root", body, alloc_buffers=tuple(own))
        body = BlockRealize((), const(True), block)
    return func.replace(body=body)


def _blocks_in(body: Stmt) -> list[BlockRealize]:
    """The blocks in a statement."""
    found: list[BlockRealize] = []
    stack = [body]
    while stack:
        at = stack.pop()
        if isinstance(at, BlockRealize):
            found.append(at)
        stack += inner_statements(at)
    return found


def _is_around_several(realize: BlockRealize) -> bool:
    block = realize.block
    return bool(block.alloc_buffers) or not isinstance(block.body, BufferStore)


def _is_open(realize: BlockRealize, sizes: set[Var]) -> bool:
    """True if a block says no more than what the statements in it say."""
    block = realize.block
    if not _is_around_several(realize) or not is_true(realize.predicate):
        return False
    if block.init is not None or block.match_buffers or block.annotations:
        return False
    if any(a.var.dtype != v.dtype for a, v in zip(block.iter_vars, realize.iter_values)):
        return False
    used = {node for buffer in block.alloc_buffers for dim in buffer.shape for node in walk(dim)}
    plain = all(b.scope == "global" and not b.strides for b in block.alloc_buffers)
    return plain and all(node in sizes for node in used if isinstance(node, Var))

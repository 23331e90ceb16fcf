"""Functions of plain loops as rows of nests, each of which stores one element an iteration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from relaxscript.ir.prim import IntImm, PrimExpr, Var
from relaxscript.ir.prim_func_facts import facts_of
from relaxscript.ir.tir import (
    Allocate,
    Block,
    BlockRealize,
    Buffer,
    BufferStore,
    DeclBuffer,
    For,
    ForKind,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import walk
from relaxscript.transform.prim_func.lower_blocks import is_true

__all__ = [
    "FunctionParts",
    "Loop",
    "Nest",
    "Nests",
    "is_without",
    "loops_around",
    "nest_of",
    "nests_of",
    "nests_of_parts",
    "number_of",
    "parts_of",
    "with_parts",
]


class Loop(NamedTuple):
    """A serial loop from 0 on."""

    var: Var
    extent: PrimExpr


def number_of(loops: Sequence[Loop]) -> int | None:
    """The number of iterations of some loops, if it is known."""
    sizes = [loop.extent.value for loop in loops if isinstance(loop.extent, IntImm)]
    return prod(sizes) if len(sizes) == len(loops) else None


def is_without(indices: Sequence[PrimExpr], loops: Sequence[Loop]) -> bool:
    """True if no index depends on these loops."""
    used = {node for e in indices if not isinstance(e, IntImm) for node in walk(e)}
    return not any(loop.var in used for loop in loops)


class Nest(NamedTuple):
    """Loops, from the outside in, and the element that each iteration stores."""

    loops: tuple[Loop, ...]
    store: BufferStore

    @property
    def is_of_each_element(self) -> bool:
        """True if the indices of the store are the variables of the loops, in their order."""
        indices = self.store.indices
        return len(indices) == len(self.loops) and all(
            index is loop.var for index, loop in zip(indices, self.loops)
        )


class Nests(NamedTuple):
    """The nests of a function in their order, and the buffers that it makes."""

    own: tuple[Buffer, ...]
    nests: tuple[Nest, ...]


def nests_of(func: PrimFunc) -> Nests | None:
    """The nests of a function; None where it does something else.

    Only loops and blocks are gone through, not what they compute. The nests are remembered: who
    asks whether a function has a form goes on to change it.
    """
    facts = facts_of(func)
    if "nests" not in facts:
        parts = parts_of(func)
        facts["nests"] = None if parts is None else nests_of_parts(parts.own, parts.parts)
    found: Nests | None = facts["nests"]
    return found


class FunctionParts(NamedTuple):
    """The statements of a function in their order, and the buffers that it makes."""

    own: tuple[Buffer, ...]
    parts: tuple[Stmt, ...]


def parts_of(func: PrimFunc) -> FunctionParts | None:
    """The statements in the block, or the declarations, around all of them."""
    own: list[Buffer] = []
    body = _opened(func.body, own)
    if body is None or len({buffer.data for buffer in own}) < len(own):
        return None
    return FunctionParts(tuple(own), body.seq if isinstance(body, SeqStmt) else (body,))


def with_parts(body: Stmt, parts: Sequence[Stmt]) -> Stmt:
    """A body whose statements, those that `parts_of` finds, are others."""
    match body:
        case BlockRealize(block=Block(iter_vars=(), init=None, match_buffers=()) as block):
            return body.replace(block=block.replace(body=with_parts(block.body, parts)))
        case Allocate() | DeclBuffer():
            return body.replace(body=with_parts(body.body, parts))
    return SeqStmt(tuple(parts)) if len(parts) > 1 else parts[0]


def nests_of_parts(own: Iterable[Buffer], parts: Iterable[Stmt]) -> Nests | None:
    """The nests that some statements are; None where one is none."""
    nests = [nest_of(part) for part in parts]
    found = tuple(nest for nest in nests if nest is not None)
    return Nests(tuple(own), found) if len(found) == len(nests) else None


def _opened(body: Stmt, own: list[Buffer]) -> Stmt | None:
    """The body of the block or the declarations around all nests; their buffers are collected."""
    allocated: set[Var] = set()
    while True:
        match body:
            case BlockRealize(block=Block(iter_vars=(), init=None, match_buffers=()) as block):
                if not is_true(body.predicate) or any(b.strides for b in block.alloc_buffers):
                    return None
                own += block.alloc_buffers
                body = block.body
            case Allocate():
                allocated.add(body.buffer_var)
                body = body.body
            case DeclBuffer(buffer=buffer) if buffer.data in allocated and not buffer.strides:
                own.append(buffer)
                body = body.body
            case DeclBuffer():
                return None
            case _:
                return body


def loops_around(stmt: Stmt) -> tuple[list[Loop], Stmt] | None:
    """The plain serial loops from 0 on that a statement is, and what is in them; else None."""
    loops = []
    while isinstance(stmt, For):
        plain = stmt.kind == ForKind.SERIAL and not stmt.annotations
        if not (plain and isinstance(stmt.min, IntImm) and stmt.min.value == 0):
            return None
        loops.append(Loop(stmt.loop_var, stmt.extent))
        stmt = stmt.body
    return loops, stmt


def nest_of(stmt: Stmt) -> Nest | None:
    """The nest that a statement is, if it is one."""
    outer = loops_around(stmt)
    if outer is None:
        return None
    loops, stmt = outer
    if isinstance(stmt, BlockRealize):
        return _nest_of_block(loops, stmt)
    return _nest(loops, stmt)


def _nest(loops: list[Loop], stmt: Stmt) -> Nest | None:
    if isinstance(stmt, BufferStore) and stmt.predicate is None:
        return Nest(tuple(loops), stmt)
    return None


def _nest_of_block(loops: list[Loop], stmt: BlockRealize) -> Nest | None:
    """The nest of loops around a block, each of whose axes is one of the loops."""
    block = stmt.block
    if block.init is not None or block.alloc_buffers or block.match_buffers:
        return None
    if not is_true(stmt.predicate) or len(stmt.iter_values) != len(loops):
        return None
    by_var = {loop.var: loop for loop in loops}
    axes = {}
    for axis, value in zip(block.iter_vars, stmt.iter_values, strict=True):
        if not isinstance(value, Var) or value not in by_var or value.dtype != axis.var.dtype:
            return None
        axes[value] = Loop(axis.var, by_var[value].extent)
    if len(axes) < len(loops):
        return None
    # The variables of the axes become those of the loops, so that nothing is rewritten.
    return _nest([axes[loop.var] for loop in loops], block.body)

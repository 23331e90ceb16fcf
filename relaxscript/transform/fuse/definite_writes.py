"""The proof that a computation writes all of a buffer before anything is read there.

The result of a call is zero where nothing is written, memory that a PrimFunc allocates is not. So
a result can become such memory only where all of it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relaxscript.arith import YES, prove_equal
from relaxscript.ir.prim import IntImm, PrimExpr, Var
from relaxscript.ir.tir import (
    Allocate,
    AllocateConst,
    AssertStmt,
    Block,
    BlockRealize,
    Buffer,
    BufferStore,
    DeclBuffer,
    For,
    LetStmt,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import walk

__all__ = ["writes_all"]


def writes_all(body: Stmt, buffer: Buffer) -> bool:
    """True if every element of a buffer is certainly written by the first nest that mentions it."""
    for statement in _statements(body):
        if any(node is buffer for node in walk(statement)):
            return _fills(statement, buffer)
    return False


def _statements(body: Stmt) -> Iterator[Stmt]:
    """The statements one after the other; those behind an assertion are reached, or none is."""
    stack = [body]
    while stack:
        match stack.pop():
            case SeqStmt(seq):
                stack += reversed(seq)
            case AssertStmt() | LetStmt() | Allocate() | AllocateConst() | DeclBuffer() as at:
                stack.append(at.body)
            case statement:
                yield statement


def _fills(nest: Stmt, buffer: Buffer) -> bool:
    """True if loops write each element of a buffer before they read one."""
    # What each variable runs through from 0 on, and which loop that is.
    runs: dict[Var, tuple[Var, PrimExpr]] = {}
    loops: dict[Var, PrimExpr] = {}
    at = nest
    while True:
        match at:
            case For(loop_var, IntImm(value=0), extent):
                runs[loop_var] = loop_var, extent
                loops[loop_var] = extent
                at = at.body
            case BlockRealize(values, IntImm(value=1), Block() as block):
                for axis, value in zip(block.iter_vars, values):
                    if isinstance(value, Var) and value in runs:
                        runs[axis.var] = runs[value]
                if block.match_buffers:
                    return False
                if block.init is not None and _mentions(block.init, buffer):
                    return _stores_all(block.init, buffer, runs, loops)
                at = block.body
            case _:
                return _stores_all(at, buffer, runs, loops)


def _stores_all(
    at: Stmt,
    buffer: Buffer,
    runs: Mapping[Var, tuple[Var, PrimExpr]],
    loops: Mapping[Var, PrimExpr],
) -> bool:
    """True if the first statement inside of loops that mentions a buffer writes all of it."""
    for statement in _statements(at):
        if _mentions(statement, buffer):
            break
    else:
        return False
    if not isinstance(statement, BufferStore) or statement.buffer is not buffer:
        return False
    if statement.predicate is not None or _mentions(statement.value, buffer):
        return False
    used: dict[Var, None] = {}
    for index, dim in zip(statement.indices, buffer.shape):
        if not isinstance(index, Var) or index not in runs:
            return False
        loop, extent = runs[index]
        if loop in used or (extent is not dim and prove_equal(extent, dim) is not YES):
            return False
        used[loop] = None
    others = [extent for loop, extent in loops.items() if loop not in used]
    return all(isinstance(extent, IntImm) and extent.value > 0 for extent in others)


def _mentions(node: Stmt | PrimExpr, buffer: Buffer) -> bool:
    return any(inner is buffer for inner in walk(node))

"""Loops and arithmetic as schedules write them: indices are int64, memory is the function's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.prim import INT64, Call, FloorDiv, IntImm, PrimExpr, StringImm, Var, const
from relaxscript.ir.tir import Allocate, Buffer, DeclBuffer, For, ForKind, LetStmt, SeqStmt, Stmt

from .loop_nests import Loop

__all__ = [
    "as_variable",
    "ceil",
    "fused",
    "in_loops",
    "in_row",
    "loop",
    "loop_or_once",
    "number",
    "with_memory",
]


def number(value: int) -> IntImm:
    """A literal index."""
    return IntImm(INT64, value)


def loop(
    name: str, extent: PrimExpr | int, body: Callable[[Var], Stmt], unroll: bool = False
) -> Stmt:
    """A loop from 0 on, of which `body` makes what is done for each value of its variable."""
    var = Var.make(name, INT64)
    size = number(extent) if isinstance(extent, int) else extent
    kind = ForKind.UNROLLED if unroll else ForKind.SERIAL
    return For(var, number(0), size, kind, body(var))


def loop_or_once(name: str, extent: PrimExpr | int, body: Callable[[PrimExpr], Stmt]) -> Stmt:
    """The same without a loop where there is one iteration."""
    size = number(extent) if isinstance(extent, int) else extent
    if isinstance(size, IntImm) and size.value == 1:
        return body(number(0))
    return loop(name, size, body)


def as_variable(name: str, value: PrimExpr, body: Callable[[PrimExpr], Stmt]) -> Stmt:
    """A statement in which a value has a name, unless it is one, or a number."""
    if isinstance(value, (IntImm, Var)):
        return body(value)
    var = Var.make(name, value.dtype)
    return LetStmt(var, value, body(var))


def in_row(*statements: Stmt) -> Stmt:
    """Statements one after the other."""
    return SeqStmt(statements) if len(statements) > 1 else statements[0]


def with_memory(buffer: Buffer, body: Stmt) -> Stmt:
    """A statement and a buffer of its own."""
    inner = DeclBuffer(buffer, body)
    return Allocate(buffer.data, buffer.dtype, buffer.shape, const(True), inner)


def ceil(size: PrimExpr, by: int) -> PrimExpr:
    """The number of parts of some length that cover a size."""
    if isinstance(size, IntImm):
        return number(-(-size.value // by))
    if by == 1:
        return size
    return FloorDiv(size + number(by - 1), number(by))


def fused(a: PrimExpr, b: PrimExpr, c: PrimExpr) -> PrimExpr:
    """The sum of `c` and the product of `a` and `b`, rounded once."""
    args = (StringImm("llvm.fma"), a, b, c)
    return Call(c.dtype, op_named("tir.call_llvm_pure_intrin"), args)


def in_loops(loops: Sequence[Loop], body: Stmt) -> Stmt:
    """A statement in serial loops, from the outside in."""
    for var, extent in reversed(loops):
        body = For(var, const(0, var.dtype), extent, ForKind.SERIAL, body)
    return body

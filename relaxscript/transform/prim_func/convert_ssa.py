"""Variables that are defined in one place each."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var
from relaxscript.ir.stmt_functor import inner_statements, renewed_buffer
from relaxscript.ir.tir import (
    Allocate,
    AllocateConst,
    Block,
    Buffer,
    DeclBuffer,
    For,
    LetStmt,
    PrimFunc,
    Stmt,
)
from relaxscript.ir.walk import Substitution
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .rewriter import StatementRewriter

__all__ = ["ConvertSSA", "with_own_definitions"]


class ConvertSSA(PrimFuncPass):
    """Give each definition of a variable or buffer one of its own.

    Where a statement is used twice, as one object, its loops have one variable. Afterwards they
    have two, of the same name. Source: TVM `tir.transform.ConvertSSA`.
    """

    name = "tir.ConvertSSA"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        return func.replace(
            body=_Converter({*func.params, *func.buffer_map.values()}).rewrite(func.body, None)
        )


def with_own_definitions(stmt: Stmt) -> Stmt:
    """The same statement with a variable or buffer of its own for each that it defines."""
    defined: set[Node] = set()
    stack = [stmt]
    while stack:
        one = stack.pop()
        variables, buffers = _definitions(one)
        defined.update(variables, buffers)
        stack += inner_statements(one)
    return _Converter(defined).rewrite(stmt, None)


class _Converter(StatementRewriter[None]):
    is_shared = False

    def __init__(self, defined: set[Node]) -> None:
        self.defined = defined

    def enter(self, stmt: Stmt, context: None) -> Stmt:
        variables, buffers = _definitions(stmt)
        again = [v for v in variables if v in self.defined]
        renamed = Substitution({v: type(v).make(v.name, v.dtype, v.type_annotation) for v in again})
        for buffer in buffers:
            if buffer in self.defined or buffer.data in again:
                renamed[buffer] = renewed_buffer(buffer, renamed)
        made = renamed.apply(stmt)
        for var in (*variables, *buffers):
            self.defined.add(renamed.get(var, var))
        return made


def _definitions(stmt: Stmt) -> tuple[list[Var], list[Buffer]]:
    """The variables and the buffers that a statement defines."""
    match stmt:
        case LetStmt(var=var) | For(loop_var=var):
            return [var], []
        case Allocate(buffer_var=var) | AllocateConst(buffer_var=var):
            return [var], []
        case DeclBuffer(buffer=buffer):
            return [], [buffer]
        case Block(iter_vars=axes, alloc_buffers=buffers, match_buffers=matches):
            own = [*buffers, *(match.buffer for match in matches)]
            return [*(axis.var for axis in axes), *(b.data for b in own)], own
    return [], []

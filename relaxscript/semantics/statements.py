"""Facts about statements for every executor: their order, starts of axes, texts of assertions."""

from __future__ import annotations

from collections.abc import Iterable

from relaxscript.ir import prim, tir

__all__ = ["assertion_message", "flatten_stmts", "start_of_axis"]


def flatten_stmts(s: tir.Stmt) -> Iterable[tir.Stmt]:
    """The statements of nested sequences, in their order."""
    stack = [s]
    while stack:
        top = stack.pop()
        if isinstance(top, tir.SeqStmt):
            stack.extend(reversed(top.seq))
        else:
            yield top
            # What stands in the body of a declaration is, for a frame, what comes after it.
            if isinstance(top, _DECLARATIONS):
                stack.append(top.body)


_DECLARATIONS = (
    tir.LetStmt, tir.AttrStmt, tir.AssertStmt, tir.Allocate, tir.AllocateConst, tir.DeclBuffer,
)  # fmt: skip


def start_of_axis(axis: tir.IterVar) -> prim.PrimExpr:
    """Where a reduction axis starts."""
    return prim.const(0, axis.var.dtype) if axis.dom is None else axis.dom.min


def assertion_message(message: prim.PrimExpr) -> str:
    """The text of an assertion's message."""
    return message.value if isinstance(message, prim.StringImm) else str(message)

"""The statements that executors run, and what others mean in terms of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from relaxscript.ir import prim, tir
from relaxscript.ir.tir_compute import BufferRealize, Prefetch

from .lower_buffer_realize import lower_buffer_realize
from .tir_errors import check_axes, check_hint, check_store

__all__ = ["assertion_message", "core_statements", "start_of_axis"]


def core_statements(s: tir.Stmt, has_memory: Callable[[tir.Buffer], bool]) -> Iterator[tir.Stmt]:
    """The statements of a body in their order, checked, each of a kind that executors run.

    What is in the body of a declaration comes after it. `has_memory` tells whether there is
    memory for a buffer by then. Raises `DiagnosticError` for a statement that has no meaning.
    """
    stack = [s]
    while stack:
        match stack.pop():
            case tir.LetStmt() as definition:
                yield definition
                stack.append(definition.body)
            case tir.SeqStmt(seq):
                stack.extend(reversed(seq))
            case Prefetch() | tir.Evaluate(prim.StringImm() | prim.Immediate()):
                pass  # hints, and values without effects
            case tir.AttrStmt(body=body) as hint:
                check_hint(hint)
                stack.append(body)
            case BufferRealize(buffer) as region:
                stack.append(lower_buffer_realize(region, has_memory(buffer)))
            case tir.Block() as block:
                stack.append(tir.BlockRealize.make((), prim.const(True), block, span=block.span))
            case core:
                yield _check(core)
                if isinstance(core, _DECLARATIONS):
                    stack.append(core.body)


def _check(s: tir.Stmt) -> tir.Stmt:
    match s:
        case tir.BlockRealize():
            check_axes(s)
        case tir.BufferStore():
            check_store(s)
    return s


_DECLARATIONS = (tir.AssertStmt, tir.Allocate, tir.AllocateConst, tir.DeclBuffer)


def start_of_axis(axis: tir.IterVar) -> prim.PrimExpr:
    """The start of a reduction axis."""
    return prim.const(0, axis.var.dtype) if axis.dom is None else axis.dom.min


def assertion_message(message: prim.PrimExpr) -> str:
    """The text of an assertion's message."""
    return message.value if isinstance(message, prim.StringImm) else str(message)

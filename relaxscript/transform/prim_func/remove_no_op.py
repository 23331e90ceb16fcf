"""Statements without effect."""

from __future__ import annotations

from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import (
    BufferLoad,
    Call,
    Div,
    FloorDiv,
    FloorMod,
    IntImm,
    Mod,
    PrimExpr,
    const,
)
from relaxscript.ir.relax import Op
from relaxscript.ir.stmt_functor import parts_of_tir
from relaxscript.ir.tir import (
    Allocate,
    BlockRealize,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.tir_compute import Prefetch
from relaxscript.ir.walk import walk
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .rewriter import StatementRewriter

__all__ = ["RemoveNoOp"]


class RemoveNoOp(PrimFuncPass):
    """Remove statements that do nothing: empty loops and branches, values that nobody uses.

        for i in range(8):
            T.evaluate(i + 1)          →    B[0] = A[0]
        B[0] = A[0]

    What may fail stays: reads of elements, divisions by what may be 0, assertions. Source: TVM
    `tir.transform.RemoveNoOp`.
    """

    name = "tir.RemoveNoOp"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        return func.replace(body=_Remover().rewrite(func.body, None))


_NOTHING = Evaluate(const(0))


class _Remover(StatementRewriter[None]):
    def leave(self, stmt: Stmt, context: None) -> Stmt:  # noqa: C901
        match stmt:
            case SeqStmt(seq=parts):
                kept = [part for part in parts if not _is_nothing(part)]
                if len(kept) == len(parts):
                    return stmt
                return SeqStmt(tuple(kept)) if len(kept) > 1 else (*kept, _NOTHING)[0]
            case IfThenElse(condition=IntImm(value=value)):
                return (stmt.then_case if value else stmt.else_case) or _NOTHING
            case IfThenElse():
                return _without_empty_branches(stmt)
            case For(extent=IntImm(value=extent)) if extent <= 0:
                return _NOTHING
            case For(body=body) | LetStmt(body=body) | Allocate(body=body) | DeclBuffer(body=body):
                if _is_nothing(body) and _is_harmless(stmt):
                    return _NOTHING
            case BlockRealize(block=block) if block.init is None or _is_nothing(block.init):
                if _is_nothing(block.body) and _is_harmless(stmt):
                    return _NOTHING
            case Prefetch():
                return _NOTHING
            case Evaluate() if not _is_nothing(stmt) and _is_harmless(stmt):
                return _NOTHING
        return stmt


def _without_empty_branches(stmt: IfThenElse) -> Stmt:
    if stmt.else_case is not None and _is_nothing(stmt.else_case):
        stmt = stmt.replace(else_case=None)
    if _is_nothing(stmt.then_case) and stmt.else_case is None and _is_harmless(stmt):
        return _NOTHING
    return stmt


def _is_nothing(stmt: Stmt) -> bool:
    return isinstance(stmt, Evaluate) and isinstance(stmt.value, IntImm)


def _is_harmless(stmt: Stmt) -> bool:
    """True if what a statement itself computes has no effect and cannot fail."""
    scalars = [part for part in parts_of_tir(stmt) if isinstance(part, PrimExpr)]
    return not any(_may_matter(node) for e in scalars for node in walk(e))


def _may_matter(node: object) -> bool:
    match node:
        case BufferLoad():
            return True
        case FloorDiv() | FloorMod() | Div() | Mod():
            divisor = node.b
            return not node.dtype.is_float and not (
                isinstance(divisor, IntImm) and divisor.value != 0
            )
        case Call(op=Op(name=name)):
            return name not in INTRINSICS or not INTRINSICS[name].is_pure
        case Call():
            return True
    return False

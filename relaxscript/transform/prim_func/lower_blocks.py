"""Blocks without axes, and statements without blocks."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Call, IntImm, PrimExpr, StringImm, Var, cast, const
from relaxscript.ir.stmt_functor import post_order_visit
from relaxscript.ir.tir import (
    Allocate,
    AttrStmt,
    Block,
    BlockRealize,
    Buffer,
    DeclBuffer,
    For,
    ForKind,
    IfThenElse,
    LetStmt,
    PrimFunc,
    Stmt,
)
from relaxscript.ir.walk import Substitution
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .lower_init_block import with_init_in_body
from .memory_access import is_total
from .rewriter import StatementRewriter

__all__ = ["ConvertBlocksToOpaque", "LowerOpaqueBlock", "is_true"]


class ConvertBlocksToOpaque(PrimFuncPass):
    """Write the values of the axes of blocks where the axes are used.

        for i, k in T.grid(8, 4):                  for i, k in T.grid(8, 4):
            with T.block("sum"):                       with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])        T.reads(B[i], A[i, k])
                T.reads(B[vi], A[vi, vk])          →       T.writes(B[i])
                T.writes(B[vi])                            B[i] = B[i] + A[i, k]
                B[vi] = B[vi] + A[vi, vk]

    An init becomes a condition in the body. A value that is read from memory, or that may fail, is
    computed once before the block. Source: TVM `tir.transform.ConvertBlocksToOpaque`.
    """

    name = "tir.ConvertBlocksToOpaque"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        return func.replace(body=_AxesRemover().rewrite(func.body, None))


class _AxesRemover(StatementRewriter[None]):
    def leave(self, stmt: Stmt, context: None) -> Stmt:
        if not isinstance(stmt, BlockRealize):
            return stmt
        block = with_init_in_body(stmt.block)
        if not block.iter_vars:
            return stmt if block is stmt.block else stmt.replace(block=block)
        values = Substitution()
        computed: list[tuple[Var, PrimExpr]] = []
        for axis, value in zip(block.iter_vars, stmt.iter_values, strict=True):
            given = cast(value, axis.var.dtype)
            if _is_arithmetic(given):
                values[axis.var] = given
            else:
                computed.append((axis.var, given))
        block = values.apply(block.replace(iter_vars=()))
        if not computed:
            return stmt.replace(iter_values=(), block=block)
        made: Stmt = stmt.replace(iter_values=(), predicate=const(True), block=block)
        for var, value in reversed(computed):
            made = LetStmt(var, value, made)
        return made if is_true(stmt.predicate) else IfThenElse(stmt.predicate, made)


def _is_arithmetic(e: PrimExpr) -> bool:
    """True if a value may be computed at each of its uses: it never fails, nor reads memory."""
    parts: list[PrimExpr] = []
    post_order_visit(e, parts.append)
    return all(is_total(part) and not isinstance(part, Call) for part in parts)


def is_true(condition: PrimExpr) -> bool:
    """True for the predicate of a block that always runs."""
    return isinstance(condition, IntImm) and bool(condition.value)


class LowerOpaqueBlock(PrimFuncPass):
    """Write blocks without axes as the statements that they are made of.

        with T.block("scale"):                     for i in range(8):
            B = T.alloc_buffer((8,))                   B = T.decl_buffer((8,))
            for i in range(8):                 →       if i < n:
                with T.block("inner"):                     B[i] = A[i]
                    T.where(i < n)
                    B[i] = A[i]

    Their memory becomes `Allocate` and `DeclBuffer`, a predicate a condition, annotations named
    `pragma_...` hints. A serial loop that is run once, and has no annotations, is its body. A block
    that has axes (`ConvertBlocksToOpaque` removes them), an init, regions under other names or
    memory with strides stays. Source: TVM `tir.transform.LowerOpaqueBlock`.
    """

    name = "tir.LowerOpaqueBlock"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        return func.replace(body=_BlockRemover().rewrite(func.body, False))


class _BlockRemover(StatementRewriter[bool]):
    """Blocks removed; of a statement it is known whether it is the block of a BlockRealize."""

    def inside(self, stmt: Stmt, part: Stmt | PrimExpr, context: bool) -> bool:
        return isinstance(stmt, BlockRealize)

    def leave(self, stmt: Stmt, context: bool) -> Stmt:
        match stmt:
            case BlockRealize(block=block) if _is_opaque(block):
                made = _opened(block)
                return made if is_true(stmt.predicate) else IfThenElse(stmt.predicate, made)
            case Block() if not context and _is_opaque(stmt):
                return _opened(stmt)
            case For(kind=ForKind.SERIAL, extent=IntImm(value=1)) if not stmt.annotations:
                return Substitution({stmt.loop_var: stmt.min}).apply(stmt.body)
        return stmt


def _is_opaque(block: Block) -> bool:
    parts = block.iter_vars, block.init, block.match_buffers
    return not any(parts) and not any(map(_has_layout, block.alloc_buffers))


def _has_layout(buffer: Buffer) -> bool:
    return bool(buffer.strides) or buffer.elem_offset is not None


def _opened(block: Block) -> Stmt:
    """The body of a block, with its memory around it."""
    body = block.body
    for buffer in reversed(block.alloc_buffers):
        body = DeclBuffer(buffer, body)
        body = Allocate(buffer.data, buffer.dtype, buffer.shape, const(True), body)
    for key, value in reversed([*block.annotations.items()]):
        if key.startswith("pragma_"):
            given = StringImm(value) if isinstance(value, str) else value
            body = AttrStmt(const(0), key, given, body)
    return body

"""The init of a block as a condition in its body."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import EQ, And, PrimExpr
from relaxscript.ir.tir import Block, IfThenElse, PrimFunc, SeqStmt, Stmt
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .rewriter import StatementRewriter

__all__ = ["LowerInitBlock", "with_init_in_body"]


class LowerInitBlock(PrimFuncPass):
    """Write the init of blocks as what their bodies begin with.

        with T.block("sum"):                       with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])        vi, vk = T.axis.remap("SR", [i, k])
            with T.init():                     →       if vk == 0:
                B[vi] = T.float32(0)                       B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]                  B[vi] = B[vi] + A[vi, vk]

    Source: TVM `tir.transform.LowerInitBlock`.
    """

    name = "tir.LowerInitBlock"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        return func.replace(body=_Lowering().rewrite(func.body, None))


class _Lowering(StatementRewriter[None]):
    def leave(self, stmt: Stmt, context: None) -> Stmt:
        return with_init_in_body(stmt) if isinstance(stmt, Block) else stmt


def with_init_in_body(block: Block) -> Block:
    """A block whose body begins with its init, under the condition that reductions start."""
    if block.init is None:
        return block
    begins: PrimExpr | None = None
    for axis in block.iter_vars:
        if axis.iter_type == "reduce" and axis.dom is not None:
            here = EQ(axis.var, axis.dom.min)
            begins = here if begins is None else And(begins, here)
    init = block.init if begins is None else IfThenElse(begins, block.init)
    return block.replace(init=None, body=SeqStmt((init, block.body)))

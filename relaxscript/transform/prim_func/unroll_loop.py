"""Loops of kind unrolled as their iterations, one after the other."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm, PrimExpr, const
from relaxscript.ir.tir import Evaluate, For, ForKind, PrimFunc, SeqStmt, Stmt
from relaxscript.ir.walk import Substitution
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .convert_ssa import with_own_definitions
from .rewriter import StatementRewriter

__all__ = ["UnrollLoop"]


class UnrollLoop(PrimFuncPass):
    """Write the body of each loop of kind unrolled once for each iteration.

        for i in T.unroll(2):               B[0] = A[0]
            B[i] = A[i]             →       B[1] = A[1]

    A loop of which it is not known how often it runs stays. Source: TVM
    `tir.transform.UnrollLoop`, which by itself unrolls no other loops either.
    """

    name = "tir.UnrollLoop"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        return func.replace(body=_Unroller().rewrite(func.body, None))


class _Unroller(StatementRewriter[None]):
    def leave(self, stmt: Stmt, context: None) -> Stmt:
        match stmt:
            case For(kind=ForKind.UNROLLED, extent=IntImm(value=count)):
                made = [_iteration(stmt, number) for number in range(count)]
                if len(made) == 1:
                    return made[0]
                return SeqStmt(tuple(made)) if made else Evaluate(const(0))
        return stmt


def _iteration(loop: For, number: int) -> Stmt:
    """The body of a loop in one iteration, with variables of its own but for the first one."""
    value: PrimExpr = const(number, loop.loop_var.dtype)
    if isinstance(loop.min, IntImm):
        value = const(loop.min.value + number, loop.loop_var.dtype)
    elif number:
        value = loop.min + value
    else:
        value = loop.min
    body = Substitution({loop.loop_var: value}).apply(loop.body)
    return with_own_definitions(body) if number else body

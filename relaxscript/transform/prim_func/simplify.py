"""Indices, sizes and conditions of PrimFuncs in their simplest form."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.arith import NO, YES, Facts, prove, simplify
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BOOL, Call, IntImm, PrimExpr, Var, const
from relaxscript.ir.tir import Buffer, Evaluate, IfThenElse, PrimFunc, Stmt
from relaxscript.ir.walk import rewrite_top_down, walk
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .known_facts import RewriterWithFacts, sizes_of

__all__ = ["Simplify"]

Step = Callable[[Node], Node | None]


class Simplify(PrimFuncPass):
    """Write indices, sizes and conditions in their simplest form.

        for i in range(16):                            for i in range(16):
            if i < 20:                                     B[i] = A[i]
                B[(i * 4 + 1) // 4] = A[i + 0]     →

    What is said by loops, axes of blocks and conditions around is taken for known. Of a
    `T.if_then_else` whose condition is known, the one branch is left. Arithmetic on
    elements stays as it is, since it may wrap around. Source: TVM `tir.transform.Simplify`.
    """

    name = "tir.Simplify"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        return func.replace(body=_Simplifier(sizes_of(func)).rewrite(func.body, Facts()))


class _Simplifier(RewriterWithFacts):
    """The statements of a function, whose sizes are made of some variables."""

    def scalar(self, e: PrimExpr, context: Facts) -> PrimExpr:
        """`e` with its largest parts that are made of indices in their simplest form."""
        plain = self.plain_parts(e)

        def step(node: Node) -> Node | None:
            if isinstance(node, Buffer):
                return node  # what is read is declared elsewhere
            if isinstance(node, Call) and node.op == op_named("tir.if_then_else"):
                return self._chosen(node, step, plain, context)
            if not isinstance(node, PrimExpr) or id(node) not in plain:
                return None
            return self._simplified(node, context)

        return rewrite_top_down(e, step)

    def _chosen(self, e: Call, step: Step, plain: set[int], context: Facts) -> Node | None:
        """The branch of a choice that is known; None where it is not."""
        condition, *branches = e.args
        if id(condition) in plain:
            condition = self._simplified(condition, context)
        if not isinstance(condition, IntImm):
            return None
        return rewrite_top_down(branches[0 if condition.value else 1], step)

    def _simplified(self, e: PrimExpr, context: Facts) -> PrimExpr:
        if isinstance(e, (Var, IntImm)) or not self.fits(e, context):
            return e
        if e.dtype is BOOL:
            answer = prove(e, context)
            return const(answer is YES) if answer in (YES, NO) else e
        made = simplify(e, context)
        return made if made.dtype is e.dtype and _size(made) < _size(e) else e

    def leave(self, stmt: Stmt, context: Facts) -> Stmt:
        match stmt:
            case IfThenElse(condition=IntImm(value=1), then_case=then):
                return then
            case IfThenElse(condition=IntImm(value=0), else_case=Stmt() as otherwise):
                return otherwise
            case IfThenElse(condition=IntImm(value=0)):
                return Evaluate(const(0))
        return stmt


def _size(e: PrimExpr) -> int:
    """The number of parts; what has fewer is simpler, so that a second run changes nothing."""
    return sum(1 for _ in walk(e))

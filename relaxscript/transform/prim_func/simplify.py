"""Indices, sizes and conditions of PrimFuncs in their simplest form."""

from __future__ import annotations

from relaxscript.arith import NO, YES, Facts, bounds, prove, simplify
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BOOL, INT32, INT64, IntImm, PrimExpr, Var, const
from relaxscript.ir.tir import Block, Buffer, Evaluate, For, IfThenElse, IterVar, PrimFunc, Stmt
from relaxscript.ir.walk import children, post_order, rewrite_top_down, walk
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .rewriter import StatementRewriter

__all__ = ["Simplify"]

# The time that arithmetic takes grows faster than what it is about.
_MOST_PARTS = 300


class Simplify(PrimFuncPass):
    """Write indices, sizes and conditions in their simplest form.

        for i in range(16):                            for i in range(16):
            if i < 20:                                     B[i] = A[i]
                B[(i * 4 + 1) // 4] = A[i + 0]     →

    What is said by loops, axes of blocks and conditions around is taken for known. Arithmetic on
    elements stays as it is, since it may wrap around. Source: TVM `tir.transform.Simplify`.
    """

    name = "tir.Simplify"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        sizes = [dim for buffer in func.buffer_map.values() for dim in buffer.shape]
        variables = {v for dim in sizes for v in walk(dim) if isinstance(v, Var)}
        return func.replace(body=_Simplifier(variables).rewrite(func.body, Facts()))


class _Simplifier(StatementRewriter[Facts]):
    """The statements of a function, whose sizes are made of some variables."""

    def __init__(self, variables: set[Var]) -> None:
        # The variables that are indices or sizes.
        self.variables = variables
        self.known: dict[tuple[int, int, bool], tuple[Facts, object, Facts]] = {}

    def inside(self, stmt: Stmt, part: Stmt | PrimExpr, context: Facts) -> Facts:
        match stmt:
            case For() if part is stmt.body:
                return self._with_loop(stmt, context)
            case Block(iter_vars=axes) if not any(_is_domain_of(axis, part) for axis in axes):
                for axis in axes:
                    context = self._with_axis(axis, context)
                return context
            case IfThenElse(condition=condition) if part is not condition:
                if self._is_index(condition, context):
                    return self._with_condition(condition, part is stmt.then_case, context)
        return context

    def _with_loop(self, loop: For, context: Facts) -> Facts:
        return self._once(loop, True, context, [(loop.loop_var, loop.min, loop.extent)])

    def _with_axis(self, axis: IterVar, context: Facts) -> Facts:
        if axis.dom is None:
            return context
        return self._once(axis, True, context, [(axis.var, axis.dom.min, axis.dom.extent)])

    def _once(
        self, key: object, holds: bool, context: Facts,
        ranges: list[tuple[Var, PrimExpr, PrimExpr]],
    ) -> Facts:  # fmt: skip
        """The same facts for what is asked again, as a shared statement asks."""
        place = id(key), id(context), holds
        if place not in self.known:
            made = context
            for var, low, extent in ranges:
                self.variables.add(var)
                made = _in_range(made, var, low, extent)
            self.known[place] = made, key, context
        return self.known[place][0]

    def _with_condition(self, condition: PrimExpr, holds: bool, context: Facts) -> Facts:
        place = id(condition), id(context), holds
        if place not in self.known:
            fact = condition if holds else prim.Not(condition)
            self.known[place] = context.with_condition(fact), condition, context
        return self.known[place][0]

    # ------------------------------------------------------------ scalars

    def scalar(self, e: PrimExpr, context: Facts) -> PrimExpr:
        """`e` with its largest parts that are made of indices in their simplest form."""
        plain = self._plain(e)

        def step(node: Node) -> Node | None:
            if isinstance(node, Buffer):
                return node  # what is read is declared elsewhere
            if not isinstance(node, PrimExpr) or id(node) not in plain:
                return None
            return self._simplified(node, context)

        return rewrite_top_down(e, step)

    def _simplified(self, e: PrimExpr, context: Facts) -> PrimExpr:
        if isinstance(e, (Var, IntImm)) or not self._fits(e, context):
            return e
        if e.dtype is BOOL:
            answer = prove(e, context)
            return const(answer is YES) if answer in (YES, NO) else e
        made = simplify(e, context)
        return made if made.dtype is e.dtype and _size(made) < _size(e) else e

    def _is_index(self, e: PrimExpr, context: Facts) -> bool:
        return id(e) in self._plain(e) and self._fits(e, context)

    def _plain(self, e: PrimExpr) -> set[int]:
        """The parts of an expression that are arithmetic on indices and sizes only."""
        found: set[int] = set()
        for node in post_order(e):
            match node:
                case Var():
                    is_plain = node in self.variables
                case prim.FloorDiv(b=by) | prim.FloorMod(b=by) | prim.Div(b=by) | prim.Mod(b=by):
                    is_plain = isinstance(by, IntImm) and by.value > 0
                case IntImm() | prim.Binary() | prim.Comparison() | prim.Logic() | prim.Not():
                    is_plain = node.dtype in (INT32, INT64, BOOL)
                case _:
                    is_plain = False
            if is_plain and all(id(part) in found for part in children(node)):
                found.add(id(node))
        return found

    def _fits(self, e: PrimExpr, context: Facts) -> bool:
        """True if no part of an expression wraps around; very large ones are not looked at."""
        parts = [*post_order(e)]
        return len(parts) <= _MOST_PARTS and all(
            _is_in_int32(node, context)
            for node in parts
            if isinstance(node, PrimExpr) and node.dtype is INT32
        )

    def leave(self, stmt: Stmt, context: Facts) -> Stmt:
        match stmt:
            case IfThenElse(condition=IntImm(value=1), then_case=then):
                return then
            case IfThenElse(condition=IntImm(value=0), else_case=Stmt() as otherwise):
                return otherwise
            case IfThenElse(condition=IntImm(value=0)):
                return Evaluate(const(0))
        return stmt


def _is_domain_of(axis: IterVar, part: Stmt | PrimExpr) -> bool:
    return axis.dom is not None and (part is axis.dom.min or part is axis.dom.extent)


def _in_range(facts: Facts, var: Var, low: PrimExpr, extent: PrimExpr) -> Facts:
    if isinstance(low, IntImm) and isinstance(extent, IntImm):
        return facts.with_range(var, low.value, max(low.value + extent.value, low.value + 1) - 1)
    facts = facts.with_condition(prim.GE(var, low))
    return facts.with_condition(prim.LT(var, low + extent))


def _is_in_int32(e: PrimExpr, facts: Facts) -> bool:
    low, high = bounds(e, facts)
    return low is not None and high is not None and low >= -(1 << 31) and high < 1 << 31


def _size(e: PrimExpr) -> int:
    """The number of parts; what has fewer is simpler, so that a second run changes nothing."""
    return sum(1 for _ in walk(e))

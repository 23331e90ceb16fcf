"""Facts about integers around each statement: of loops, of axes of blocks, of conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relaxscript.arith import YES, Facts, bounds, prove
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.prim import BOOL, INT32, INT64, Call, IntImm, PrimExpr, Ramp, Var, cast
from relaxscript.ir.tir import Block, For, IfThenElse, IterVar, PrimFunc, Stmt
from relaxscript.ir.walk import children, post_order, rewrite_top_down, substitute, walk

from .rewriter import StatementRewriter

__all__ = ["RewriterWithFacts", "in_int64", "sizes_of"]

# The time that arithmetic takes grows faster than what it is about.
_MOST_PARTS = 300


def sizes_of(func: PrimFunc) -> set[Var]:
    """The variables of which the dimensions of its parameters are made."""
    sizes = [dim for buffer in func.buffer_map.values() for dim in buffer.shape]
    return {v for dim in sizes for v in walk(dim) if isinstance(v, Var)}


class RewriterWithFacts(StatementRewriter[Facts]):
    """A rewriter that knows the ranges of indices and the conditions around a statement.

    It is made with the variables that are sizes.
    """

    def __init__(self, variables: set[Var]) -> None:
        # The variables that are indices or sizes.
        self.variables = variables
        self.known: dict[tuple[int, int, bool], tuple[Facts, object, Facts]] = {}
        # Answers, with what was asked: a proof costs as much as a hundred statements, and the loads
        # of one iteration share their indices.
        self._inside: dict[tuple[int, int, int], tuple[bool, PrimExpr, PrimExpr, Facts]] = {}

    def inside(self, stmt: Stmt, part: Stmt | PrimExpr, context: Facts) -> Facts:
        match stmt:
            case For() if part is stmt.body:
                return self.with_loop(stmt, context)
            case Block(iter_vars=axes) if not any(_is_domain_of(axis, part) for axis in axes):
                for axis in axes:
                    context = self._with_axis(axis, context)
                return context
            case IfThenElse(condition=condition) if part is not condition:
                if self.is_index(condition, context):
                    return self._with_condition(condition, part is stmt.then_case, context)
        return context

    def with_loop(self, loop: For, context: Facts) -> Facts:
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

    def parts_with_facts(self, e: PrimExpr, context: Facts) -> Iterator[tuple[PrimExpr, Facts]]:
        """The parts of a scalar from the outside in, those that are chosen with their condition."""
        stack = [(e, context)]
        while stack:
            node, facts = stack.pop()
            yield node, facts
            match node:
                case Call(op=op, args=(condition, a, b)) if op is op_named("tir.if_then_else"):
                    holds = fails = facts
                    if self.is_index(condition, facts):
                        holds = self._with_condition(condition, True, facts)
                        fails = self._with_condition(condition, False, facts)
                    stack += [(b, fails), (a, holds), (condition, facts)]
                case _:
                    inner = [part for part in children(node) if isinstance(part, PrimExpr)]
                    stack += [(part, facts) for part in reversed(inner)]

    def is_index(self, e: PrimExpr, context: Facts) -> bool:
        return id(e) in self.plain_parts(e) and self.fits(e, context)

    def plain_parts(self, e: PrimExpr) -> set[int]:
        """The parts of an expression that are arithmetic on indices and sizes only."""
        found: set[int] = set()
        for node in post_order(e):
            match node:
                case Var():
                    is_plain = node in self.variables
                case prim.FloorDiv(b=by) | prim.FloorMod(b=by) | prim.Div(b=by) | prim.Mod(b=by):
                    is_plain = isinstance(by, IntImm) and by.value > 0
                case prim.Cast(value=value):
                    is_plain = node.dtype is INT64 and value.dtype is INT32
                case IntImm() | prim.Binary() | prim.Comparison() | prim.Logic() | prim.Not():
                    is_plain = node.dtype in (INT32, INT64, BOOL)
                case _:
                    is_plain = False
            if is_plain and all(id(part) in found for part in children(node)):
                found.add(id(node))
        return found

    def fits(self, e: PrimExpr, context: Facts) -> bool:
        """True if no part of an expression wraps around; very large ones are not looked at."""
        parts = [*post_order(e)]
        return len(parts) <= _MOST_PARTS and all(
            _is_in_int32(node, context)
            for node in parts
            if isinstance(node, PrimExpr) and node.dtype is INT32 and not isinstance(node, Var)
        )

    def is_inside(self, index: PrimExpr, extent: PrimExpr, facts: Facts) -> bool:
        """True if an index is proved to be at least 0 and below an extent, in all lanes."""
        key = id(index), id(extent), id(facts)
        found = self._inside.get(key)
        if found is None:
            answer = self._is_proved_inside(index, extent, facts)
            found = self._inside[key] = answer, index, extent, facts
        return found[0]

    def _is_proved_inside(self, index: PrimExpr, extent: PrimExpr, facts: Facts) -> bool:
        if isinstance(index, Ramp) and isinstance(index.stride, IntImm):
            ends = index.base, index.base + index.stride * (index.lanes - 1)
            return all(self.is_inside(end, extent, facts) for end in ends)
        if not (self.is_index(index, facts) and self.is_index(extent, facts)):
            return False
        low, high = bounds(index, facts)
        below = isinstance(extent, IntImm) and high is not None and high < extent.value
        if not below and prove(index < extent, facts) is not YES:
            return False
        return (low is not None and low >= 0) or prove(index >= 0, facts) is YES


def in_int64(e: PrimExpr, values: Mapping[Var, PrimExpr] | None = None) -> PrimExpr:
    """An index, no part of which wraps around, computed in int64, with values for variables."""
    known = values or {}

    def step(node: object) -> PrimExpr | None:
        match node:
            # What these have inside is of its own dtype, as indices are.
            case prim.BufferLoad() | prim.Let() | prim.Call():
                return cast(substitute(node, known), INT64)
            case prim.Cast(value=value):
                return in_int64(value, values)
            case Var() if node in known:
                return known[node]
            case Var() | IntImm() if node.dtype is not BOOL:
                return cast(node, INT64)
        return None

    return rewrite_top_down(e, step)


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

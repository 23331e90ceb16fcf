"""Copies of the factors of a contraction into panels."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, PrimExpr, Var, const
from relaxscript.ir.tir import BufferStore, IfThenElse, Stmt
from relaxscript.ir.walk import rewrite

from .contraction_axes import Factor, places_in
from .contraction_sizes import Plan
from .elementwise import product_of
from .loop_nests import number_of
from .loop_writing import in_row, loop, number
from .panel_copies import along, is_run, with_variables

__all__ = ["Copies"]


class Copies:
    """The statements that copy a block of rows, or of columns, for a block of steps."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def copied_rows(self, ic: PrimExpr, pc: PrimExpr) -> Stmt:
        plan = self.plan
        first = ic * (plan.row_panels * plan.height)

        def to(q: Var, r: Var, p: PrimExpr, value: PrimExpr) -> Stmt:
            return BufferStore(plan.a_panels, value, (q, r, p))

        lanes = plan.lanes if is_run(plan.found.a, plan.found.a.steps[-1]) else 1
        places = plan.row_panels, plan.height
        return self._copied_by_places(plan.found.a, places, (first, plan.m), pc, lanes, to)

    def copied_columns(self, jc: PrimExpr, pc: PrimExpr) -> Stmt:
        plan = self.plan
        b = plan.found.b
        if plan.has_lines:
            return self._copied_by_lines(jc, pc)
        if is_run(b, b.places[-1]):
            return self._copied_by_vectors(jc, pc)

        def to(q: Var, r: Var, p: PrimExpr, value: PrimExpr) -> Stmt:
            return BufferStore(plan.b_panels, value, (q, p, r))

        places = plan.column_panels, plan.width
        return self._copied_by_places(b, places, (jc * plan.block, plan.n), pc, 1, to)

    def _copied_by_places(
        self, factor: Factor, places: tuple[int, int], bounds: tuple[PrimExpr, PrimExpr],
        pc: PrimExpr, lanes: int, to: Callable[[Var, Var, PrimExpr, PrimExpr], Stmt],
    ) -> Stmt:  # fmt: skip
        """The elements of each place of each panel, step by step; zeros behind the end."""
        plan = self.plan
        *outer, last = factor.steps
        size = (number_of(factor.steps[-1:]) or 1) if outer else plan.depth
        first, end = bounds

        def copy(q: Var, r: Var, at: dict[Node, PrimExpr]) -> Stmt:
            def last_steps(begin: PrimExpr, own: dict[Node, PrimExpr], start: PrimExpr) -> Stmt:
                def one(s: PrimExpr) -> Stmt:
                    value = _with(factor.value, {**at, **own, last.var: start + s})
                    return to(q, r, begin + s, value)

                count = number(size) if outer else plan.count_of_steps(pc, 1)
                return along(count, lanes, one)

            def each(t: Var) -> Stmt:
                step = pc * (plan.depth // size) + t
                return with_variables(
                    places_in(outer, step), lambda own: last_steps(t * size, own, number(0))
                )

            if not outer:
                return last_steps(number(0), {}, pc * plan.depth)
            return loop("t", plan.count_of_steps(pc, size), each)

        def clear(q: Var, r: Var) -> Stmt:
            zero = const(0.0, plan.dtype)
            return along(plan.count_of_steps(pc, 1), lanes, lambda p: to(q, r, p, zero))

        def place(q: Var, r: Var) -> Stmt:
            def inside(given: dict[Node, PrimExpr]) -> Stmt:
                index = given[which]
                made = with_variables(places_in(factor.places, index), lambda at: copy(q, r, at))
                return IfThenElse(index < end, made, clear(q, r))

            which = Var.make("place", INT64)
            return with_variables({which: first + q * places[1] + r}, inside)

        return loop("q", places[0], lambda q: loop("r", places[1], lambda r: place(q, r)))

    def _copied_by_vectors(self, jc: PrimExpr, pc: PrimExpr) -> Stmt:
        """Columns that lie side by side, by vectors."""
        plan = self.plan
        b = plan.found.b
        (column,) = b.places

        def panel(q: Var) -> Stmt:
            first = jc * plan.block + q * plan.width

            def value(p: PrimExpr, at: PrimExpr) -> PrimExpr:
                steps = places_in(b.steps, pc * plan.depth + p)
                return _with(b.value, {column.var: at, **steps})

            def whole(p: Var) -> Stmt:
                return plan.vectors(
                    lambda k: BufferStore(plan.b_panels, value(p, first + k), (q, p, k))
                )

            def part(p: Var) -> Stmt:
                def one(k: Var) -> Stmt:
                    copy = BufferStore(plan.b_panels, value(p, first + k), (q, p, k))
                    clear = BufferStore(plan.b_panels, const(0.0, plan.dtype), (q, p, k))
                    return IfThenElse(first + k < plan.n, copy, clear)

                return loop("k", plan.width, one)

            count = plan.count_of_steps(pc, 1)
            is_whole = first + plan.width <= plan.n
            return IfThenElse(is_whole, loop("p", count, whole), loop("p", count, part))

        return loop("q", plan.column_panels, panel)

    def _copied_by_lines(self, jc: PrimExpr, pc: PrimExpr) -> Stmt:
        """Columns of several axes: for each step lines of the last axis, and panels from these."""
        plan = self.plan
        b = plan.found.b
        *outer, last = b.places
        size = number_of(b.places[-1:]) or 1
        lines = plan.block // size
        lanes = plan.lanes if is_run(b, last) else 1

        def line(y: Var, own: dict[Node, PrimExpr]) -> Stmt:
            def one(k: PrimExpr) -> Stmt:
                value = _with(b.value, {**own, last.var: k})
                return BufferStore(plan.line, value, (y * size + k,))

            return along(number(size), lanes, one)

        def step(p: Var, steps: dict[Node, PrimExpr]) -> Stmt:
            def inside(y: Var) -> Stmt:
                index = jc * lines + y
                made = with_variables(places_in(outer, index), lambda at: line(y, {**steps, **at}))
                return IfThenElse(index < product_of([x.extent for x in outer]), made)

            def panel(q: Var) -> Stmt:
                def one(k: PrimExpr) -> Stmt:
                    value = BufferLoad(plan.line, (q * plan.width + k,))
                    return BufferStore(plan.b_panels, value, (q, p, k))

                return plan.vectors(one)

            return in_row(loop("y", lines, inside), loop("q", plan.column_panels, panel))

        def each(p: Var) -> Stmt:
            steps = places_in(b.steps, pc * plan.depth + p)
            return with_variables(steps, lambda own: step(p, own))

        return loop("p", plan.count_of_steps(pc, 1), each)


def _with(e: PrimExpr, given: dict[Node, PrimExpr]) -> PrimExpr:
    return rewrite(e, given.get)

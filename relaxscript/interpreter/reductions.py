"""The evaluation of `T.Reduce`, whose meaning is said in `reduce.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.ir import prim, tir
from relaxscript.ir.tir_compute import CommReducer, Reduce
from relaxscript.semantics.expression import Expressions, Frame, Run
from relaxscript.semantics.reduce import initial_values

__all__ = ["Reductions"]


class Reductions(Expressions):
    """Adds reductions to expressions."""

    def choice(self, e: prim.PrimExpr) -> Run:
        return self.reduction(e) if isinstance(e, Reduce) else super().choice(e)

    def reduction(self, e: Reduce) -> Run:
        start = [self.compile(x) for x in initial_values(e)]
        index, combiner = e.value_index, e.combiner
        # Each run keeps its accumulators in its frame: functions may call themselves.
        totals = self.scope.define(prim.Var.make("totals", prim.HANDLE))
        visit = self.over(e.axis, lambda: self.step(e, combiner, totals))

        def run(f: Frame) -> Any:
            f[totals] = [x(f) for x in start]
            visit(f)
            return f[totals][index]

        return run

    def over(self, axes: Sequence[tir.IterVar], inner: Callable[[], Run]) -> Run:
        """A step run for each point of the axes; a later axis may depend on those before it."""
        if not axes:
            return inner()
        axis, dom = axes[0], axes[0].dom
        assert dom is not None  # `initial_values` has seen to it
        low, extent = self.compile(dom.min), self.compile(dom.extent)
        slot = self.scope.define(axis.var)
        body = self.over(axes[1:], inner)

        def run(f: Frame) -> None:
            start = low(f)
            stop = start + extent(f)
            for f[slot] in range(start, stop):
                body(f)

        return run

    def step(self, e: Reduce, combiner: CommReducer, totals: int) -> Run:
        """Combine the accumulators with the values at one point."""
        condition = self.compile(e.condition)
        sources = [self.compile(x) for x in e.source]
        operands = [self.scope.define(v) for v in (*combiner.lhs, *combiner.rhs)]
        results = [self.compile(x) for x in combiner.result]

        def run(f: Frame) -> None:
            if condition(f):
                # All values first: what computes them may be a reduction by the same combiner.
                values = [x(f) for x in sources]
                for slot, number in zip(operands, [*f[totals], *values], strict=True):
                    f[slot] = number
                f[totals] = [x(f) for x in results]

        return run

"""What `T.Reduce` computes: the values of an expression over some axes, combined into one.

The accumulators start from `init`, or where there is none from the identity of the combiner. Then,
for every point of the axes, the last axis fastest, at which the condition holds, the values of the
source are combined with the accumulators, which stand at the left. Values that are combined
together are computed before any of them is replaced. Compiled code does the same, in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.ir import prim, tir
from relaxscript.ir.tir_compute import CommReducer, Reduce

from . import failure
from .expression import Expressions, Frame, Run

__all__ = ["Reductions", "starts"]


def starts(e: Reduce) -> tuple[prim.PrimExpr, ...]:
    """What the accumulators start from; raises `DiagnosticError` where data types disagree."""
    combiner = e.combiner
    initial = e.init or combiner.identity_element
    if len(initial) != len(e.source):
        message = f"a T.Reduce of {len(e.source)} values has {len(initial)} to start from"
        raise failure.invalid("RX0502", message, e.span)
    if e.condition.dtype != "bool":
        message = f"the condition of a T.Reduce is {e.condition.dtype}, not a bool"
        raise failure.invalid("RX0502", message, e.condition.span or e.span)
    for axis in e.axis:
        name, dtype = axis.var.name, axis.var.dtype
        if axis.dom is None:
            help = f'write `T.iter_var({name}, T.Range(0, 8), "CommReduce", "")`'
            message = f"the axis `{name}` of a T.Reduce has no domain"
            raise failure.invalid("RX0504", message, e.span, help)
        if not dtype.is_integer or dtype.lanes != 1:
            message = f"the axis `{name}` of a T.Reduce is {dtype}, not an integer"
            raise failure.invalid("RX0504", message, e.span)
    for k, source in enumerate(e.source):
        others = (initial[k], combiner.lhs[k], combiner.rhs[k], combiner.result[k])
        for other in others:
            if other.dtype != source.dtype:
                raise failure.invalid(
                    "RX0502",
                    f"a T.Reduce of {source.dtype} has a combiner or a start of {other.dtype}",
                    source.span or e.span,
                    f'convert it with `T.cast(value, "{other.dtype}")`',
                )
    return initial


class Reductions(Expressions):
    """Adds reductions to expressions."""

    def choice(self, e: prim.PrimExpr) -> Run:
        return self.reduction(e) if isinstance(e, Reduce) else super().choice(e)

    def reduction(self, e: Reduce) -> Run:
        start = [self.compile(x) for x in starts(e)]
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
        assert dom is not None  # `starts` has seen to it
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

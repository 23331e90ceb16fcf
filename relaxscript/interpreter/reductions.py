"""The evaluation of `T.Reduce`, whose meaning is said in `reduce.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.ir import prim, tir
from relaxscript.ir.tir_compute import CommReducer, Reduce
from relaxscript.semantics.expression import compile_expr
from relaxscript.semantics.expression_context import ExpressionContext, Frame, Run
from relaxscript.semantics.reduce import initial_values

__all__ = ["compile_reduction"]


def compile_reduction(cx: ExpressionContext, e: Reduce) -> Run:
    start = [compile_expr(cx, x) for x in initial_values(e)]
    index, combiner = e.value_index, e.combiner
    # Each run keeps its accumulators in its frame: functions may call themselves.
    totals = cx.layout.define(prim.Var.make("totals", prim.HANDLE))
    visit = compile_axes(cx, e.axis, lambda: compile_point(cx, e, combiner, totals))

    def run(f: Frame) -> Any:
        f[totals] = [x(f) for x in start]
        visit(f)
        return f[totals][index]

    return run


def compile_axes(
    cx: ExpressionContext, axes: Sequence[tir.IterVar], inner: Callable[[], Run]
) -> Run:
    """A step run for each point of the axes; a later axis may depend on those before it."""
    if not axes:
        return inner()
    axis, dom = axes[0], axes[0].dom
    assert dom is not None  # `initial_values` has seen to it
    low, extent = compile_expr(cx, dom.min), compile_expr(cx, dom.extent)
    slot = cx.layout.define(axis.var)
    body = compile_axes(cx, axes[1:], inner)

    def run(f: Frame) -> None:
        start = low(f)
        stop = start + extent(f)
        for f[slot] in range(start, stop):
            body(f)

    return run


def compile_point(cx: ExpressionContext, e: Reduce, combiner: CommReducer, totals: int) -> Run:
    """Combine the accumulators with the values at one point."""
    condition = compile_expr(cx, e.condition)
    sources = [compile_expr(cx, x) for x in e.source]
    operands = [cx.layout.define(v) for v in (*combiner.lhs, *combiner.rhs)]
    results = [compile_expr(cx, x) for x in combiner.result]

    def run(f: Frame) -> None:
        if condition(f):
            # All values first: what computes them may be a reduction by the same combiner.
            values = [x(f) for x in sources]
            for slot, number in zip(operands, [*f[totals], *values], strict=True):
                f[slot] = number
            f[totals] = [x(f) for x in results]

    return run

"""The meaning of `T.Reduce`: the values of an expression over some axes, combined into one.

The accumulators start from `init`, or where there is none from the identity of the combiner. Every
point of the axes is visited, the last axis fastest. Where the condition holds, the values of the
source are combined with the accumulators, which are on the left. Values that are combined
together are computed before any of them is replaced. Every executor does this, in this order.
"""

from __future__ import annotations

from relaxscript.ir import prim
from relaxscript.ir.tir_compute import Reduce

from . import tir_errors

__all__ = ["initial_values"]


def initial_values(e: Reduce) -> tuple[prim.PrimExpr, ...]:
    """The first values of the accumulators; raises `DiagnosticError` where dtypes disagree."""
    combiner = e.combiner
    initial = e.init or combiner.identity_element
    if len(initial) != len(e.source):
        message = f"a T.Reduce of {len(e.source)} values has {len(initial)} to start from"
        raise tir_errors.invalid("RX0502", message, e.span)
    if e.condition.dtype != "bool":
        message = f"the condition of a T.Reduce is {e.condition.dtype}, not a bool"
        raise tir_errors.invalid("RX0502", message, e.condition.span or e.span)
    for axis in e.axis:
        name, dtype = axis.var.name, axis.var.dtype
        if axis.dom is None:
            help = f'write `T.iter_var({name}, T.Range(0, 8), "CommReduce", "")`'
            message = f"the axis `{name}` of a T.Reduce has no domain"
            raise tir_errors.invalid("RX0504", message, e.span, help)
        if not dtype.is_integer or dtype.lanes != 1:
            message = f"the axis `{name}` of a T.Reduce is {dtype}, not an integer"
            raise tir_errors.invalid("RX0504", message, e.span)
    for k, source in enumerate(e.source):
        others = (initial[k], combiner.lhs[k], combiner.rhs[k], combiner.result[k])
        for other in others:
            if other.dtype != source.dtype:
                raise tir_errors.invalid(
                    "RX0502",
                    f"a T.Reduce of {source.dtype} has a combiner or a start of {other.dtype}",
                    source.span or e.span,
                    f'convert it with `T.cast(value, "{other.dtype}")`',
                )
    return initial

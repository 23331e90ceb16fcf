"""Elements moved along axes, those at the end to the beginning. Source: numpy `roll`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import R
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import InferLayoutOutput, LayoutContext, Order, declined, places_of
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor
from relaxscript.opdef.shapes import axis_in, dims_of
from relaxscript.opdef.tensor_expressions import te

__all__ = ["roll"]


@op()
def roll(x: Tensor, shift: int | Axes, axis: Axes | None = None) -> Tensor:
    """`x` with its elements moved on by `shift` places along `axis`.

    What leaves at the end comes in at the beginning; a negative shift moves backwards. There is one
    shift for each axis, or one for all. An axis that is named twice is moved twice. Without `axis`
    the elements are moved in row-major order.
    """
    if axis is None:
        total = int(np.sum(np.asarray(shift, object)))
        return np.roll(x, total % max(x.size, 1))
    shifts = _shifts(shift, len(axis))
    moved = [s % max(x.shape[a], 1) for s, a in zip(shifts, axis)]
    return np.roll(x, moved, axis) if moved else x.copy()  # numpy wants an axis


def _shifts(shift: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    shifts = (shift,) if isinstance(shift, int) else shift
    return shifts * count if len(shifts) == 1 else shifts


@roll.attribute_rule
def _(shift: int | tuple[int, ...], axis: tuple[int, ...] | None) -> None:
    if axis is not None and len(_shifts(shift, len(axis))) != len(axis):
        count = len(_shifts(shift, len(axis)))
        raise OperandError(
            "shift", f"has {quantity(count, 'number')}", code="RX0204",
            also={"axis": f"names {quantity(len(axis), 'axis')}"},
            message="there is one shift for each axis, or one for all",
        )  # fmt: skip


@roll.layout_rule
def _(
    context: LayoutContext, x: Order, axis: tuple[int, ...] | None, **others: Any
) -> InferLayoutOutput:
    if axis is None:  # elements are moved in the order in which they are
        return declined(context, (x,))
    return InferLayoutOutput((x,), x, {"axis": places_of(axis, x)})


@roll.infer_rule
def _(
    context: InferContext,
    x: TensorStructInfo,
    shift: int | tuple[int, ...],
    axis: tuple[int, ...] | None = None,
) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    for place in axis or ():
        axis_in(place, rank)
    return x


@roll.compute()
def _(context: ComputeContext, x: Any, shift: Any, axis: tuple[int, ...] | None) -> Any:
    ndim = x.ndim

    def element(*indices: PrimExpr) -> PrimExpr:
        at = list(indices)
        if axis is None:
            return x[tuple(_in_row_major_order(x.shape, at, shift))]  # type: ignore[no-any-return]
        for place, by in zip(axis, _shifts(shift, len(axis))):
            at[place % ndim] = _moved(at[place % ndim], by, x.shape[place % ndim])
        return x[tuple(at)]  # type: ignore[no-any-return]

    names = [f"ax{place}" for place in range(ndim)]
    return te.compute(x.shape, element, name="T_roll", tag="injective", varargs_names=names)


def _moved(index: PrimExpr, shift: int, size: PrimExpr) -> PrimExpr:
    """The index before an element was moved; nothing of it overflows."""
    back = prim.FloorMod.make(prim.const(shift, size.dtype), size)
    return prim.FloorMod.make(index - back + size, size)


def _in_row_major_order(shape: Any, at: list[PrimExpr], shift: Any) -> list[PrimExpr]:
    total: Any = prim.const(1, "int64")
    number: Any = prim.const(0, "int64")
    for size, index in zip(shape, at):
        total, number = total * size, number * size + index
    for by in (shift,) if isinstance(shift, int) else shift:
        number = _moved(number, by, total)
    found: list[PrimExpr] = []
    for size in reversed(shape):
        found.append(prim.FloorMod.make(number, size))
        number = prim.FloorDiv.make(number, size)
    return found[::-1]


@roll.gradient
def _(context: GradientContext, x: Expr, shift: Any, axis: Any) -> Gradients:
    back = -shift if isinstance(shift, int) else [-by for by in shift]
    return (R.roll(context.grad, back, axis),)

"""Operators on the axes of a tensor: their order, new ones, and those of one element removed.

Results are new arrays, never views. Source: numpy's functions of the same names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.arith import NO, YES, prove_equal
from relaxscript.errors import OperandError, quantity
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import R, known_rank, reshape_like
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import (
    InferLayoutOutput,
    LayoutContext,
    Order,
    declined,
    places_of,
    plain,
    with_axes,
    without_axes,
)
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor
from relaxscript.opdef.shapes import (
    ONE,
    axes_in,
    dims_of,
    require_equal,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.opdef.traits import Trait

__all__ = ["expand_dims", "permute_dims", "squeeze"]


@op(traits={Trait.MIXED_FOLLOW})
def permute_dims(x: Tensor, axes: Axes | None = None) -> Tensor:
    """`x` with its axes in another order: axis `i` of the result is axis `axes[i]` of `x`.

    Without `axes` the order is reversed.
    """
    return np.transpose(x, axes)


@permute_dims.infer_rule
def _(
    context: InferContext, x: TensorStructInfo, axes: tuple[int, ...] | None = None
) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    if axes is None:
        order = tuple(range(rank - 1, -1, -1))
    else:
        if rank not in (-1, len(axes)):
            raise OperandError(
                "axes",
                f"names {quantity(len(axes), 'axis')}",
                also={"x": f"has rank {rank}"},
                message="the permutation must name every axis once",
                code="RX0204",
            )
        order = axes_in(axes, len(axes), "axes", "x")
    if order == tuple(range(rank)):
        return x
    if dims is None:
        return tensor_of(None, x.dtype, x.vdevice, rank if axes is None else len(axes))
    return tensor_of([dims[axis] for axis in order], x.dtype, x.vdevice)


@permute_dims.compute()
def _(context: ComputeContext, x: Any, axes: tuple[int, ...] | None = None) -> Any:
    return topi.transpose(x, axes)


@permute_dims.layout_rule
def _(context: LayoutContext, x: Order, axes: tuple[int, ...] | None) -> InferLayoutOutput:
    order = range(len(x))[::-1] if axes is None else axes
    return InferLayoutOutput((x,), plain(len(x)), {"axes": places_of(order, x)})


@permute_dims.gradient
def _(context: GradientContext, x: Expr, axes: tuple[int, ...] | None) -> Gradients:
    if axes is None:
        return (R.permute_dims(context.grad),)
    rank = known_rank("x", x)
    order = [a % rank for a in axes]
    return (R.permute_dims(context.grad, [order.index(a) for a in range(rank)]),)


@op(traits={Trait.VIEW, Trait.MIXED_FOLLOW})
def expand_dims(x: Tensor, axis: Axes) -> Tensor:
    """`x` with new axes of one element, which are the axes `axis` of the result."""
    return np.expand_dims(x, axis)


@expand_dims.infer_rule
def _(context: InferContext, x: TensorStructInfo, axis: tuple[int, ...]) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    axes = axes_in(axis, rank, "axis", "x", extra=len(axis))
    if not axes:
        return x
    if dims is None:
        return tensor_of(None, x.dtype, x.vdevice, rank if rank < 0 else rank + len(axes))
    old = iter(dims)
    new = [ONE if index in axes else next(old) for index in range(rank + len(axes))]
    return tensor_of(new, x.dtype, x.vdevice)


@expand_dims.compute()
def _(context: ComputeContext, x: Any, axis: tuple[int, ...]) -> Any:
    return topi.transform.with_new_axes(x, axes_in(axis, x.ndim, extra=len(axis)))


@expand_dims.layout_rule
def _(context: LayoutContext, x: Order, axis: tuple[int, ...]) -> InferLayoutOutput:
    return InferLayoutOutput((x,), with_axes(x, axes_in(axis, len(x), extra=len(axis))))


@expand_dims.gradient
def _(context: GradientContext, x: Expr, axis: tuple[int, ...]) -> Gradients:
    return (reshape_like(context.grad, x),)


@op(traits={Trait.VIEW, Trait.MIXED_FOLLOW})
def squeeze(x: Tensor, axis: Axes | None = None) -> Tensor:
    """`x` without the axes `axis`, each of which has one element; all such axes where None."""
    return np.squeeze(x, axis)


@squeeze.infer_rule
def _(
    context: InferContext, x: TensorStructInfo, axis: tuple[int, ...] | None = None
) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    if axis is None:
        return _squeezed_all(context, x, dims)
    axes = axes_in(axis, rank)
    if not axes:
        return x
    if dims is None:
        left = -1 if rank < 0 else rank - len(axes)
        return tensor_of(None, x.dtype, x.vdevice, left)
    for index in axes:
        error = OperandError(
            "axis",
            f"names axis {index}",
            also={"x": f"has {dim_text(dims[index])} elements along axis {index}"},
            message="only an axis of one element can be removed",
            code="RX0204",
        )
        text = f"axis {index} of `x` has {dim_text(dims[index])} elements, not 1"
        require_equal(context, dims[index], ONE, error, text)
    return tensor_of([d for i, d in enumerate(dims) if i not in axes], x.dtype, x.vdevice)


@squeeze.gradient
def _(context: GradientContext, x: Expr, axis: tuple[int, ...] | None) -> Gradients:
    return (reshape_like(context.grad, x),)


def _squeezed_all(
    context: InferContext, x: TensorStructInfo, dims: tuple[PrimExpr, ...] | None
) -> StructInfo:
    if dims is None:
        return x if x.ndim == 0 else tensor_of(None, x.dtype, x.vdevice)
    is_one = [prove_equal(dim, ONE, context.facts) for dim in dims]
    if all(answer is NO for answer in is_one):
        return x
    if any(answer is not YES and answer is not NO for answer in is_one):
        # Whether such an axis stays depends on its size, and with it the rank.
        return tensor_of(None, x.dtype, x.vdevice)
    return tensor_of([d for d, a in zip(dims, is_one) if a is NO], x.dtype, x.vdevice)


@squeeze.layout_rule
def _(context: LayoutContext, x: Order, axis: tuple[int, ...] | None) -> InferLayoutOutput:
    if axis is not None:
        left = without_axes(x, axes_in(axis, len(x)))
        return InferLayoutOutput((x,), left, {"axis": tuple(sorted(places_of(axis, x)))})
    dims = dims_of(context.operands[0])
    if dims is None:
        return declined(context, (x,))
    return InferLayoutOutput(
        (x,), without_axes(x, [k for k, d in enumerate(dims) if prove_equal(d, ONE) is YES])
    )


@squeeze.compute()
def _(context: ComputeContext, x: Any, axis: tuple[int, ...] | None = None) -> Any:
    if axis is not None:
        return topi.transform.without_axes(x, axes_in(axis, x.ndim))
    # Of all axes those are left that the result has: there every size is none that is 1.
    left = [any(prove_equal(size, dim) is YES for dim in context.shape) for size in x.shape]
    return topi.transform.without_axes(x, [index for index, stays in enumerate(left) if not stays])

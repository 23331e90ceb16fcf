"""Channels and rows rearranged, and activations with a slope for each channel. Source: ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import R, known_dims, known_rank, reshape_like
from relaxscript.op.unary import clip
from relaxscript.opdef.composite import composite_op
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import InferLayoutOutput, LayoutContext, Order, place_of
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Tensor
from relaxscript.opdef.shapes import (
    axis_in,
    common_dtype,
    common_vdevice,
    dims_of,
    number,
    product,
    require_dtype,
    require_equal,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

__all__ = ["batch_flatten", "pixel_shuffle", "prelu", "relu6"]


@op("nn.prelu")
def prelu(data: Tensor, alpha: Tensor, axis: int = 1) -> Tensor:
    """`x` where it is above 0, else `x` times the `alpha` of its place along `axis`."""
    shape = [1] * data.ndim
    shape[axis] = alpha.size
    # Not every narrow format has a 0 to compare with.
    wide = data if data.dtype.itemsize >= 4 else data.astype(np.float32)
    return np.where(wide > 0, data, data * alpha.reshape(shape))


@prelu.infer_rule
def _(
    context: InferContext, data: TensorStructInfo, alpha: TensorStructInfo, axis: int = 1
) -> StructInfo:
    operands = {"data": data, "alpha": alpha}
    dtype, vdevice = common_dtype(operands), common_vdevice(operands)
    require_dtype("data", data.dtype, "float")
    dims, own = dims_of(data), dims_of(alpha)
    place = axis_in(axis, data.ndim if dims is None else len(dims), "axis", "data")
    if (alpha.ndim if own is None else len(own)) not in (-1, 1):
        raise OperandError(
            "alpha", shape_fact(alpha, own), message="there is one slope for each channel"
        )
    if dims is not None and own is not None and not same_dim(dims[place], own[0]):
        fact = f"has {dim_text(own[0])} elements"
        also = {"data": f"has {dim_text(dims[place])} elements along axis {place}"}
        text = f"`alpha` has {dim_text(own[0])} elements, and `data` {dim_text(dims[place])}"
        require_equal(context, dims[place], own[0], OperandError("alpha", fact, also=also), text)
    if dtype is data.dtype and vdevice is data.vdevice:
        return data
    return tensor_of(dims, dtype, vdevice, data.ndim)


@prelu.layout_rule
def _(context: LayoutContext, data: Order, alpha: Order, axis: int) -> InferLayoutOutput:
    return InferLayoutOutput((data, alpha), data, {"axis": place_of(axis, data)})


@prelu.compute()
def _(context: ComputeContext, data: te.Tensor, alpha: te.Tensor, axis: int = 1) -> te.Tensor:
    made: te.Tensor = topi.nn.prelu(data, alpha, axis)
    return made


@prelu.gradient
def _(context: GradientContext, data: Expr, alpha: Expr, axis: int) -> Gradients:
    grad, rank = context.grad, known_rank("data", data)
    others = [a for a in range(rank) if a != axis % rank]
    slopes = R.expand_dims(alpha, others) if others else alpha
    above = R.greater(data, 0.0)
    by_slope = R.where(above, 0.0, grad * data)
    return R.where(above, grad, grad * slopes), R.sum(by_slope, others)


@composite_op("nn.relu6")
def relu6(data: Tensor) -> Expr:
    """`min(max(x, 0), 6)`, which is `R.clip(data, 0, 6)`."""
    return clip.build((data, 0, 6))


@op("nn.batch_flatten", traits={Trait.MIXED_FOLLOW})
def batch_flatten(data: Tensor) -> Tensor:
    """All elements of each sample along one axis: the first axis stays."""
    return data.reshape(len(data), int(np.prod(data.shape[1:])))


@batch_flatten.compute()
def _(context: ComputeContext, data: te.Tensor) -> Any:
    return topi.nn.flatten(data)


@batch_flatten.infer_rule
def _(context: InferContext, data: TensorStructInfo) -> StructInfo:
    dims = dims_of(data)
    if (data.ndim if dims is None else len(dims)) == 0:
        raise OperandError("data", "has rank 0", message="there is an axis of samples")
    if dims is None:
        return tensor_of(None, data.dtype, data.vdevice, 2)
    return tensor_of((dims[0], product(dims[1:])), data.dtype, data.vdevice)


@batch_flatten.gradient
def _(context: GradientContext, data: Expr) -> Gradients:
    return (reshape_like(context.grad, data),)


@op("nn.pixel_shuffle", traits={Trait.MIXED_FOLLOW})
def pixel_shuffle(data: Tensor, upscale_factor: int) -> Tensor:
    """(N, C * r * r, H, W) as (N, C, H * r, W * r): channels become neighbours, `r` the factor."""
    *front, channels, height, width = data.shape
    r = upscale_factor
    split = data.reshape(*front, channels // (r * r), r, r, height, width)
    n = len(front)
    moved = split.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return moved.reshape(*front, channels // (r * r), height * r, width * r)


@pixel_shuffle.compute()
def _(context: ComputeContext, data: te.Tensor, upscale_factor: int) -> Any:
    return topi.nn.pixel_shuffle(data, upscale_factor)


@pixel_shuffle.attribute_rule
def _(upscale_factor: int) -> None:
    if upscale_factor < 1:
        raise OperandError(
            "upscale_factor",
            f"is {upscale_factor}",
            message="a tensor grows by a factor of at least 1",
            code="RX0204",
        )


@pixel_shuffle.infer_rule
def _(context: InferContext, data: TensorStructInfo, upscale_factor: int) -> StructInfo:
    dims = dims_of(data)
    rank = data.ndim if dims is None else len(dims)
    if 0 <= rank < 3:
        message = "there are axes of channels, rows and columns"
        raise OperandError("data", shape_fact(data, dims), message=message)
    if dims is None:
        return tensor_of(None, data.dtype, data.vdevice, rank)
    *front, channels, height, width = dims
    square = upscale_factor**2
    rest = simplify(prim.FloorMod.make(channels, number(square)))
    error = OperandError(
        "data",
        f"has {dim_text(channels)} channels",
        also={"upscale_factor": f"is {upscale_factor}"},
        message="the channels are a multiple of the square of the factor",
    )
    text = f"`data` has {dim_text(channels)} channels, a multiple of {square}"
    require_equal(context, rest, number(0), error, text)
    fewer = simplify(prim.FloorDiv.make(channels, number(square)))
    grown = [_times(dim, upscale_factor) for dim in (height, width)]
    return tensor_of((*front, fewer, *grown), data.dtype, data.vdevice)


@pixel_shuffle.gradient
def _(context: GradientContext, data: Expr, upscale_factor: int) -> Gradients:
    *front, channels, height, width = known_dims("data", data)
    r, n = upscale_factor, len(front)
    fewer = simplify(prim.FloorDiv.make(channels, number(r * r)))
    apart = R.reshape(context.grad, [*front, fewer, height, r, width, r])
    moved = R.permute_dims(apart, [*range(n + 1), n + 2, n + 4, n + 1, n + 3])
    return (reshape_like(moved, data),)


def _times(dim: PrimExpr, factor: int) -> PrimExpr:
    if isinstance(dim, IntImm):
        return number(dim.value * factor)
    return simplify(prim.Mul.make(dim, number(factor)))

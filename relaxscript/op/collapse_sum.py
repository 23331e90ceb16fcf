"""Sums that undo a broadcast, and how many elements a tensor has. Source: TVM `collapse_sum_to`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir.prim import cast
from relaxscript.ir.relax import Call, Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import shape_fact, shape_text
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import ShapeLike, Tensor
from relaxscript.opdef.shapes import (
    Dims,
    common_vdevice,
    dims_of,
    of_shape,
    product,
    require_dtype,
    require_spread,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi

from .gradients import broadcast_like, constant
from .numeric import accumulator

__all__ = ["collapse_sum_like", "collapse_sum_to", "size"]

_INT64 = DataType("int64")


@op()
def collapse_sum_to(data: Tensor, shape: ShapeLike) -> Tensor:
    """The sums over the axes along which a tensor of `shape` is repeated to be like `data`."""
    collapsed: Tensor = _collapse(data, tuple(shape))
    return collapsed


@op(alike=("data",))
def collapse_sum_like(data: Tensor, collapse_target: Tensor) -> Tensor:
    """As `R.collapse_sum_to`, to the shape of `collapse_target`."""
    collapsed: Tensor = _collapse(data, collapse_target.shape)
    return collapsed


def _collapse(data: Any, shape: tuple[int, ...]) -> Any:
    front = data.ndim - len(shape)
    axes = [i for i, size in enumerate(shape, front) if size == 1 and data.shape[i] != 1]
    wide = np.sum(data, (*range(front), *axes), accumulator(data.dtype), keepdims=True)
    return wide.reshape(shape).astype(data.dtype)


@collapse_sum_to.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    data, shape = collapse_sum_to.operand_infos(call, context)
    require_dtype("data", data.dtype, "number")
    _require_spread(context, data, shape.values, shape.ndim, "shape")
    return of_shape(call.args[1], shape, data)


@collapse_sum_like.infer_rule
def _(
    context: InferContext, data: TensorStructInfo, collapse_target: TensorStructInfo
) -> StructInfo:
    require_dtype("data", data.dtype, "number")
    vdevice = common_vdevice({"data": data, "collapse_target": collapse_target})
    wanted = dims_of(collapse_target)
    rank = collapse_target.ndim if wanted is None else len(wanted)
    _require_spread(context, data, wanted, rank, "collapse_target")
    return TensorStructInfo.make(collapse_target.shape, data.dtype, vdevice, rank)


@collapse_sum_to.compute(sums=4)
def _(context: ComputeContext, data: te.Tensor, shape: Any) -> Any:
    return topi.collapse_sum(data, shape)


@collapse_sum_like.compute(sums=4)
def _(context: ComputeContext, data: te.Tensor, collapse_target: te.Tensor) -> Any:
    return topi.collapse_sum(data, collapse_target.shape)


def _require_spread(
    context: InferContext, data: TensorStructInfo, wanted: Dims | None, rank: int, name: str
) -> None:
    """Require that `data` is what broadcasting makes of the wanted shape."""
    dims = dims_of(data)
    own = data.ndim if dims is None else len(dims)
    if -1 not in (own, rank) and own < rank:
        also = {name: f"has {quantity(rank, 'dimension')}"}
        raise OperandError("data", shape_fact(data, dims), also=also)
    if dims is None or wanted is None:
        return
    error = OperandError(
        "data",
        shape_fact(data, dims),
        also={name: f"says the shape {shape_text(wanted)}"},
        help="each dimension of the result must be 1, or that of `data`",
    )
    for a, b in zip(reversed(wanted), reversed(dims)):
        require_spread(context, a, b, error)


@collapse_sum_to.gradient
def _(context: GradientContext, data: Expr, shape: Expr) -> Gradients:
    return broadcast_like(context.grad, data), None


@collapse_sum_like.gradient
def _(context: GradientContext, data: Expr, collapse_target: Expr) -> Gradients:
    return broadcast_like(context.grad, data), *constant(context, collapse_target)


@op()
def size(expr: Tensor) -> Tensor:
    """The number of elements of a tensor, as a tensor of rank 0; int64."""
    return np.array(expr.size, np.int64)


@size.infer_rule
def _(context: InferContext, expr: TensorStructInfo) -> StructInfo:
    return tensor_of((), _INT64, expr.vdevice)


@size.compute()
def _(context: ComputeContext, expr: te.Tensor) -> Any:
    return te.compute((), lambda: cast(product(expr.shape), _INT64), "T_size")


size.lacks("gradient", "its result is an integer")

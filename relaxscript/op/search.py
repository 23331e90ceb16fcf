"""Choosing elements by conditions, by indices, and finding the places of extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.families import compute_elements, reduce_info
from relaxscript.opdef.format import shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import (
    InferLayoutOutput,
    LayoutContext,
    Order,
    declined,
    follow,
    place_of,
    plain,
    without_axes,
)
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Scalar, Tensor
from relaxscript.opdef.shapes import (
    axis_in,
    broadcast_shapes,
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

from .gradients import R, known_dims, known_rank, length_of, undo_broadcast

__all__ = ["argmax", "argmin", "take", "where"]

_INT64 = DataType("int64")


@op(alike=("x1", "x2"))
def where(condition: Scalar, x1: Scalar, x2: Scalar) -> Tensor:
    """`x1` where `condition` is true, else `x2`; all three broadcast to each other."""
    return np.where(condition, x1, x2)


@where.infer_rule
def _(
    context: InferContext,
    condition: TensorStructInfo,
    x1: TensorStructInfo,
    x2: TensorStructInfo,
) -> StructInfo:
    require_dtype("condition", condition.dtype, "bool")
    dtype = common_dtype({"x1": x1, "x2": x2})
    operands = {"condition": condition, "x1": x1, "x2": x2}
    vdevice = common_vdevice(operands)
    if condition.dims is None and condition.shape is not None:
        held = condition.shape
        if x1.shape is held and x2.shape is held:
            return TensorStructInfo.make(held, dtype, vdevice, condition.ndim)
    dims, rank = broadcast_shapes(context, operands)
    return tensor_of(dims, dtype, vdevice, rank)


compute_elements(where, lambda condition, a, b: te.element.select(condition, a, b))
where.layout_rule(follow)


@where.gradient
def _(context: GradientContext, condition: Expr, x1: Expr, x2: Expr) -> Gradients:
    chosen = R.where(condition, context.grad, 0.0), R.where(condition, 0.0, context.grad)
    return None, undo_broadcast(chosen[0], x1), undo_broadcast(chosen[1], x2)


# ---------------------------------------------------------------- by index


@op(alike=("x",))
def take(x: Tensor, indices: Scalar, axis: int | None = None, mode: str = "fast") -> Tensor:
    """The elements (or slices along `axis`) of `x` at `indices`, in place of that axis.

    Without `axis`, `x` must have rank 1. Indices count from 0. With `mode` "fast" each must be
    there. "clip" takes the nearest that is there, "wrap" counts on from the other end. Raises
    `IndexError` for an index that is not there. Source: TVM `relax.take`.
    """
    where = (0 if axis is None else axis) % x.ndim
    size = x.shape[where]
    if mode == "fast" and indices.size and not (indices.min() >= 0 and indices.max() < size):
        outside = indices.min() if indices.min() < 0 else indices.max()
        raise IndexError(f"the index {outside} is not among the {size} along axis {where}")
    if size == 0 and indices.size:
        raise IndexError(f"there is nothing to take along axis {where}, which has 0 elements")
    taken: Tensor = np.take(x, indices, axis=where, mode="wrap" if mode == "wrap" else "clip")
    return taken


@take.attribute_rule
def _(axis: int | None, mode: str) -> None:
    if mode not in ("fast", "clip", "wrap"):
        raise OperandError(
            "mode",
            f"is {mode!r}",
            message='the mode of `R.take` is "fast", "clip" or "wrap"',
            code="RX0204",
        )


@take.infer_rule
def _(
    context: InferContext,
    x: TensorStructInfo,
    indices: TensorStructInfo,
    axis: int | None = None,
    mode: str = "fast",
) -> StructInfo:
    require_dtype("indices", indices.dtype, "integer")
    vdevice = common_vdevice({"x": x, "indices": indices})
    dims, places = dims_of(x), dims_of(indices)
    rank = x.ndim if dims is None else len(dims)
    if axis is None and rank not in (-1, 1):
        raise OperandError(
            "x",
            shape_fact(x, dims),
            message="`R.take` needs an axis here",
            help="without `axis=`, `x` must have rank 1: name the axis along which to take",
        )
    found = axis_in(0 if axis is None else axis, rank)
    if dims is None or places is None:
        known = rank >= 0 and indices.ndim >= 0
        result = rank - 1 + indices.ndim if known else -1
        return tensor_of(None, x.dtype, vdevice, result)
    return tensor_of((*dims[:found], *places, *dims[found + 1 :]), x.dtype, vdevice)


@take.layout_rule
def _(
    context: LayoutContext, x: Order, indices: Order, axis: int | None, mode: str
) -> InferLayoutOutput:
    # The axes of the indices, as they are, are where the axis was along which is taken.
    along, more = (0 if axis is None else axis) % len(x), len(indices)
    new = range(along, along + more)
    result: list[int] = []
    for place in x:
        result += new if place == along else [place if place < along else place - 1 + more]
    changed = {} if axis is None else {"axis": place_of(axis, x)}
    return InferLayoutOutput((x, plain(more)), tuple(result), changed)


@take.compute()
def _(
    context: ComputeContext, x: Any, indices: Any, axis: int | None = None, mode: str = "fast"
) -> Any:
    return topi.take(x, indices, 0 if axis is None else axis, mode=mode)


@take.gradient
def _(context: GradientContext, x: Expr, indices: Expr, axis: int | None, mode: str) -> Gradients:
    if mode != "fast":
        size = length_of(known_dims("x", x)[(axis or 0) % known_rank("x", x)])
        places = R.astype(indices, "int64")
        if mode == "wrap":
            indices = R.floor_mod(places, size)
        else:
            indices = R.maximum(R.minimum(places, size - 1), 0)
    return R.grad.take_backward(context.grad, x, indices, axis), None


# ---------------------------------------------------------------- places of extremes


def _place(x: Any, axis: int | None, keepdims: bool, function: Callable[..., Any]) -> Any:
    along = x.size if axis is None else x.shape[axis]
    if along:
        return np.asarray(function(x, axis=axis, keepdims=keepdims)).astype(np.int64)
    axes = range(x.ndim) if axis is None else (axis % x.ndim,)
    kept = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
    return np.full(kept, -1, np.int64)


@op(traits={Trait.NUMPY_IS_FASTER})
def argmax(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the largest element along `axis`, counted from 0; int64.

    Without `axis` the elements are counted in row-major order. The first of several, the first NaN
    if there is one, -1 where there is none.
    """
    result: Tensor = _place(x, axis, keepdims, np.argmax)
    return result


@op(traits={Trait.NUMPY_IS_FASTER})
def argmin(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the smallest element along `axis`, counted from 0; int64.

    Without `axis` the elements are counted in row-major order. The first of several, the first NaN
    if there is one, -1 where there is none.
    """
    result: Tensor = _place(x, axis, keepdims, np.argmin)
    return result


def _place_info(
    context: InferContext, x: TensorStructInfo, axis: int | None = None, keepdims: bool = False
) -> StructInfo:
    require_dtype("x", x.dtype, "any")
    return reduce_info(x, None if axis is None else (axis,), keepdims, _INT64)


argmax.infer_rule(_place_info)
argmin.infer_rule(_place_info)


@argmax.layout_rule
@argmin.layout_rule
def _(context: LayoutContext, x: Order, axis: int | None, keepdims: bool) -> InferLayoutOutput:
    if axis is None:  # elements are counted in the order in which they are
        return declined(context, (x,))
    result = x if keepdims else without_axes(x, (axis % len(x),))
    return InferLayoutOutput((x,), result, {"axis": place_of(axis, x)})


@argmax.compute()
def _(context: ComputeContext, x: Any, axis: int | None, keepdims: bool) -> Any:
    return topi.argmax(x, axis, keepdims)


@argmin.compute()
def _(context: ComputeContext, x: Any, axis: int | None, keepdims: bool) -> Any:
    return topi.argmin(x, axis, keepdims)


for _operator in (argmax, argmin):
    _operator.lacks("gradient", "its results are integers")

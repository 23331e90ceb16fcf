"""Elements in the middle of an order. Source: TVM `relax.median`, PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.relax import Expr, TupleGetItem
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.families import reduce_info
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor, Value
from relaxscript.opdef.shapes import require_dtype
from relaxscript.opdef.tensor_expressions import topi

from .gradients import R, reshape_like
from .ordering import rank_keys

__all__ = ["median"]

_INT64 = DataType("int64")


@op()
def median(x: Tensor, axis: Axes | None = None, keepdims: bool = False) -> Value:
    """The element in the middle of the order of all elements; of two in the middle the lower one.

    With `axis`, a tuple: the elements in the middle along this axis, and their indices (int64). Of
    equal elements the order is that in which they are. NaN if there is one, and the index of the
    first. Of nothing it is NaN, 0 for integers, and the index -1.
    """
    (place,) = (0,) if axis is None else (axis[0] % x.ndim,)
    data = x.reshape(-1) if axis is None else x
    indices = _middle(data, place)
    if data.shape[place]:
        values = np.take_along_axis(data, indices, place)
    else:
        nothing = 0 if x.dtype.kind in "iu" else math.nan
        values = np.full(indices.shape, nothing).astype(x.dtype)
    if axis is None:
        return values.reshape((1,) * x.ndim if keepdims else ())
    return tuple(e if keepdims else e.squeeze(place) for e in (values, indices))


def _middle(x: Any, axis: int) -> Any:
    """The index of the element in the middle along an axis, which stays with size 1."""
    size = x.shape[axis]
    order = np.argsort(rank_keys(x), axis=axis, kind="stable")
    missing = np.count_nonzero(x != x, axis=axis, keepdims=True)
    if not size:
        return np.full(missing.shape, -1)
    return np.take_along_axis(order, np.where(missing, size - missing, (size - 1) // 2), axis)


@median.attribute_rule
def _(axis: tuple[int, ...] | None, keepdims: bool) -> None:
    if axis is not None and len(axis) != 1:
        raise OperandError(
            "axis", f"names {len(axis)} axes", code="RX0204",
            message="a median is taken along one axis, or of all elements",
        )  # fmt: skip


@median.infer_rule
def _(
    context: InferContext, x: TensorStructInfo, axis: tuple[int, ...] | None, keepdims: bool
) -> StructInfo:
    require_dtype("x", x.dtype, "number")
    values = reduce_info(x, axis, keepdims, x.dtype)
    if axis is None:
        return values
    return TupleStructInfo.make((values, reduce_info(x, axis, keepdims, _INT64)))


@median.compute()
def _(context: ComputeContext, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    return topi.median(x, None if axis is None else axis[0], keepdims)


@median.gradient
def _(context: GradientContext, x: Expr, axis: tuple[int, ...] | None, keepdims: bool) -> Gradients:
    if axis is None:
        flat = R.flatten(x)
        places = TupleGetItem.make(R.median(flat, [0], True), 1)
        grad = R.reshape(context.grad, [1])
        return (reshape_like(R.scatter_elements(R.zeros_like(flat), places, grad, 0), x),)
    grad, places = context.field(0), TupleGetItem.make(context.out, 1)
    if not keepdims:
        grad, places = R.expand_dims(grad, axis), R.expand_dims(places, axis)
    return (R.scatter_elements(R.zeros_like(x), places, grad, axis[0]),)

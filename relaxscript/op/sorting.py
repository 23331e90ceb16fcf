"""Elements in order along an axis. Equal ones keep their order; NaN counts as the largest."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.relax import Expr, TupleGetItem
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import along_axis
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import DType, Tensor, Value
from relaxscript.opdef.shapes import (
    axis_in,
    dims_of,
    number,
    require_dtype,
    require_result_dtype,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.opdef.traits import Trait

from .gradients import R
from .ordering import ordered_like

__all__ = ["argsort", "sort", "topk"]


def _order(x: Any, axis: int, descending: bool) -> Any:
    """The indices along `axis` that sort the elements."""
    keys = ordered_like(x)
    if not descending:
        return np.argsort(keys, axis=axis, kind="stable")
    # Turned round twice, so that equal elements keep their order.
    last = x.shape[axis] - 1
    return last - np.flip(np.argsort(np.flip(keys, axis), axis=axis, kind="stable"), axis)


@op(traits={Trait.NUMPY_IS_FASTER})
def sort(x: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """The elements along `axis` in ascending order, or in descending order."""
    sorted_: Tensor = np.take_along_axis(x, _order(x, axis, descending), axis)
    return sorted_


@sort.infer_rule
def _(
    context: InferContext, x: TensorStructInfo, axis: int = -1, descending: bool = False
) -> StructInfo:
    require_dtype("x", x.dtype, "any")
    dims = dims_of(x)
    axis_in(axis, x.ndim if dims is None else len(dims))
    return x


sort.layout_rule(along_axis)


@sort.compute()
def _(context: ComputeContext, x: Any, axis: int = -1, descending: bool = False) -> Any:
    return topi.sort(x, axis, not descending)


@sort.gradient
def _(context: GradientContext, x: Expr, axis: int, descending: bool) -> Gradients:
    order = R.argsort(x, axis, descending, "int64")
    return (R.scatter_elements(R.zeros_like(x), order, context.grad, axis),)


@op(traits={Trait.NUMPY_IS_FASTER})
def argsort(
    data: Tensor,
    axis: int = -1,
    descending: bool = False,
    dtype: DType = "int32",  # type: ignore[assignment]
) -> Tensor:
    """The indices along `axis` that sort the elements, counted from 0."""
    found: Tensor = _order(data, axis, descending).astype(dtype.numpy)
    return found


@argsort.infer_rule
def _(
    context: InferContext, data: TensorStructInfo, axis: int, descending: bool, dtype: DataType
) -> StructInfo:
    require_dtype("data", data.dtype, "any")
    require_result_dtype("dtype", dtype, "number")
    dims = dims_of(data)
    axis_in(axis, data.ndim if dims is None else len(dims), "axis", "data")
    return TensorStructInfo.make(data.shape, dtype, data.vdevice, data.ndim)


argsort.layout_rule(along_axis)


@argsort.compute()
def _(context: ComputeContext, data: Any, axis: int, descending: bool, dtype: DataType) -> Any:
    return topi.argsort(data, None, axis, not descending, str(dtype))


@op(traits={Trait.NUMPY_IS_FASTER})
def topk(
    data: Tensor,
    k: int = 1,
    axis: int = -1,
    ret_type: str = "both",
    largest: bool = True,
    dtype: DType = "int32",  # type: ignore[assignment]
) -> Value:
    """The `k` largest elements along `axis` in order, or the smallest.

    They are all of them where `k` is below 1, or more than there are.

    `ret_type` says what of them: "values", "indices" (where they are found, counted from 0, in
    `dtype`), or "both", as a tuple.
    """
    count = data.shape[axis] if k < 1 else min(k, data.shape[axis])
    places = np.take(_order(data, axis, largest), np.arange(count), axis=axis)
    values = np.take_along_axis(data, places, axis)
    indices = places.astype(dtype.numpy)
    return {"both": (values, indices), "values": values, "indices": indices}[ret_type]


@topk.attribute_rule
def _(ret_type: str, **others: Any) -> None:
    if ret_type not in ("both", "values", "indices"):
        raise OperandError(
            "ret_type",
            f"is {ret_type!r}",
            message='`R.topk` gives "both", "values" or "indices"',
            code="RX0204",
        )


@topk.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    k: int,
    axis: int,
    ret_type: str,
    largest: bool,
    dtype: DataType,
) -> StructInfo:
    require_dtype("data", data.dtype, "any")
    require_result_dtype("dtype", dtype, "integer")
    dims = dims_of(data)
    rank = data.ndim if dims is None else len(dims)
    place = axis_in(axis, rank, "axis", "data")
    if dims is not None and k >= 1:
        most = simplify(prim.Min.make(dims[place], number(k)))
        dims = (*dims[:place], most, *dims[place + 1 :])
    values = tensor_of(dims, data.dtype, data.vdevice, rank)
    indices = tensor_of(dims, dtype, data.vdevice, rank)
    if ret_type == "both":
        return TupleStructInfo.make((values, indices))
    return values if ret_type == "values" else indices


topk.layout_rule(along_axis)


@topk.compute()
def _(
    context: ComputeContext, data: Any, k: int, axis: int, ret_type: str, largest: bool,
    dtype: DataType,
) -> Any:  # fmt: skip
    return topi.topk(data, k, axis, ret_type, not largest, str(dtype))


@topk.gradient
def _(
    context: GradientContext,
    data: Expr,
    k: int,
    axis: int,
    ret_type: str,
    largest: bool,
    **other: Any,
) -> Gradients:
    if ret_type == "both":
        grad, places = context.field(0), TupleGetItem.make(context.out, 1)
    else:
        grad, places = context.grad, R.topk(data, k, axis, "indices", largest, "int64")
    return (R.scatter_elements(R.zeros_like(data), places, grad, axis),)


argsort.lacks("gradient", "its results are integers")

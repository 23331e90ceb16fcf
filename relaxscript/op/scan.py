"""Running sums and products. Source: TVM `relax.cumsum`, numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import along_axis
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import DType, Tensor
from relaxscript.opdef.shapes import (
    axis_in,
    dims_of,
    product,
    require_dtype,
    require_result_dtype,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import topi

from .gradients import R, cast_like, reshape_like
from .numeric import accumulator
from .pieces import PIECE, pieces

__all__ = ["cumprod", "cumsum"]


@op()
def cumsum(
    data: Tensor, axis: int | None = None, dtype: DType | None = None, exclusive: bool = False
) -> Tensor:
    """The sums of all elements up to each along `axis`, or of all elements in row-major order.

    `exclusive` leaves the element itself out. The result has the dtype of `data` unless `dtype`
    names one. Floats are added up in a wider type.
    """
    found: Tensor = _accumulate(data, axis, dtype, exclusive, np.add, 0)
    return found


@op()
def cumprod(
    data: Tensor, axis: int | None = None, dtype: DType | None = None, exclusive: bool = False
) -> Tensor:
    """The products of all elements up to each along `axis`, or of all in row-major order.

    `exclusive` leaves the element itself out. The result has the dtype of `data` unless `dtype`
    names one. Floats are multiplied in a wider type.
    """
    found: Tensor = _accumulate(data, axis, dtype, exclusive, np.multiply, 1)
    return found


def _accumulate(
    data: Any,
    axis: int | None,
    dtype: DataType | None,
    exclusive: bool,
    scan: np.ufunc,
    neutral: int,
) -> Any:
    element = data.dtype if dtype is None else dtype.numpy
    values = np.moveaxis(data.ravel() if axis is None else data, 0 if axis is None else axis, 0)
    result = np.full(values.shape, neutral, element)
    into = result[1:] if exclusive else result
    values = values[:-1] if exclusive else values
    for piece in pieces(values.shape, (0,)):
        _scan(into[piece], values[piece].astype(element, copy=False), scan)
    return np.ascontiguousarray(np.moveaxis(result, 0, axis or 0))


def _scan(result: Any, values: Any, scan: np.ufunc) -> None:
    """The running sums or products along the first axis, so many at a time."""
    wide = accumulator(values.dtype)
    step = max(PIECE * len(values) // max(values.size, 1), 1)
    before: Any = None
    for start in range(0, len(values), step):
        part = values[start : start + step].astype(wide)
        if before is not None:
            part[0] = scan(before, part[0])
        part = scan.accumulate(part, axis=0)
        before = part[-1]
        result[start : start + step] = part.astype(result.dtype)


def _scan_rule(operator: Operator) -> None:
    operator.layout_rule(along_axis)

    @operator.infer_rule
    def rule(
        context: InferContext,
        data: TensorStructInfo,
        axis: int | None = None,
        dtype: DataType | None = None,
        exclusive: bool = False,
    ) -> StructInfo:
        require_dtype("data", data.dtype, "number" if dtype is None else "any")
        if dtype is not None:
            require_result_dtype("dtype", dtype, "number")
        dims = dims_of(data)
        if axis is not None:
            axis_in(axis, data.ndim if dims is None else len(dims), "axis", "data")
            if dtype is None or dtype is data.dtype:
                return data
            return TensorStructInfo.make(data.shape, dtype, data.vdevice, data.ndim)
        flat = None if dims is None else (product(dims),)
        return tensor_of(flat, dtype or data.dtype, data.vdevice, 1)


@cumsum.compute()
def _(
    context: ComputeContext, data: Any, axis: int | None, dtype: DataType | None, exclusive: bool
) -> Any:
    return topi.cumsum(data, axis, dtype, exclusive)


@cumprod.compute()
def _(
    context: ComputeContext, data: Any, axis: int | None, dtype: DataType | None, exclusive: bool
) -> Any:
    return topi.cumprod(data, axis, dtype, exclusive)


_scan_rule(cumsum)
_scan_rule(cumprod)


# ---------------------------------------------------------------- gradients


@cumsum.gradient
def _(
    context: GradientContext, data: Expr, axis: int | None, dtype: Any, exclusive: bool
) -> Gradients:
    found = _sum_backwards(context.grad, axis or 0, exclusive)
    return (cast_like(reshape_like(found, data) if axis is None else found, data),)


def _sum_backwards(x: Expr, axis: int, exclusive: bool) -> Expr:
    """The sums of all elements from each on along an axis."""
    found: Expr = R.flip(R.cumsum(R.flip(x, axis), axis, exclusive=exclusive), axis)
    return found


@cumprod.gradient
def _(
    context: GradientContext, data: Expr, axis: int | None, dtype: Any, exclusive: bool
) -> Gradients:
    grad, along = context.grad, axis or 0
    x = cast_like(R.flatten(data) if axis is None else data, grad)
    # A product divided by a factor is that of the others. Behind the first 0 all products are 0.
    # By that one itself only the others count: it is replaced by 1.
    zero = R.equal(x, 0.0)
    zeros_so_far = R.cumsum(R.astype(zero, "int64"), along)
    first = R.logical_and(zero, R.equal(zeros_so_far, 1))
    factors = R.where(first, 1.0, x)
    others = R.cumprod(factors, along, exclusive=exclusive)
    found = R.where(
        first,
        _sum_backwards(grad * others, along, exclusive),
        _sum_backwards(grad * context.out, along, exclusive) / R.where(zero, 1.0, x),
    )
    return (cast_like(reshape_like(found, data) if axis is None else found, data),)

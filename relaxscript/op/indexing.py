"""Parts of a tensor at the places that tensors of indices name, and new ones there.

Indices count from the start, or from the end where they are negative, as those of Python do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact, shape_text
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import DType, Tensor, Tensors
from relaxscript.opdef.shapes import (
    Dims,
    broadcast_shapes,
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    require_result_dtype,
    require_spread,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.opdef.traits import Trait

from .gradients import R, number_elements, undo_broadcast
from .numeric import places_along
from .ordering import ordered_like

__all__ = ["bucketize", "index_put", "index_tensor", "searchsorted"]

_INT32, _INT64 = DataType("int32"), DataType("int64")


@op(alike=())
def index_tensor(data: Tensor, indices: Tensors) -> Tensor:
    """The parts of `data` at `indices`, which hold the places along its first axes.

    The tensors of indices broadcast to each other; the result has their axes, then the other axes
    of `data`. Raises `IndexError` for an index that is not there.
    """
    found: Tensor = data[_places(data, indices)]
    return found


def _places(data: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    found = [places_along(part, data.shape[axis], axis) for axis, part in enumerate(indices)]
    return tuple(found)


@index_tensor.infer_rule
def _(
    context: InferContext, data: TensorStructInfo, indices: tuple[TensorStructInfo, ...]
) -> StructInfo:
    vdevice = common_vdevice({"data": data, **_name_operands(indices)})
    dims, rank = _index_dims(context, data, indices)
    return tensor_of(dims, data.dtype, vdevice, rank)


@index_tensor.compute()
def _(context: ComputeContext, data: Any, indices: Any) -> Any:
    return topi.index_tensor(data, indices)


def _name_operands(indices: Sequence[TensorStructInfo]) -> dict[str, TensorStructInfo]:
    return {f"indices[{axis}]": info for axis, info in enumerate(indices)}


def _index_dims(
    context: InferContext, data: TensorStructInfo, indices: Sequence[TensorStructInfo]
) -> tuple[Dims | None, int]:
    """The dimensions of the parts at some indices, and how many they are."""
    dims = dims_of(data)
    rank = data.ndim if dims is None else len(dims)
    if not indices:
        raise OperandError("indices", "is empty", help="give indices along one axis at least")
    if rank >= 0 and len(indices) > rank:
        fact = f"holds indices along {quantity(len(indices), 'axis')}"
        raise OperandError("indices", fact, also={"data": shape_fact(data, dims)})
    named = _name_operands(indices)
    for name, info in named.items():
        require_dtype(name, info.dtype, "integer")
    places, places_rank = broadcast_shapes(context, named)
    if places is None or dims is None:
        known = places_rank >= 0 and rank >= 0
        return None, places_rank + rank - len(indices) if known else -1
    return (*places, *dims[len(indices) :]), -1


@op(alike=("data", "values"), traits={Trait.NUMPY_IS_FASTER})
def index_put(data: Tensor, indices: Tensors, values: Tensor, accumulate: bool = False) -> Tensor:
    """`data` with `values` at `indices`, which hold the places along its first axes.

    `values` broadcast to the parts that `R.index_tensor` gives. Where a place comes twice, the last
    value stays; with `accumulate` all are added to what is there. Raises `IndexError` for an index
    that is not there.
    """
    result = data.copy()
    places = _places(data, indices)
    if accumulate:
        np.add.at(result, places, values)
    else:
        result[places] = values
    return result


@index_put.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    indices: tuple[TensorStructInfo, ...],
    values: TensorStructInfo,
    accumulate: bool = False,
) -> StructInfo:
    dtype = common_dtype({"data": data, "values": values})
    require_dtype("data", data.dtype, "number" if accumulate else "any")
    vdevice = common_vdevice({"data": data, **_name_operands(indices), "values": values})
    dims, rank = _index_dims(context, data, indices)
    given = dims_of(values)
    rank = rank if dims is None else len(dims)
    own = values.ndim if given is None else len(given)
    shape = f"rank {rank}" if dims is None else f"shape {shape_text(dims)}"
    also = {"indices": f"names parts of {shape}"}
    error = OperandError("values", shape_fact(values, given), also=also)
    if own > rank >= 0:
        raise error
    if dims is not None and given is not None:
        for a, b in zip(reversed(given), reversed(dims)):
            require_spread(context, a, b, error)
    return tensor_of(dims_of(data), dtype, vdevice, data.ndim)


@index_put.compute()
def _(
    context: ComputeContext, data: Any, indices: Any, values: Any, accumulate: bool = False
) -> Any:
    return topi.index_put(data, indices, values, accumulate)


@index_tensor.gradient
def _(context: GradientContext, data: Expr, indices: Expr) -> Gradients:
    return R.index_put(R.zeros_like(data), indices, context.grad, True), None


@index_put.gradient
def _(
    context: GradientContext, data: Expr, indices: Expr, values: Expr, accumulate: bool
) -> Gradients:
    parts = R.index_tensor(context.grad, indices)
    if accumulate:
        return context.grad, None, undo_broadcast(parts, values)
    # Of several values for one place the last one stays.
    numbers = number_elements(parts)
    last = R.index_put(R.zeros_like(data, "int64"), indices, numbers)
    stays = R.equal(R.index_tensor(last, indices), numbers)
    by_data = R.index_put(context.grad, indices, R.zeros_like(values))
    return by_data, None, undo_broadcast(R.where(stays, parts, 0.0), values)


# ---------------------------------------------------------------- where a value belongs


@op(alike=("input_tensor", "boundaries"))
def bucketize(
    input_tensor: Tensor, boundaries: Tensor, out_int32: bool = False, right: bool = False
) -> Tensor:
    """For each element the number of `boundaries`, which are in order, that are below it.

    A boundary that equals the element counts with `right` only. The result holds int64, or int32
    with `out_int32`.
    """
    keys = ordered_like(boundaries), ordered_like(input_tensor)
    found = np.searchsorted(*keys, "right" if right else "left")
    return np.asarray(found).astype(np.int32 if out_int32 else np.int64)


@bucketize.infer_rule
def _(
    context: InferContext,
    input_tensor: TensorStructInfo,
    boundaries: TensorStructInfo,
    out_int32: bool = False,
    right: bool = False,
) -> StructInfo:
    operands = {"input_tensor": input_tensor, "boundaries": boundaries}
    common_dtype(operands)
    vdevice = common_vdevice(operands)
    dims = dims_of(boundaries)
    if (boundaries.ndim if dims is None else len(dims)) not in (-1, 1):
        message = "the boundaries are a row of numbers in order"
        raise OperandError("boundaries", shape_fact(boundaries, dims), message=message)
    element = _INT32 if out_int32 else _INT64
    return tensor_of(dims_of(input_tensor), element, vdevice, input_tensor.ndim)


@bucketize.compute()
def _(
    context: ComputeContext, input_tensor: Any, boundaries: Any, out_int32: bool = False,
    right: bool = False,
) -> Any:  # fmt: skip
    return topi.searchsorted(boundaries, input_tensor, right, str(context.dtype))


bucketize.lacks("gradient", "its results are integers")


@op(alike=("sorted_sequence", "values"))
def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    right: bool = False,
    dtype: DType = "int32",  # type: ignore[assignment]
) -> Tensor:
    """For each of `values` its place in a sequence in order: the number of elements below it.

    With `right` the elements that equal it count, too. The sequence is a row for all values, or the
    rows along its last axis are for those of `values`. Source: TVM `topi.searchsorted`, numpy.
    """
    keys, wanted = ordered_like(sorted_sequence), ordered_like(values)
    side: Any = "right" if right else "left"
    if keys.ndim == 1:
        return np.asarray(np.searchsorted(keys, wanted, side)).astype(dtype.numpy)
    result = np.empty(values.shape, dtype.numpy)
    for row in np.ndindex(keys.shape[:-1]):
        result[row] = np.searchsorted(keys[row], wanted[row], side)
    return result


@searchsorted.infer_rule
def _(
    context: InferContext,
    sorted_sequence: TensorStructInfo,
    values: TensorStructInfo,
    right: bool,
    dtype: DataType,
) -> StructInfo:
    operands = {"sorted_sequence": sorted_sequence, "values": values}
    common_dtype(operands)
    vdevice = common_vdevice(operands)
    require_result_dtype("dtype", dtype, "integer")
    rows, dims = dims_of(sorted_sequence), dims_of(values)
    rank = sorted_sequence.ndim if rows is None else len(rows)
    own = values.ndim if dims is None else len(dims)
    fact = shape_fact(sorted_sequence, rows)
    if rank == 0:
        raise OperandError("sorted_sequence", fact, message="a sequence has one axis at least")
    if rank > 1 and own not in (-1, rank):
        also, help = {"sorted_sequence": fact}, f"it has rank {rank}, or the sequence rank 1"
        raise OperandError("values", shape_fact(values, dims), also=also, help=help)
    if rows is not None and dims is not None and len(rows) > 1:
        for axis, (a, b) in enumerate(zip(rows[:-1], dims)):
            if not same_dim(a, b):
                said = f"has {dim_text(b)} elements along axis {axis}"
                also = {"sorted_sequence": f"has {dim_text(a)} there"}
                text = f"`values` {said}, not {dim_text(a)}"
                require_equal(context, a, b, OperandError("values", said, also=also), text)
    return tensor_of(dims, dtype, vdevice, values.ndim)


@searchsorted.compute()
def _(
    context: ComputeContext, sorted_sequence: Any, values: Any, right: bool, dtype: DataType
) -> Any:
    return topi.searchsorted(sorted_sequence, values, right, str(dtype))


searchsorted.lacks("gradient", "its results are integers")

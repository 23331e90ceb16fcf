"""Distinct elements, and the indices of elements that are not 0. Source: numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Tensor, Value
from relaxscript.opdef.shapes import ONE, axis_in, dims_of, require_dtype, tensor_of

from .ordering import rank_keys

__all__ = ["nonzero", "unique"]

_INT64 = DataType("int64")


@op()
def unique(
    x: Tensor,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Value:
    """The elements of `x` (or its slices along `axis`), each once, in ascending order.

    NaN is one element, the largest; -0 is 0. They come in the order in which they are met where
    `sorted` is False. With any of the `return_…` they are the first of a tuple. Behind them, as
    int64, are where each is met first, which one each element of `x` is, and their counts.
    """
    rows = x.reshape(x.size, 1) if axis is None else _slices(x, axis)
    first, inverse, counts = _distinct(rank_keys(rows))
    if not sorted:
        order = np.argsort(first, kind="stable")
        first, counts = first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    found = np.take(x, first) if axis is None else np.take(x, first, axis)
    further = ((return_index, first), (return_inverse, inverse), (return_counts, counts))
    wanted = [part.astype(np.int64) for asked, part in further if asked]
    return (found, *wanted) if wanted else found


def _slices(x: Any, axis: int) -> Any:
    """The slices along `axis` as rows."""
    return np.moveaxis(x, axis, 0).reshape(x.shape[axis], x.size // max(x.shape[axis], 1))


def _distinct(rows: Any) -> tuple[Any, Any, Any]:
    """Of the distinct rows of integers in order: the first of each, which each row is, how many."""
    count = len(rows)
    # By the last column first: each sorting leaves the order of the columns behind it.
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(count)
    ordered = rows[order]
    begins = np.ones(count, bool)
    begins[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    starts = np.flatnonzero(begins)
    inverse = np.empty(count, np.int64)
    inverse[order] = np.cumsum(begins) - 1
    return order[starts], inverse, np.diff(starts, append=count)


@unique.infer_rule
def _(
    context: InferContext,
    x: TensorStructInfo,
    sorted: bool,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    axis: int | None,
) -> StructInfo:
    require_dtype("x", x.dtype, "any")
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    if axis is not None:
        axis_in(axis, rank)
    single = (ONE,) if rank == 0 else None
    found = tensor_of(single, x.dtype, x.vdevice, 1 if axis is None else rank)
    places = tensor_of(single, _INT64, x.vdevice, 1)
    further = [places for asked in (return_index, return_inverse, return_counts) if asked]
    return TupleStructInfo.make((found, *further)) if further else found


@op()
def nonzero(x: Tensor) -> Tensor:
    """The indices of the elements that are not 0: a row for each axis, int64.

    There is a column for each element. The one element of a tensor of rank 0 counts as one along an
    axis.
    """
    places: Any = np.nonzero(np.atleast_1d(x))
    return np.stack(places).astype(np.int64)


@nonzero.infer_rule
def _(context: InferContext, x: TensorStructInfo) -> StructInfo:
    require_dtype("x", x.dtype, "any")
    return tensor_of(None, _INT64, x.vdevice, 2)


for _operator in (unique, nonzero):
    _operator.lacks("compute", "the shape of its result depends on the elements", packed=True)
    _operator.lacks("gradient", "the shape of its result depends on data")

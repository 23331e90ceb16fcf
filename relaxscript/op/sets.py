"""Which elements there are, and where they are. Source: numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo

from .context import InferContext
from .define import op
from .parameters import Tensor, Value
from .shapes import axis_in, dims_of, require_dtype, tensor_of

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

    They come in the order in which they are met where `sorted` is False. With any of the `return_…`
    they are the first of a tuple: behind them, as int64, where each is met first, which of them
    each element of `x` is, and how many of each there are.
    """
    found, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.ravel()
    if not sorted:
        order = np.argsort(first, kind="stable")
        found = np.take(found, order, axis=0 if axis is None else axis)
        first, counts = first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    further = ((return_index, first), (return_inverse, inverse), (return_counts, counts))
    wanted = [part.astype(np.int64) for asked, part in further if asked]
    return (found, *wanted) if wanted else found


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
    found = tensor_of(None, x.dtype, x.vdevice, 1 if axis is None else rank)
    places = tensor_of(None, _INT64, x.vdevice, 1)
    further = [places for asked in (return_index, return_inverse, return_counts) if asked]
    return TupleStructInfo.make((found, *further)) if further else found


@op()
def nonzero(x: Tensor) -> Tensor:
    """Where the elements are that are not 0: a row for each axis, a column for each element; int64.

    Of a tensor of rank 0 the one element counts as one along an axis.
    """
    places: Any = np.nonzero(np.atleast_1d(x))
    return np.stack(places).astype(np.int64)


@nonzero.infer_rule
def _(context: InferContext, x: TensorStructInfo) -> StructInfo:
    require_dtype("x", x.dtype, "any")
    return tensor_of(None, _INT64, x.vdevice, 2)

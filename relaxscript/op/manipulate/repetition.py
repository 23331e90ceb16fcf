"""Elements and tensors repeated, grids, and one-hot vectors. Source: numpy; TVM for `one_hot`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, PrimValue, Tuple
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op.gradients import R, fields_of, known_dims, reshape_like
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import (
    InferLayoutOutput,
    LayoutContext,
    Order,
    declined,
    place_of,
)
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor, Tensors, Value
from relaxscript.opdef.prim_operands import require_prim
from relaxscript.opdef.shapes import (
    ONE,
    axis_in,
    common_dtype,
    common_vdevice,
    dims_of,
    number,
    product,
    require_dtype,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.runtime.values import prim_dtype, prim_value

__all__ = ["meshgrid", "one_hot", "repeat", "tile"]

_FLOAT32 = DataType("float32")


def _times(dim: PrimExpr, count: int) -> PrimExpr:
    return dim if count == 1 else simplify(prim.Mul.make(dim, number(count)))


def _require_count(name: str, count: int) -> None:
    if count < 0:
        raise OperandError(
            name,
            f"is {count}",
            message="nothing is repeated less than 0 times",
            code="RX0204",
        )


@op()
def repeat(data: Tensor, repeats: int, axis: int | None = None) -> Tensor:
    """Each element along `axis` `repeats` times; of all elements in row-major order where None."""
    return np.repeat(data, repeats, axis)


@repeat.attribute_rule
def _(repeats: int, axis: int | None) -> None:
    _require_count("repeats", repeats)


@repeat.infer_rule
def _(
    context: InferContext, data: TensorStructInfo, repeats: int, axis: int | None = None
) -> StructInfo:
    dims = dims_of(data)
    rank = data.ndim if dims is None else len(dims)
    if axis is None:
        flat = None if dims is None else (_times(product(dims), repeats),)
        return tensor_of(flat, data.dtype, data.vdevice, 1)
    place = axis_in(axis, rank, "axis", "data")
    if dims is None:
        return tensor_of(None, data.dtype, data.vdevice, rank)
    repeated = _times(dims[place], repeats)
    return tensor_of((*dims[:place], repeated, *dims[place + 1 :]), data.dtype, data.vdevice)


@repeat.compute()
def _(context: ComputeContext, data: Any, repeats: int, axis: int | None = None) -> Any:
    return topi.repeat(data, repeats, axis)


@repeat.layout_rule
def _(context: LayoutContext, data: Order, repeats: int, axis: int | None) -> InferLayoutOutput:
    if axis is None:  # elements are repeated in the order in which they are
        return declined(context, (data,))
    return InferLayoutOutput((data,), data, {"axis": place_of(axis, data)})


@repeat.gradient
def _(context: GradientContext, data: Expr, repeats: int, axis: int | None) -> Gradients:
    dims = known_dims("data", data)
    if axis is None:
        return (reshape_like(R.sum(R.reshape(context.grad, [product(dims), repeats]), -1), data),)
    after = axis % len(dims) + 1
    each = R.reshape(context.grad, [*dims[:after], repeats, *dims[after:]])
    return (R.sum(each, after),)


@op()
def tile(data: Tensor, repeats: int | Axes) -> Tensor:
    """`data` beside itself, as often along each axis as `repeats` says.

    Where `repeats` has fewer numbers than `data` has axes they are for its last ones; where it has
    more, `data` gets axes of one element in front.
    """
    return np.tile(data, repeats)


@tile.attribute_rule
def _(repeats: int | tuple[int, ...]) -> None:
    for count in (repeats,) if isinstance(repeats, int) else repeats:
        _require_count("repeats", count)


@tile.infer_rule
def _(context: InferContext, data: TensorStructInfo, repeats: int | tuple[int, ...]) -> StructInfo:
    counts = (repeats,) if isinstance(repeats, int) else repeats
    dims = dims_of(data)
    rank = data.ndim if dims is None else len(dims)
    total = -1 if rank < 0 else max(rank, len(counts))
    if dims is None:
        return tensor_of(None, data.dtype, data.vdevice, total)
    wide = (ONE,) * (total - rank) + dims
    all_counts = (1,) * (total - len(counts)) + counts
    tiled = [_times(dim, count) for dim, count in zip(wide, all_counts)]
    return tensor_of(tiled, data.dtype, data.vdevice)


@tile.compute()
def _(context: ComputeContext, data: Any, repeats: int | tuple[int, ...]) -> Any:
    return topi.tile(data, repeats)


@tile.layout_rule
def _(context: LayoutContext, data: Order, repeats: int | tuple[int, ...]) -> InferLayoutOutput:
    counts = (repeats,) if isinstance(repeats, int) else repeats
    if len(counts) > len(data):
        return declined(context, (data,))
    every = (1,) * (len(data) - len(counts)) + counts
    return InferLayoutOutput((data,), data, {"repeats": tuple([every[axis] for axis in data])})


@tile.gradient
def _(context: GradientContext, data: Expr, repeats: int | tuple[int, ...]) -> Gradients:
    counts = (repeats,) if isinstance(repeats, int) else repeats
    dims = known_dims("data", data)
    rank = max(len(dims), len(counts))
    wide = (ONE,) * (rank - len(dims)) + dims
    times = (1,) * (rank - len(counts)) + counts
    apart = [size for pair in zip(times, wide) for size in pair]
    each = R.reshape(context.grad, apart) if rank else context.grad
    return (reshape_like(R.sum(each, list(range(0, 2 * rank, 2))), data),)


@op()
def meshgrid(tensors: Tensors, indexing: str = "ij") -> Tensors:
    """For each row of numbers a tensor over the grid of all of them, which varies along its axis.

    The axes are those of `tensors` in their order; with `indexing` "xy" the first two are
    exchanged. Source: numpy's function of the same name.
    """
    rows = [row.reshape(-1) for row in tensors]
    return tuple(np.meshgrid(*rows, indexing=indexing))  # type: ignore[call-overload]


@meshgrid.attribute_rule
def _(indexing: str) -> None:
    if indexing not in ("ij", "xy"):
        message = 'the indexing of a grid is "ij" or "xy"'
        raise OperandError("indexing", f"is {indexing!r}", message=message, code="RX0204")


@meshgrid.infer_rule
def _(
    context: InferContext, tensors: tuple[TensorStructInfo, ...], indexing: str = "ij"
) -> StructInfo:
    if not tensors:
        raise OperandError("tensors", "is empty", help="give at least one row of numbers")
    named = {f"tensors[{index}]": info for index, info in enumerate(tensors)}
    dtype, vdevice = common_dtype(named), common_vdevice(named)
    lengths: list[PrimExpr | None] = []
    for name, info in named.items():
        dims = dims_of(info)
        if (info.ndim if dims is None else len(dims)) not in (-1, 0, 1):
            fact = shape_fact(info, dims)
            raise OperandError(name, fact, message="a grid is made of rows of numbers")
        lengths.append(None if dims is None else (*dims, number(1))[0])
    if indexing == "xy":
        lengths[:2] = reversed(lengths[:2])
    known = [length for length in lengths if length is not None]
    grid = tensor_of(known if len(known) == len(lengths) else None, dtype, vdevice, len(lengths))
    return TupleStructInfo.make((grid,) * len(lengths))


@meshgrid.compute()
def _(context: ComputeContext, tensors: Any, indexing: str = "ij") -> Any:
    return topi.meshgrid(tensors, indexing)


@meshgrid.gradient
def _(context: GradientContext, tensors: Expr, indexing: str) -> Gradients:
    rows = fields_of(tensors)
    axes = list(range(len(rows)))
    if indexing == "xy":
        axes[:2] = reversed(axes[:2])
    found = []
    for index, (axis, row) in enumerate(zip(axes, rows)):
        others = [a for a in range(len(rows)) if a != axis]
        found.append(reshape_like(R.sum(context.field(index), others), row))
    return (Tuple.make(tuple(found)),)


@op()
def one_hot(
    indices: Tensor, on_value: Value, off_value: Value, depth: int, axis: int = -1
) -> Tensor:
    """A new axis of `depth` elements: `on_value` at each of `indices`, `off_value` elsewhere.

    The scalars have one dtype, which is that of the result. The new axis is the axis `axis`
    of the result. An index that is not there gives `off_value` everywhere.
    """
    element = _dtype_of(on_value)
    where = np.expand_dims(indices, axis)
    places = np.arange(depth).reshape([depth if a == 0 else 1 for a in _from(axis, where.ndim)])
    chosen = [np.asarray(prim_value(v)).astype(element) for v in (on_value, off_value)]
    return np.where(where == places, *chosen)


def _from(axis: int, rank: int) -> list[int]:
    """The axes of a tensor, counted from `axis`."""
    return [index - axis % rank for index in range(rank)]


def _dtype_of(value: Any) -> Any:
    dtype = prim_dtype(value)
    return None if dtype is None else dtype.numpy


@one_hot.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    """A float of Python is float32, as everywhere among tensors."""
    floats = {
        name: PrimValue.make(prim.FloatImm.make(_FLOAT32, value))
        for name in ("on_value", "off_value")
        if isinstance(value := bound[name], float)
    }
    return {**bound, **floats}


@one_hot.attribute_rule
def _(depth: int, axis: int) -> None:
    if depth < 0:
        raise OperandError(
            "depth", f"is {depth}", message="a tensor has no dimension below 0", code="RX0204"
        )


@one_hot.infer_rule
def _(
    context: InferContext,
    indices: TensorStructInfo,
    on_value: StructInfo,
    off_value: StructInfo,
    depth: int,
    axis: int = -1,
) -> StructInfo:
    require_dtype("indices", indices.dtype, "integer")
    on, off = require_prim("on_value", on_value), require_prim("off_value", off_value)
    if on.dtype is not off.dtype:
        raise OperandError(
            "off_value",
            f"is a scalar of {off.dtype}",
            also={"on_value": f"is a scalar of {on.dtype}"},
            code="RX0202",
        )
    dims = dims_of(indices)
    rank = indices.ndim if dims is None else len(dims)
    place = axis_in(axis, rank, "axis", "indices", extra=1)
    if dims is None:
        return tensor_of(None, on.dtype, indices.vdevice, rank if rank < 0 else rank + 1)
    return tensor_of((*dims[:place], number(depth), *dims[place:]), on.dtype, indices.vdevice)


@one_hot.compute()
def _(
    context: ComputeContext, indices: Any, on_value: Any, off_value: Any, depth: int, axis: int = -1
) -> Any:
    return topi.one_hot(indices, on_value, off_value, depth, axis, str(context.dtype))


one_hot.lacks("gradient", "its operands are integers, and numbers that are in the program")

"""Elements by tensors of indices, taken out and put in. Source: ONNX operators of the same names.

Indices count from 0; a negative one counts from the end. One that is not there is an `IndexError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.errors import OperandError, quantity
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import DeferredCheck, InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Tensor
from relaxscript.opdef.shapes import (
    Dims,
    axis_in,
    common_dtype,
    common_vdevice,
    dims_of,
    number,
    require_dtype,
    require_equal,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

from .gradients import (
    R,
    add_at,
    dtype_of,
    known_dims,
    known_rank,
    number_elements,
    numbers_below,
)
from .numeric import places_along

__all__ = ["gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd"]

_REDUCTIONS = {
    "update": None,
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _rank(info: TensorStructInfo) -> int:
    dims = dims_of(info)
    return info.ndim if dims is None else len(dims)


def _require_rank(name: str, info: TensorStructInfo, rank: int, other: str) -> None:
    if rank >= 0 and _rank(info) not in (-1, rank):
        raise OperandError(
            name,
            shape_fact(info, dims_of(info)),
            also={other: f"has rank {rank}"},
            help=f"`{name}` and `{other}` have one rank",
        )


def _require_dims(
    context: InferContext, name: str, dims: Dims | None, other: str, wanted: Dims | None, start: int
) -> None:
    """Require equal dimensions, of which the first is axis `start` of the operand to blame."""
    for axis, (a, b) in enumerate(zip(wanted or (), dims or ()), start):
        if not same_dim(a, b):
            fact = f"has {dim_text(b)} elements along axis {axis}"
            error = OperandError(name, fact, also={other: f"has {dim_text(a)} elements there"})
            text = f"`{name}` has {dim_text(b)} elements along axis {axis}, not {dim_text(a)}"
            require_equal(context, a, b, error, text)


# ---------------------------------------------------------------- slices along an axis


@op(alike=())
def gather(data: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """The slices of `data` along `axis` at `indices`, whose axes come in place of that axis.

    This is ONNX `Gather`, and `numpy.take` with an axis; torch's function of the name is
    `R.gather_elements`. `R.take` has other modes for an index that is not there.
    """
    found: Tensor = np.take(data, places_along(indices, data.shape[axis], axis), axis)
    return found


@gather.infer_rule
def _(
    context: InferContext, data: TensorStructInfo, indices: TensorStructInfo, axis: int = 0
) -> StructInfo:
    require_dtype("indices", indices.dtype, "integer")
    rank = _rank(data)
    place = axis_in(axis, rank, "axis", "data")
    vdevice = common_vdevice({"data": data, "indices": indices})
    dims, places = dims_of(data), dims_of(indices)
    if dims is None or places is None:
        known = rank >= 0 and _rank(indices) >= 0
        return tensor_of(None, data.dtype, vdevice, rank - 1 + _rank(indices) if known else -1)
    return tensor_of((*dims[:place], *places, *dims[place + 1 :]), data.dtype, vdevice)


@gather.compute()
def _(context: ComputeContext, data: Any, indices: Any, axis: int = 0) -> Any:
    place, own = axis % data.ndim, indices.ndim

    def element(*i: Any) -> Any:
        index = topi.gathering.from_start(
            te.tensor.as_element(indices[i[place : place + own]]), data.shape[place]
        )
        return data[(*i[:place], index, *i[place + own :])]

    return topi.transform.injective(context.shape, element, "T_gather")


# ---------------------------------------------------------------- element by element


@op(alike=())
def gather_elements(data: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """For each of `indices` the element of `data` at that index along `axis`."""
    places = places_along(indices, data.shape[axis], axis)
    rest = _elsewhere(indices.shape, axis)
    found: Tensor = data[tuple(places if part is None else part for part in rest)]
    return found


def _elsewhere(shape: tuple[int, ...], axis: int) -> list[Any]:
    """The index of each element along all axes; None for `axis`."""
    grid: list[Any] = list(np.ogrid[tuple(slice(size) for size in shape)])
    grid[axis] = None
    return grid


@gather_elements.infer_rule
def _(
    context: InferContext, data: TensorStructInfo, indices: TensorStructInfo, axis: int = 0
) -> StructInfo:
    require_dtype("indices", indices.dtype, "integer")
    rank = _rank(data)
    axis_in(axis, rank, "axis", "data")
    _require_rank("indices", indices, rank, "data")
    vdevice = common_vdevice({"data": data, "indices": indices})
    dims = dims_of(indices)
    return tensor_of(dims, data.dtype, vdevice, rank if indices.ndim < 0 else indices.ndim)


@gather_elements.compute()
def _(context: ComputeContext, data: Any, indices: Any, axis: int = 0) -> Any:
    return topi.gather(data, axis, indices)


@op(alike=("data", "updates"))
def scatter_elements(
    data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = "update"
) -> Tensor:
    """`data` with each of `updates` at its index along `axis`, an element of `indices`.

    `reduction` says what becomes of what is there: "update" replaces it, "add", "mul", "max" and
    "min" combine both. What is put in one place several times is put in row-major order.
    """
    places = places_along(indices, data.shape[axis], axis)
    rest = _elsewhere(indices.shape, axis)
    where = tuple(places if part is None else part for part in rest)
    result: Tensor = _scatter(data, where, updates, reduction)
    return result


def _scatter(data: Any, where: tuple[Any, ...], updates: Any, reduction: str) -> Any:
    result = data.copy()
    combine = _REDUCTIONS[reduction]
    if combine is None:
        result[where] = updates
    else:
        combine.at(result, where, updates)
    return result


@scatter_elements.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    indices: TensorStructInfo,
    updates: TensorStructInfo,
    axis: int = 0,
    reduction: str = "update",
) -> StructInfo:
    rank = _rank(data)
    axis_in(axis, rank, "axis", "data")
    result = _scatter_info(data, indices, updates, reduction)
    _require_rank("indices", indices, rank, "data")
    _require_rank("updates", updates, rank, "data")
    _require_dims(context, "updates", dims_of(updates), "indices", dims_of(indices), 0)
    return result


@scatter_elements.compute()
def _(
    context: ComputeContext, data: Any, indices: Any, updates: Any, axis: int = 0,
    reduction: str = "update",
) -> Any:  # fmt: skip
    return topi.scatter_elements(data, indices, updates, axis, reduction)


def _scatter_info(
    data: TensorStructInfo, indices: TensorStructInfo, updates: TensorStructInfo, reduction: str
) -> StructInfo:
    if reduction not in _REDUCTIONS:
        listed = ", ".join(f'"{name}"' for name in _REDUCTIONS)
        raise OperandError(
            "reduction", f"is {reduction!r}", message=f"it is one of {listed}", code="RX0204"
        )
    require_dtype("indices", indices.dtype, "integer")
    dtype = common_dtype({"data": data, "updates": updates})
    accepted = "any" if reduction == "update" else "number"
    require_dtype("data", data.dtype, accepted)
    vdevice = common_vdevice({"data": data, "indices": indices, "updates": updates})
    if dtype is data.dtype and vdevice is data.vdevice:
        return data
    return TensorStructInfo.make(data.shape, dtype, vdevice, data.ndim)


# ---------------------------------------------------------------- by the last axis of the indices


@op(alike=())
def gather_nd(data: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor:
    """The parts of `data` at the places that the last axis of `indices` holds.

    Such a place has an index for each axis of `data` from `batch_dims` on, or for the first of
    them; the axes before are those of `indices`.
    """
    found: Tensor = data[_places(data, indices, batch_dims)]
    return found


def _places(data: Any, indices: Any, batch_dims: int) -> tuple[Any, ...]:
    depth = indices.shape[-1]
    parts = [
        places_along(indices[..., i], data.shape[batch_dims + i], batch_dims + i)
        for i in range(depth)
    ]
    shape = indices.shape[:-1]
    if not depth:
        raise IndexError("a place has at least one index")
    batch = list(np.ogrid[tuple(slice(size) for size in shape)])[:batch_dims]
    return (*batch, *parts)


@gather_nd.infer_rule
def _(
    context: InferContext, data: TensorStructInfo, indices: TensorStructInfo, batch_dims: int = 0
) -> StructInfo:
    require_dtype("indices", indices.dtype, "integer")
    vdevice = common_vdevice({"data": data, "indices": indices})
    depth = _depth(context, data, indices, batch_dims)
    dims, places = dims_of(data), dims_of(indices)
    if dims is not None and places is not None:
        batch = places[:batch_dims]
        _require_dims(context, "indices", batch, "data", dims[:batch_dims], 0)
    if depth is None or dims is None or places is None:
        known = depth is not None and _rank(data) >= 0 and _rank(indices) >= 0
        rank = _rank(indices) - 1 + _rank(data) - batch_dims - (depth or 0) if known else -1
        return tensor_of(None, data.dtype, vdevice, rank)
    return tensor_of((*places[:-1], *dims[batch_dims + depth :]), data.dtype, vdevice)


@gather_nd.compute()
def _(context: ComputeContext, data: Any, indices: Any, batch_dims: int = 0) -> Any:
    depth = indices.shape[-1]
    if not isinstance(depth, IntImm):
        return None
    places = [lambda *i, k=k: indices[(*i, number(k))] for k in range(depth.value)]
    return topi.gathering.at_places(data, places, indices.shape[:-1], batch_dims)


def _depth(
    context: InferContext, data: TensorStructInfo, indices: TensorStructInfo, batch_dims: int
) -> int | None:
    """The number of axes that `indices` go through; None where that is not known."""
    rank, own = _rank(data), _rank(indices)
    if own == 0:
        raise OperandError("indices", "has rank 0", help="its last axis holds a place")
    most = min(r for r in (rank, own - 1, 1 << 30) if r >= 0)
    if not 0 <= batch_dims <= most:
        raise OperandError(
            "batch_dims",
            f"is {batch_dims}",
            also={"data": f"has {quantity(rank, 'axis')}"} if rank >= 0 else {},
            message="there are not so many axes in front",
            code="RX0204",
        )
    places = dims_of(indices)
    last = places[-1] if places else None
    if last is not None and not isinstance(last, IntImm):
        # How many axes the result has depends on it, and so does the shape of the updates.
        text = f"`indices` holds places along {dim_text(last)} axes of `data`"
        context.require(DeferredCheck("indices", number(1), last, "inside", text))
    if not isinstance(last, IntImm):
        return None
    if last.value == 0:
        raise OperandError("indices", "has 0 elements along its last axis, which holds a place")
    if rank >= 0 and last.value > rank - batch_dims:
        raise OperandError(
            "indices",
            f"holds places along {quantity(last.value, 'axis')}",
            also={"data": f"has {quantity(rank - batch_dims, 'axis')} to go through"},
        )
    return last.value


@op(alike=("data", "updates"), traits={Trait.NUMPY_IS_FASTER})
def scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, reduction: str = "update") -> Tensor:
    """`data` with the parts `updates` at the places that the last axis of `indices` holds.

    `reduction` is as in `R.scatter_elements`.
    """
    result: Tensor = _scatter(data, _places(data, indices, 0), updates, reduction)
    return result


@scatter_nd.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    indices: TensorStructInfo,
    updates: TensorStructInfo,
    reduction: str = "update",
) -> StructInfo:
    result = _scatter_info(data, indices, updates, reduction)
    depth = _depth(context, data, indices, 0)
    dims, places, parts = dims_of(data), dims_of(indices), dims_of(updates)
    if depth is None or min(_rank(data), _rank(indices)) < 0:
        return result
    rank = _rank(indices) - 1 + _rank(data) - depth
    if _rank(updates) not in (-1, rank):
        raise OperandError(
            "updates",
            shape_fact(updates, parts),
            also={"indices": shape_fact(indices, places), "data": shape_fact(data, dims)},
            help=f"it must have rank {rank}: the parts of `data`, one for each place",
        )
    if dims is not None and places is not None:
        wanted = (*places[:-1], *dims[depth:])
        _require_dims(context, "updates", parts, "data", wanted, 0)
    return result


@scatter_nd.compute()
def _(
    context: ComputeContext, data: Any, indices: Any, updates: Any, reduction: str = "update"
) -> Any:
    dims, depth = indices.shape[:-1], indices.shape[-1]
    if not isinstance(depth, IntImm):
        return None
    combine = topi.scattering.COMBINE[reduction]
    return topi.scattering.put_at_places(
        data, indices, updates, depth.value, dims, lambda k, i: (*i, k), combine
    )


# ---------------------------------------------------------------- gradients


@gather.gradient
def _(context: GradientContext, data: Expr, indices: Expr, axis: int) -> Gradients:
    place = axis % known_rank("data", data)
    return add_at(context.grad, R.zeros_like(data), indices, place), None


_Take = Callable[[Expr], Expr]
_Put = Callable[[Expr, Expr, str], Expr]


@gather_elements.gradient
def _(context: GradientContext, data: Expr, indices: Expr, axis: int) -> Gradients:
    zeros = R.zeros_like(data)
    return R.scatter_elements(zeros, indices, context.grad, axis, "add"), None


@gather_nd.gradient
def _(context: GradientContext, data: Expr, indices: Expr, batch_dims: int) -> Gradients:
    if batch_dims:
        *front, _ = known_dims("indices", indices)
        parts = []
        for axis in range(batch_dims):
            shape = [dim if a == axis else 1 for a, dim in enumerate(front)]
            numbers = R.reshape(numbers_below(front[axis]), [*shape, 1])
            parts.append(R.broadcast_to(numbers, [*front, 1]))
        indices = R.concat([*parts, R.astype(indices, "int64")], -1)
    return R.scatter_nd(R.zeros_like(data), indices, context.grad, "add"), None


@scatter_elements.gradient
def _(
    context: GradientContext, data: Expr, indices: Expr, updates: Expr, axis: int, reduction: str
) -> Gradients:
    def take(x: Expr) -> Expr:
        found: Expr = R.gather_elements(x, indices, axis)
        return found

    def put(x: Expr, parts: Expr, how: str) -> Expr:
        found: Expr = R.scatter_elements(x, indices, parts, axis, how)
        return found

    by_data, by_updates = _of_scatter(context, data, updates, reduction, take, put)
    return by_data, None, by_updates


@scatter_nd.gradient
def _(
    context: GradientContext, data: Expr, indices: Expr, updates: Expr, reduction: str
) -> Gradients:
    def take(x: Expr) -> Expr:
        found: Expr = R.gather_nd(x, indices)
        return found

    def put(x: Expr, parts: Expr, how: str) -> Expr:
        found: Expr = R.scatter_nd(x, indices, parts, how)
        return found

    by_data, by_updates = _of_scatter(context, data, updates, reduction, take, put)
    return by_data, None, by_updates


def _of_scatter(
    context: GradientContext, data: Expr, updates: Expr, reduction: str, take: _Take, put: _Put
) -> tuple[Expr, Expr]:
    """The gradients by the data and by the updates; several of them may meet in one place."""
    grad = context.grad
    match reduction:
        case "add":
            return grad, take(grad)
        case "update":  # the last one stays
            numbers = number_elements(updates)
            stays = R.equal(take(put(R.zeros_like(data, "int64"), numbers, "update")), numbers)
            return put(grad, R.zeros_like(updates), "update"), R.where(stays, take(grad), 0.0)
        case "mul":
            return _of_products(grad, data, updates, take, put)
    # Those that are extreme share the gradient.
    element = dtype_of(grad)
    of_data = R.astype(R.equal(data, context.out), element)
    of_updates = R.astype(R.equal(updates, take(context.out)), element)
    share = grad / put(of_data, of_updates, "add")
    return share * of_data, take(share) * of_updates


def _of_products(
    grad: Expr, data: Expr, updates: Expr, take: _Take, put: _Put
) -> tuple[Expr, Expr]:
    """The gradients by factors: products of the others, which are 0 where one of these is."""
    zero, zeros = R.equal(data, 0.0), R.equal(updates, 0.0)
    own, factors = R.where(zero, 1.0, data), R.where(zeros, 1.0, updates)
    count = put(R.astype(zero, "int64"), R.astype(zeros, "int64"), "add")
    product = grad * put(own, factors, "mul")
    others = R.equal(count, R.astype(zero, "int64"))
    further = R.equal(take(count), R.astype(zeros, "int64"))
    return R.where(others, product / own, 0.0), R.where(further, take(product) / factors, 0.0)

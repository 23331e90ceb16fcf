"""Functions that take elements at indices which a tensor holds.

An index that is not there is noticed when the PrimFunc runs. A negative one counts from the end,
except in `take`.

Source: TVM `topi.transform`, numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, Var
from relaxscript.te.compute import dtype_of, shape_of
from relaxscript.te.element import equal, maximum, minimum, select
from relaxscript.te.tensor import Tensor, as_element

from .broadcast import broadcast_indices, broadcast_shapes
from .operands import IndexTensor, topi_function
from .transform import axis_in, injective, number, size_of, unravel

__all__ = [
    "adv_index", "gather", "gather_nd", "index_tensor", "one_hot", "take", "unravel_index",
]  # fmt: skip

MODES = ("fast", "clip", "wrap")


def wide(index: PrimExpr) -> PrimExpr:
    """An index in a dtype that every dimension fits; what is unsigned stays so."""
    is_widest = index.dtype.kind == "uint" and index.dtype.bits == 64
    return index if is_widest else prim.cast(index, prim.INT64)


def from_start(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """An index counted from the start, where it may count from the end.

    One that is not there stays as it is, so that the message about it says what was given.
    """
    if index.dtype.kind == "uint":
        return index
    place = Var.make("place", prim.INT64)
    extent = prim.cast(size, prim.INT64)
    counts_back = prim.And.make(place < 0, place >= 0 - extent)
    counted = prim.Select.make(counts_back, place + extent, place)
    return prim.Let.make(place, prim.cast(index, prim.INT64), counted)


def _within(index: PrimExpr, size: PrimExpr, mode: str) -> PrimExpr:
    """An index as `take` reads it."""
    index = wide(index)
    extent = prim.cast(size, index.dtype)
    if mode == "wrap":
        return index % extent
    if mode == "clip":
        # Where there is nothing to take, this is an index that is not there.
        nearest = minimum(index, extent - 1)
        return nearest if index.dtype.kind == "uint" else maximum(nearest, 0)
    return index


@topi_function
def take(
    a: Tensor,
    indices: IndexTensor | PrimExpr | int,
    axis: int | None = None,
    batch_dims: int = 0,
    mode: str = "fast",
) -> Tensor:
    """The parts of a tensor at indices along an axis; without one, of its elements in their order.

    The first `batch_dims` axes are those of `indices`, too, which may be one scalar. With `mode`
    "fast" every index must be there; "clip" takes the nearest that is, "wrap" counts on from the
    other end.
    """
    if mode not in MODES:
        raise OperandError(
            "mode", f"is {mode!r}", code="RX0204",
            message='the mode of `topi.take` is "fast", "clip" or "wrap"',
        )  # fmt: skip
    dims = indices.shape if isinstance(indices, Tensor) else ()

    def at(i: Any) -> PrimExpr:
        return as_element(indices[i] if isinstance(indices, Tensor) else indices)

    if axis is None:
        size = size_of(a.shape)
        return injective(dims, lambda *i: a[unravel(_within(at(i), size, mode), a.shape)], "T_take")
    place = axis_in("topi.take", axis, a.ndim)
    batch = axis_in("topi.take", batch_dims, len(dims) + 1, "batch_dims")
    if batch > place:
        raise OperandError(
            "batch_dims", f"is {batch_dims}", also={"axis": f"is {axis}"}, code="RX0204",
            message="the axes of the batch come before the one along which to take",
        )  # fmt: skip
    own = len(dims) - batch

    def element(*i: Any) -> Any:
        index = _within(at((*i[:batch], *i[place : place + own])), a.shape[place], mode)
        return a[(*i[:place], index, *i[place + own :])]

    shape = (*a.shape[:place], *dims[batch:], *a.shape[place + 1 :])
    return injective(shape, element, "T_take")


@topi_function
def gather(data: Tensor, axis: int, indices: IndexTensor) -> Tensor:
    """For each of the indices the element of `data` at it along an axis."""
    place = axis_in("topi.gather", axis, data.ndim)
    if indices.ndim != data.ndim:
        raise OperandError(
            "indices", f"has {quantity(indices.ndim, 'axis')}", code="RX0203",
            also={"data": f"has {data.ndim}"},
            message="`topi.gather` takes indices of as many axes as the tensor has",
        )  # fmt: skip

    def element(*i: Any) -> Any:
        return data[(*i[:place], from_start(indices[i], data.shape[place]), *i[place + 1 :])]

    return injective(indices.shape, element, "T_gather")


@topi_function
def gather_nd(a: Tensor, indices: IndexTensor, batch_dims: int = 0) -> Tensor:
    """The parts of a tensor at places, of which the first axis of `indices` holds the indices.

    The first `batch_dims` axes of the tensor are the first ones of the places.
    """
    count = place_depth("topi.gather_nd", indices.shape[0] if indices.ndim else None)
    if count + batch_dims > a.ndim:
        raise OperandError(
            "indices", f"holds places along {quantity(count, 'axis')}", code="RX0203",
            also={"a": f"has {a.ndim}"},
            message="`topi.gather_nd` finds no such axes",
        )  # fmt: skip
    places = [lambda *i, k=k: indices[(number(k), *i)] for k in range(count)]
    return at_places(a, places, indices.shape[1:], batch_dims)


def place_depth(callee: str, size: PrimExpr | None) -> int:
    """The number of indices that a place has, which is to be known."""
    if not isinstance(size, IntImm):
        raise OperandError(
            "indices", "has places of unknown length", code="RX0203",
            message=f"`{callee}` needs the number of indices that a place has",
        )  # fmt: skip
    return size.value


def at_places(a: Tensor, places: Sequence[Any], dims: Sequence[PrimExpr], batch: int = 0) -> Tensor:
    """The parts of a tensor at `len(places)` indices each; `dims` is the shape of the places."""
    ndim, depth = len(dims), len(places)

    def element(*i: Any) -> Any:
        at = [
            from_start(index(*i[:ndim]), a.shape[batch + axis]) for axis, index in enumerate(places)
        ]
        return a[(*i[:batch], *at, *i[ndim:])]

    return injective((*dims, *a.shape[batch + depth :]), element, "T_gather_nd")


@topi_function
def index_tensor(data: Tensor, indices: Sequence[IndexTensor]) -> Tensor:
    """The parts of a tensor at indices along its first axes, a tensor for each; they broadcast."""
    if not 0 < len(indices) <= data.ndim:
        raise OperandError(
            "indices", f"holds indices along {quantity(len(indices), 'axis')}", code="RX0203",
            also={"data": f"has {data.ndim}"},
            message="`topi.index_tensor` takes a tensor of indices for each of the first axes",
        )  # fmt: skip
    dims = broadcast_shapes("topi.index_tensor", [t.shape for t in indices])
    return at_places(data, broadcast_places(indices, dims), dims)


def broadcast_places(indices: Sequence[Tensor], shape: Sequence[PrimExpr]) -> list[Any]:
    """For each tensor of indices the function that reads it at indices of their common shape."""
    return [lambda *i, t=t: t[broadcast_indices(t, i, shape)] for t in indices]


@topi_function
def adv_index(data: Tensor, indices: Sequence[IndexTensor]) -> Tensor:
    """The same as `index_tensor`: numpy's indexing by tensors."""
    return index_tensor(data, indices)


@topi_function
def one_hot(
    indices: IndexTensor, on_value: Any, off_value: Any, depth: int, axis: int, dtype: str
) -> Tensor:
    """A new axis of `depth` elements: `on_value` at each of the indices, `off_value` elsewhere."""
    place = axis_in("topi.one_hot", axis, indices.ndim + 1)
    element_type = dtype_of(dtype)
    on, off = (
        prim.cast(e, element_type) if isinstance(e, PrimExpr) else prim.const(e, element_type)
        for e in (on_value, off_value)
    )

    def element(*i: Any) -> Any:
        index = wide(indices[(*i[:place], *i[place + 1 :])])
        return prim.Select.make(prim.EQ.make(index, prim.cast(i[place], index.dtype)), on, off)

    count = number(depth)
    dims = (*indices.shape[:place], count, *indices.shape[place:])
    return injective(dims, element, "T_one_hot")


@topi_function
def unravel_index(indices: IndexTensor, shape: Any) -> Tensor:
    """The indices of elements of a shape, along a new first axis, by their numbers.

    The numbers count in row-major order; they are a tensor of rank 0 or 1.
    """
    dims = shape_of(shape)

    def element(*i: Any) -> Any:
        parts = unravel(prim.cast(indices[i[1:]], prim.INT64), dims)
        found = parts[0]
        for axis, part in enumerate(parts[1:], 1):
            found = select(equal(i[0], axis), part, found)
        return prim.cast(found, indices.dtype)

    count = number(len(dims))
    return injective((count, *indices.shape), element, "T_unravel_index")

"""Gradients of poolings: each element looks for the windows that cover it.

Source: TVM `topi.nn.pool_grad`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim, tir_functions
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS, if_then_else
from relaxscript.ir.tir import IterVar
from relaxscript.sinfo.axis_order import AxisOrder, plain_order
from relaxscript.sinfo.windows import Windows, per_axis, windows_of
from relaxscript.te import reduction
from relaxscript.te.compute import compute, reduce_axis
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.layouts import arranged, unpack
from relaxscript.te.topi.operands import topi_function

from .pooling import Orders, elements_of_window, read_pooled, sum_dtype

__all__ = ["pool_grad"]


def mean_pool_grad(
    grads: Tensor, data: Tensor, kernel: Sequence[int], windows: Windows, orders: Orders,
    wide: DataType, *, pads: bool,
) -> Any:  # fmt: skip
    """The gradient of means by their data; that of a window is for all of its elements alike.

    `orders` are those of the data and of the result; sums are of `wide`. With `pads` what pads the
    data counts.
    """
    shape = data.shape
    data, of_data = unpack(data, orders[0])
    sizes = of_data.sizes(data.shape)[2:]
    extents = [prim.const(size, dim.dtype) for size, dim in zip(kernel, sizes)]
    grads, of_grads = unpack(grads, orders[1])
    counts = of_grads.sizes(grads.shape)[2:]
    taps = _taps(extents)

    def element(*plain: PrimExpr) -> Any:
        at, conditions = _windows_at(plain[2:], [tap.var for tap in taps], counts, windows)
        number = elements_of_window(at, extents, sizes, windows, pads)
        grad = prim.cast(grads[tuple(of_grads.spread([*plain[:2], *at]))], wide)
        share = prim.Div.make(grad, prim.cast(number, wide))
        return reduction.sum(share, axis=taps, where=tir_functions.all(*conditions))

    return _rounded(element, orders[0], shape, data.dtype)


def max_pool_grad(
    grads: Tensor, data: Tensor, kernel: Sequence[int], windows: Windows, orders: Orders,
    wide: DataType,
) -> Any:  # fmt: skip
    """The gradient of the largest elements by their data, of several in a window for the first.

    `orders` are those of the data and of the result; sums are of `wide`.
    """
    shape = data.shape
    data, of_data = unpack(data, orders[0])
    sizes = of_data.sizes(data.shape)[2:]
    extents = [prim.const(size, dim.dtype) for size, dim in zip(kernel, sizes)]
    grads, of_grads = unpack(grads, orders[1])
    batch, channels, *counts = of_grads.sizes(grads.shape)
    largest = _largest(data, of_data, [batch, channels, *counts], extents, windows)
    taps = _taps(extents)

    def element(*plain: PrimExpr) -> Any:
        # The windows in their order, which are the places in them the other way round.
        places = [extent - 1 - tap.var for extent, tap in zip(extents, taps)]
        at, conditions = _windows_at(plain[2:], places, counts, windows)
        own = largest[(*plain[:2], *at)]
        grad = prim.cast(grads[tuple(of_grads.spread([*plain[:2], *at]))], wide)
        chosen = prim.EQ(own, _flat(plain[2:], sizes))
        return reduction.sum(
            if_then_else(chosen, grad, prim.const(0, wide)), axis=taps,
            where=tir_functions.all(*conditions),
        )  # fmt: skip

    return _rounded(element, orders[0], shape, data.dtype)


def _taps(extents: Sequence[PrimExpr]) -> list[IterVar]:
    return [reduce_axis((0, extent), name=f"rv{axis}") for axis, extent in enumerate(extents)]


def _windows_at(
    places: Sequence[PrimExpr], taps: Sequence[PrimExpr], counts: Sequence[PrimExpr], w: Windows
) -> tuple[list[PrimExpr], list[PrimExpr]]:
    """The window that has an element at a place in it, and the conditions that there is one."""
    found, conditions = [], list[PrimExpr]()
    for axis, (place, tap, count) in enumerate(zip(places, taps, counts)):
        first = place + w.before[axis] - tap * w.dilation[axis]
        zero = prim.const(0, first.dtype)
        window = first // w.strides[axis]
        conditions += [prim.GE(first, zero), prim.LT(window, count)]
        if w.strides[axis] > 1:
            conditions.append(prim.EQ(first % w.strides[axis], zero))
        found.append(window)
    return found, conditions


def _flat(places: Sequence[PrimExpr], sizes: Sequence[PrimExpr]) -> PrimExpr:
    """The number of an element in row-major order."""
    found = places[0]
    for place, size in zip(places[1:], sizes[1:]):
        found = found * size + place
    return found


def _largest(
    data: Tensor, order: AxisOrder, shape: Sequence[PrimExpr], extents: Sequence[PrimExpr],
    w: Windows,
) -> Tensor:  # fmt: skip
    """The number of the largest element of each window, -1 where it has none; NaN is above all."""
    sizes = order.sizes(data.shape)[2:]
    taps = _taps(extents)
    dtype = sizes[0].dtype

    def later(old: Any, new: Any) -> Any:
        number, value = old
        other, candidate = new
        larger = prim.Or(prim.LT(number, prim.const(0, dtype)), prim.GT(candidate, value))
        if data.dtype.is_float:
            is_nan = FUNCTIONS["isnan"]
            larger = prim.Or(larger, prim.And(is_nan(candidate), prim.Not(is_nan(value))))
        taken = prim.And(prim.GE(other, prim.const(0, dtype)), larger)
        return prim.Select(taken, other, number), prim.Select(taken, candidate, value)

    identity = prim.const(-1, dtype), reduction.least(str(data.dtype))
    argmax = reduction.comm_reducer(later, lambda *_: identity, name="argmax")

    def element(n: PrimExpr, c: PrimExpr, *windows: PrimExpr) -> Any:
        at, conditions = [], list[PrimExpr]()
        for axis, (window, tap, size) in enumerate(zip(windows, taps, sizes)):
            place = window * w.strides[axis] + tap.var * w.dilation[axis] - w.before[axis]
            at.append(place)
            conditions += [prim.GE(place, prim.const(0, dtype)), prim.LT(place, size)]
        value = data[tuple(order.spread([n, c, *at]))]
        inside = tir_functions.all(*conditions)
        return argmax((_flat(at, sizes), value), axis=taps, where=inside)

    names = [f"ax{axis}" for axis in range(len(shape))]
    made: Tensor = compute(shape, element, name="maxpool_grad_argmax", varargs_names=names)[0]
    return made


def _rounded(element: Any, order: AxisOrder, shape: Sequence[PrimExpr], dtype: DataType) -> Any:
    """Sums in a layout, rounded once."""
    own = plain_order(order.letters) if order.is_packed else order
    total = arranged(own, own.spread(order.sizes(shape)), element, "pool_grad_sum")
    return arranged(
        order, shape, lambda *i: prim.cast(total[tuple(own.spread(i))], dtype), "pool_grad"
    )


@topi_function
def pool_grad(
    grads: Tensor, data: Tensor, kernel: Any, stride: Any, padding: Any, pool_type: str,
    ceil_mode: bool = False, count_include_pad: bool = True, layout: str = "NCHW",
) -> Any:  # fmt: skip
    """The gradient of `topi.nn.pool2d` by its data, from the gradient of its result.

    That of a largest element is for the first of several. Sums are in float64, those of floats of
    16 bits or fewer in float32. Raises `OperandError` for tensors that do not fit.
    """
    order = read_pooled("topi.nn.pool_grad", data, layout, pool_type, 2)
    if grads.ndim != data.ndim:
        raise OperandError(
            "grads", f"has rank {grads.ndim}", code="RX0203",
            message=f'`topi.nn.pool_grad` takes a gradient of the axes "{layout}"',
        )  # fmt: skip
    size, steps, pads = (tuple(n) if isinstance(n, list) else n for n in (kernel, stride, padding))
    windows = windows_of(steps, pads, 1, 2)
    extents, wide = per_axis("kernel", size, 2, 1), sum_dtype(data.dtype)
    if pool_type == "max":
        return max_pool_grad(grads, data, extents, windows, (order, order), wide)
    return mean_pool_grad(
        grads, data, extents, windows, (order, order), wide, pads=count_include_pad
    )

"""Poolings: windows of one, two and three spatial axes made into one element each.

Source: TVM `topi.nn.pool2d`, `topi.nn.adaptive_pool`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.arith import YES, prove_equal, simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim, tir_functions
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.sinfo.axis_order import AxisOrder, axes_of, plain_order
from relaxscript.sinfo.windows import SPATIAL, Windows, out_size, per_axis, windows_of
from relaxscript.te import reduction
from relaxscript.te.compute import reduce_axis
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.layouts import arranged, unpack
from relaxscript.te.topi.operands import topi_function

from .convolution import padded, window_index, zero_padded

__all__ = [
    "adaptive_pool", "adaptive_pool1d", "adaptive_pool3d", "global_pool", "pool1d", "pool2d",
    "pool3d",
]  # fmt: skip

Orders = tuple[AxisOrder, AxisOrder]
_FLOAT32, _FLOAT64 = DataType("float32"), DataType("float64")


def pool(
    data: Tensor, kernel: Sequence[int], windows: Windows, pool_type: str, orders: Orders,
    shape: Sequence[PrimExpr], *, ceil: bool, pad_counts: bool,
) -> Any:  # fmt: skip
    """The largest element or the mean of each window, a tensor of a known shape.

    `orders` are those of the data and of the result. With `ceil` a last window may begin inside
    and end behind what pads the tensor.
    """
    data, order = unpack(data, orders[0])
    sizes = order.sizes(data.shape)[2:]
    more = windows
    if ceil:
        after = (n + step - 1 for n, step in zip(windows.after, windows.strides))
        more = windows._replace(after=tuple(after))
    extents = [prim.const(size, dim.dtype) for size, dim in zip(kernel, sizes)]
    taps = [reduce_axis((0, size), name=f"rv{axis}") for axis, size in enumerate(extents)]
    is_max = pool_type == "max"
    wide = sum_dtype(data.dtype)
    if is_max:
        source = padded(data, order, more, reduction.least(str(data.dtype)))
    else:
        source = zero_padded(data, order, more, wide)

    def element(*plain: PrimExpr) -> PrimExpr:
        places = (
            window_index(place, tap.var, windows, axis)
            for axis, (place, tap) in enumerate(zip(plain[2:], taps))
        )
        found: PrimExpr = source[tuple(order.spread([*plain[:2], *places]))]
        return found

    if is_max:
        return arranged(
            orders[1], shape, lambda *i: reduction.max(element(*i), axis=taps), "pool_max"
        )

    def total(*plain: PrimExpr) -> Any:
        return reduction.sum(prim.cast(element(*plain), wide), axis=taps)

    def count(*plain: PrimExpr) -> PrimExpr:
        if not ceil and (pad_counts or not (any(windows.before) or any(windows.after))):
            return prim.const(math.prod(kernel), plain[0].dtype)
        return elements_of_window(plain[2:], extents, sizes, windows, pad_counts)

    return _means(total, count, orders[1], shape, data.dtype, "pool")


def sum_dtype(dtype: DataType) -> DataType:
    """The dtype in which elements are added up for a mean: a wider one."""
    if dtype.is_float:
        return _FLOAT32 if dtype.bits <= 16 else _FLOAT64
    return DataType("int64" if dtype.kind == "int" else "uint64")


def elements_of_window(
    places: Sequence[PrimExpr], kernel: Sequence[PrimExpr], sizes: Sequence[PrimExpr],
    windows: Windows, pads: bool,
) -> PrimExpr:  # fmt: skip
    """The number of elements of a window that are inside, at least 1; `pads` may count."""
    numbers = [
        _elements_inside(place, kernel[axis], sizes[axis], windows, axis, pads)
        for axis, place in enumerate(places)
    ]
    return prim.Max(math.prod(numbers[1:], start=numbers[0]), prim.const(1, numbers[0].dtype))


def _elements_inside(
    place: PrimExpr, kernel: PrimExpr, size: PrimExpr, windows: Windows, axis: int, pads: bool
) -> PrimExpr:
    """The number of elements of a window, along an axis, that are inside; `pads` may count."""
    step, before = windows.dilation[axis], windows.before[axis]
    zero = prim.const(0, place.dtype)
    first = simplify(place * windows.strides[axis] - before)
    low, high = (zero - before, size + windows.after[axis]) if pads else (zero, size)
    if step == 1:
        found = prim.Min(first + kernel, high) - prim.Max(first, low)
    else:
        lowest = prim.Max((low - first + (step - 1)) // step, zero)
        highest = prim.Min((high - 1 - first) // step, kernel - 1)
        found = highest - lowest + 1
    return prim.Max(simplify(found), zero)


def _means(
    total: Callable[..., Any], count: Callable[..., PrimExpr], order: AxisOrder,
    shape: Sequence[PrimExpr], dtype: DataType, name: str,
) -> Any:  # fmt: skip
    """The quotients of sums and of how many elements there are, rounded once."""
    own = plain_order(order.letters) if order.is_packed else order
    sums = arranged(own, own.spread(order.sizes(shape)), total, f"{name}_sum")

    def mean(*plain: PrimExpr) -> PrimExpr:
        whole = sums[tuple(own.spread(plain))]
        return prim.cast(prim.Div.make(whole, prim.cast(count(*plain), whole.dtype)), dtype)

    return arranged(order, shape, mean, f"{name}_avg")


# ---------------------------------------------------------------- as many windows as are asked for


def pool_to(
    data: Tensor, pool_type: str, orders: Orders, shape: Sequence[PrimExpr]
) -> Any:  # fmt: skip
    """The largest elements or the means of as many windows of about one size as `shape` says.

    `orders` are those of the data and of the result.
    """
    data, order = unpack(data, orders[0])
    pairs = list(zip(order.sizes(data.shape)[2:], orders[1].sizes(shape)[2:]))
    extents = [_longest(size, count) for size, count in pairs]
    taps = [reduce_axis((0, extent), name=f"rv{axis}") for axis, extent in enumerate(extents)]

    def element(plain: Sequence[PrimExpr]) -> tuple[PrimExpr, PrimExpr | None]:
        places, conditions = [], list[PrimExpr]()
        for place, tap, extent, (size, count) in zip(plain[2:], taps, extents, pairs):
            start, end = _window(place, size, count)
            at = simplify(start + tap.var)
            places.append(at)
            if prove_equal(simplify(end - start), extent) is not YES:
                conditions.append(prim.LT(at, end))
        found: PrimExpr = data[tuple(order.spread([*plain[:2], *places]))]
        return found, tir_functions.all(*conditions) if conditions else None

    if pool_type == "max":

        def largest(*plain: PrimExpr) -> Any:
            e, inside = element(plain)
            return reduction.max(e, axis=taps, where=inside)

        return arranged(orders[1], shape, largest, "adaptive_pool_max")
    wide = sum_dtype(data.dtype)

    def total(*plain: PrimExpr) -> Any:
        e, inside = element(plain)
        return reduction.sum(prim.cast(e, wide), axis=taps, where=inside)

    def count(*plain: PrimExpr) -> PrimExpr:
        windows = (_window(place, *pair) for place, pair in zip(plain[2:], pairs))
        lengths = [simplify(end - start) for start, end in windows]
        return simplify(math.prod(lengths[1:], start=lengths[0]))

    return _means(total, count, orders[1], shape, data.dtype, "adaptive_pool")


def _window(place: PrimExpr, size: PrimExpr, count: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """The first element of a window along an axis, and the one behind its last."""
    if prove_equal(size, count) is YES:
        return place, place + 1
    whole = _whole_quotient(size, count)
    if whole is not None:
        return simplify(place * whole), simplify(place * whole + whole)
    return simplify(place * size // count), simplify(((place + 1) * size + count - 1) // count)


def _longest(size: PrimExpr, count: PrimExpr) -> PrimExpr:
    """The length of the longest window along an axis."""
    if prove_equal(size, count) is YES:
        return prim.const(1, size.dtype)
    if isinstance(size, IntImm) and isinstance(count, IntImm):
        common = math.gcd(size.value, count.value)
        return prim.const((size.value - common - 1) // count.value + 2, size.dtype)
    return simplify((size - 2) // count + 2)


def _whole_quotient(size: PrimExpr, count: PrimExpr) -> int | None:
    """The length of all windows along an axis, where they have one."""
    if isinstance(size, IntImm) and isinstance(count, IntImm) and not size.value % count.value:
        return size.value // count.value
    return None


# ---------------------------------------------------------------- what users call


def read_pooled(
    callee: str, data: Tensor, layout: str, pool_type: str, axes: int
) -> AxisOrder:  # fmt: skip
    """The order of the axes of a tensor; raises `OperandError` where it is of another."""
    letters = "NC" + SPATIAL.get(axes, "")
    places = axes_of(layout, letters)
    if places is None or len(places) > len(letters):
        raise OperandError(
            "layout", f'is "{layout}"', code="RX0204",
            message=f'`{callee}` takes the axes of "{letters}" in some order',
        )  # fmt: skip
    if data.ndim != len(places):
        raise OperandError(
            "data", f"has rank {data.ndim}", code="RX0203",
            message=f'`{callee}` takes a tensor of the axes "{layout}"',
        )  # fmt: skip
    if pool_type not in ("max", "avg"):
        raise OperandError(
            "pool_type", f'is "{pool_type}"', message='it is "max" or "avg"', code="RX0204"
        )
    return AxisOrder(layout, letters, places)


def _pool(
    axes: int, data: Tensor, kernel: Any, stride: Any, dilation: Any, padding: Any, pool_type: str,
    ceil_mode: bool, layout: str, count_include_pad: bool,
) -> Any:  # fmt: skip
    order = read_pooled(f"topi.nn.pool{axes}d", data, layout, pool_type, axes)
    size, steps, pads, gaps = (
        tuple(n) if isinstance(n, list) else n for n in (kernel, stride, padding, dilation)
    )
    windows = windows_of(steps, pads, gaps, axes)
    kernel = per_axis("kernel", size, axes, 1)
    dims = order.sizes(data.shape)
    for axis in range(axes):
        extent = prim.const(kernel[axis], dims[axis + 2].dtype)
        dims[axis + 2] = out_size(dims[axis + 2], extent, windows, axis, ceil_mode)
    return pool(
        data, kernel, windows, pool_type, (order, order), order.spread(dims), ceil=ceil_mode,
        pad_counts=count_include_pad,
    )  # fmt: skip


@topi_function
def pool1d(
    data: Tensor, kernel: Any, stride: Any, dilation: Any, padding: Any, pool_type: str,
    ceil_mode: bool = False, layout: str = "NCW", count_include_pad: bool = True,
) -> Any:  # fmt: skip
    """The largest element ("max") or the mean ("avg") of each window along one spatial axis.

    `padding` is one number, or one before and one behind. Raises `OperandError` for what does not
    fit.
    """
    return _pool(
        1, data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad
    )


@topi_function
def pool2d(
    data: Tensor, kernel: Any, stride: Any, dilation: Any, padding: Any, pool_type: str,
    ceil_mode: bool = False, layout: str = "NCHW", count_include_pad: bool = True,
) -> Any:  # fmt: skip
    """The largest element ("max") or the mean ("avg") of each window along two spatial axes.

    `padding` is one number, one for each axis, or those before and then those behind. Raises
    `OperandError` for what does not fit.
    """
    return _pool(
        2, data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad
    )


@topi_function
def pool3d(
    data: Tensor, kernel: Any, stride: Any, dilation: Any, padding: Any, pool_type: str,
    ceil_mode: bool = False, layout: str = "NCDHW", count_include_pad: bool = True,
) -> Any:  # fmt: skip
    """The largest element ("max") or the mean ("avg") of each window along three spatial axes.

    `padding` is one number, one for each axis, or those before and then those behind. Raises
    `OperandError` for what does not fit.
    """
    return _pool(
        3, data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad
    )


def _pool_to(
    callee: str, axes: int, data: Tensor, output_size: Any, pool_type: str, layout: str
) -> Any:  # fmt: skip
    order = read_pooled(callee, data, layout, pool_type, axes)
    wanted = tuple(output_size) if isinstance(output_size, list) else output_size
    n, c, *spatial = order.sizes(data.shape)
    sizes = per_axis("output_size", wanted, axes, 1)
    dims = [prim.const(size, dim.dtype) for size, dim in zip(sizes, spatial)]
    return pool_to(data, pool_type, (order, order), order.spread([n, c, *dims]))


@topi_function
def adaptive_pool(data: Tensor, output_size: Any, pool_type: str, layout: str = "NCHW") -> Any:
    """As many windows of about one size as are asked for, along two spatial axes; see `pool2d`."""
    return _pool_to("topi.nn.adaptive_pool", 2, data, output_size, pool_type, layout)


@topi_function
def adaptive_pool1d(data: Tensor, output_size: Any, pool_type: str, layout: str = "NCW") -> Any:
    """As many windows of about one size as are asked for, along one spatial axis; see `pool1d`."""
    return _pool_to("topi.nn.adaptive_pool1d", 1, data, output_size, pool_type, layout)


@topi_function
def adaptive_pool3d(data: Tensor, output_size: Any, pool_type: str, layout: str = "NCDHW") -> Any:
    """As many windows of about one size as are asked for, along three axes; see `pool3d`."""
    return _pool_to("topi.nn.adaptive_pool3d", 3, data, output_size, pool_type, layout)


@topi_function
def global_pool(data: Tensor, pool_type: str, layout: str = "NCHW") -> Any:
    """All elements along two spatial axes made into one; see `pool2d`."""
    return _pool_to("topi.nn.global_pool", 2, data, 1, pool_type, layout)

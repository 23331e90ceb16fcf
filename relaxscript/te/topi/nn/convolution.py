"""Convolutions of one, two and three spatial axes, in any order of their axes.

Source: TVM `topi.nn.conv1d`, `topi.nn.conv2d`, `topi.nn.conv3d`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.arith import NO, format_expr, prove_equal, simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.sinfo.axis_order import AxisOrder, axes_of
from relaxscript.sinfo.windows import SPATIAL, Windows, out_size, windows_of
from relaxscript.te import reduction
from relaxscript.te.compute import dtype_of, reduce_axis
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.elementwise import cast
from relaxscript.te.topi.layouts import arranged, unpack
from relaxscript.te.topi.operands import topi_function

from .padding import pad

__all__ = ["conv", "conv1d", "conv2d"]

# The names of loops: over the result by its letters, over what is summed by those of the weight.
LOOPS = {"N": "nn", "C": "ff", "D": "zz", "H": "yy", "W": "xx"}
SUMMED = {"D": "rz", "H": "ry", "W": "rx"}

Orders = tuple[AxisOrder, AxisOrder, AxisOrder]


def convolve(
    data: Tensor, weight: Tensor, windows: Windows, groups: int, orders: Orders,
    shape: Sequence[PrimExpr], dtype: DataType,
) -> Any:  # fmt: skip
    """The convolution of a known shape, whose sums are of `dtype`.

    `orders` are those of the data, of the weight and of the result.
    """
    data, of_data = unpack(data, orders[0])
    weight, of_weight = unpack(weight, orders[1])
    data = zero_padded(data, of_data, windows, dtype)
    outputs, inputs, *kernel = of_weight.sizes(weight.shape)
    letters = orders[2].letters
    rc = reduce_axis((0, inputs), name="rc")
    taps = [reduce_axis((0, n), name=SUMMED[c]) for n, c in zip(kernel, letters[2:])]
    share = simplify(outputs // groups)

    def element(n: PrimExpr, f: PrimExpr, *places: PrimExpr) -> Any:
        channel: PrimExpr = rc.var
        if groups > 1:
            channel = simplify(f // share * inputs + rc.var)
        at = [
            window_index(place, tap.var, windows, axis)
            for axis, (place, tap) in enumerate(zip(places, taps))
        ]
        x = data[tuple(of_data.spread([n, channel, *at]))]
        k = weight[tuple(of_weight.spread([f, rc.var, *(tap.var for tap in taps)]))]
        product = prim.cast(x, dtype) * prim.cast(k, dtype)
        return reduction.sum(product, axis=[rc, *taps])

    name = f"{'group_' if groups > 1 else ''}conv{len(kernel)}d_{orders[0].text.lower()}"
    return arranged(orders[2], shape, element, name, LOOPS)


def each_channel(
    callee: str, data: Tensor, weight: Tensor, attributes: tuple[Any, Any, Any], of_data: AxisOrder,
    of_weight: AxisOrder, dtype: DataType,
) -> Any:  # fmt: skip
    """The convolution of each channel by its own kernels; raises `OperandError`.

    `attributes` are strides, padding and dilation.
    """
    n, channels, *sizes = of_data.sizes(data.shape)
    own, many, *kernel = of_weight.sizes(weight.shape)
    if prove_equal(channels, own) is NO:
        raise OperandError(
            "kernel", f"has kernels of {format_expr(own)} channels", code="RX0203",
            also={"data": f"has {format_expr(channels)}"},
            message=f"the kernel of `{callee}` is for another number of channels",
        )  # fmt: skip
    strides, padding, dilation = attributes
    windows = windows_for(strides, padding, dilation, kernel)
    source = zero_padded(data, of_data, windows, dtype)
    taps = [reduce_axis((0, size), name=name) for size, name in zip(kernel, ("di", "dj"))]

    def element(n: PrimExpr, f: PrimExpr, *places: PrimExpr) -> Any:
        channel, number = simplify(f // many), simplify(f % many)
        at = [
            window_index(place, tap.var, windows, axis)
            for axis, (place, tap) in enumerate(zip(places, taps))
        ]
        x = source[tuple(of_data.spread([n, channel, *at]))]
        k = weight[tuple(of_weight.spread([channel, number, *(tap.var for tap in taps)]))]
        return reduction.sum(prim.cast(x, dtype) * prim.cast(k, dtype), axis=taps)

    found = [out_size(size, k, windows, a) for a, (size, k) in enumerate(zip(sizes, kernel))]
    shape = of_data.spread([n, simplify(channels * many), *found])
    name = f"depthwise_conv2d_{of_data.text.lower()}"
    return arranged(of_data, shape, element, name)


def zero_padded(data: Tensor, order: AxisOrder, windows: Windows, wide: DataType) -> Tensor:
    """A tensor with zeros around its spatial axes, in `wide` where its dtype has no zero."""
    none = bool(np.isnan(np.zeros(()).astype(data.dtype.numpy).astype(np.float64)))
    return padded(cast(data, wide) if none else data, order, windows, 0)


def padded(data: Tensor, order: AxisOrder, windows: Windows, value: Any) -> Tensor:
    """A tensor with what pads its spatial axes."""
    if not any(windows.before) and not any(windows.after):
        return data
    before, after = [0] * order.rank, [0] * order.rank
    for axis, (low, high) in enumerate(zip(windows.before, windows.after), 2):
        (place,) = order.parts(axis)
        before[place], after[place] = low, high
    made: Tensor = pad(data, before, after, value, name="pad_temp")
    return made


def window_index(place: PrimExpr, tap: PrimExpr, windows: Windows, axis: int) -> PrimExpr:
    """The index of an element of a window in the padded tensor."""
    stride, step = windows.strides[axis], windows.dilation[axis]
    return (place if stride == 1 else place * stride) + (tap if step == 1 else tap * step)


# ---------------------------------------------------------------- what users call


def read_orders(
    callee: str, data: Tensor, weight: Tensor, layouts: Sequence[str], letters: Sequence[str]
) -> list[AxisOrder]:
    """The orders of the axes of two tensors; raises `OperandError` for tensors of others."""
    orders = []
    for name, tensor, text, plain in zip(("data", "kernel"), (data, weight), layouts, letters):
        axes = axes_of(text, plain)
        if axes is None or len(axes) > len(plain):
            raise OperandError(
                f"{name}_layout", f'is "{text}"', code="RX0204",
                message=f'`{callee}` takes the axes of "{plain}" in some order',
            )  # fmt: skip
        if tensor.ndim != len(plain):
            raise OperandError(
                name, f"has {quantity(tensor.ndim, 'axis')}", code="RX0203",
                message=f'`{callee}` takes a tensor of the axes "{text}"',
            )  # fmt: skip
        orders.append(AxisOrder(text, plain, axes))
    return orders


def windows_for(
    strides: Any, padding: Any, dilation: Any, kernel: Sequence[PrimExpr]
) -> Windows:  # fmt: skip
    """The windows of a kernel; `padding` may be "VALID", which is none, and "SAME".

    With "SAME" there are as many windows as elements where the stride is 1. Raises `OperandError`.
    """
    axes = len(kernel)
    if not isinstance(padding, str):
        return windows_of(_numbers(strides), _numbers(padding), _numbers(dilation), axes)
    plain = windows_of(_numbers(strides), 0, _numbers(dilation), axes)
    if padding == "VALID":
        return plain
    if padding != "SAME" or not all(isinstance(size, IntImm) for size in kernel):
        raise OperandError(
            "padding", f'is "{padding}"', code="RX0204",
            message='the padding is numbers, "VALID", or "SAME" for a kernel of known size',
        )  # fmt: skip
    more = [
        (size.value - 1) * step
        for size, step in zip(kernel, plain.dilation)
        if isinstance(size, IntImm)
    ]
    after = tuple(n // 2 for n in more)
    return plain._replace(before=tuple(n - m for n, m in zip(more, after)), after=after)


def _numbers(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def conv_of(
    callee: str, data: Tensor, weight: Tensor, strides: Any, padding: Any, dilation: Any,
    groups: int, data_layout: str, kernel_layout: str, out_dtype: Any,
) -> Any:  # fmt: skip
    """The convolution of tensors by layouts; raises `OperandError` for what does not fit."""
    spatial = SPATIAL.get(data.ndim - 2, "")
    own = kernel_layout or ("OI" + spatial if data_layout[:2] == "NC" else spatial + "IO")
    orders = read_orders(callee, data, weight, (data_layout, own), ("NC" + spatial, "OI" + spatial))
    x, k = orders[0].sizes(data.shape), orders[1].sizes(weight.shape)
    windows = windows_for(strides, padding, dilation, k[2:])
    inside = simplify(k[1] * groups)
    if prove_equal(x[1], inside) is NO:
        raise OperandError(
            "kernel", f"takes {format_expr(inside)} channels", code="RX0203",
            also={"data": f"has {format_expr(x[1])}"},
            message=f"the kernel of `{callee}` is for another number of channels",
        )  # fmt: skip
    sizes = [out_size(x[a + 2], k[a + 2], windows, a) for a in range(len(spatial))]
    shape = orders[0].spread([x[0], k[0], *sizes])
    dtype = data.dtype if out_dtype is None else dtype_of(out_dtype, "out_dtype")
    return convolve(data, weight, windows, groups, (orders[0], orders[1], orders[0]), shape, dtype)


@topi_function
def conv(
    inp: Tensor, filt: Tensor, stride: Any, padding: Any, dilation: Any, groups: int,
    data_layout: str, kernel_layout: str = "", out_dtype: Any = None,
) -> Any:  # fmt: skip
    """The sums of `filt` times the windows of `inp`, along one, two or three spatial axes.

    `padding` is one number, one for each axis, those before and then those behind, "VALID" or
    "SAME". Sums are of `out_dtype`, or of the dtype of `inp`. Raises `OperandError` for tensors
    that do not fit.
    """
    return conv_of(
        "topi.nn.conv", inp, filt, stride, padding, dilation, groups, data_layout, kernel_layout,
        out_dtype,
    )  # fmt: skip


@topi_function
def conv1d(
    data: Tensor, kernel: Tensor, strides: Any = 1, padding: Any = "VALID", dilation: Any = 1,
    data_layout: str = "NCW", kernel_layout: str = "", out_dtype: Any = None,
) -> Any:  # fmt: skip
    """The convolution along one spatial axis; see `conv`."""
    return conv_of(
        "topi.nn.conv1d", data, kernel, strides, padding, dilation, 1, data_layout, kernel_layout,
        out_dtype,
    )  # fmt: skip


@topi_function
def conv2d(
    data: Tensor, kernel: Tensor, strides: Any, padding: Any, dilation: Any,
    data_layout: str = "NCHW", kernel_layout: str = "", out_dtype: Any = None,
) -> Any:  # fmt: skip
    """The convolution along two spatial axes; see `conv`."""
    return conv_of(
        "topi.nn.conv2d", data, kernel, strides, padding, dilation, 1, data_layout, kernel_layout,
        out_dtype,
    )  # fmt: skip

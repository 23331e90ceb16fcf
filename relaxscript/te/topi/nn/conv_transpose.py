"""Transposed convolutions: each element spread over a window, what overlaps added up.

An element of the result looks for the elements whose windows cover it, so that nothing is written
twice. Source: TVM `topi.nn.conv2d_transpose_nchw` and those like it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import NO, format_expr, prove_equal, simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim, tir_functions
from relaxscript.ir.prim import PrimExpr
from relaxscript.sinfo.windows import Windows
from relaxscript.te import reduction
from relaxscript.te.compute import dtype_of, reduce_axis
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.layouts import arranged, unpack
from relaxscript.te.topi.operands import topi_function

from .convolution import LOOPS, SUMMED, Orders, read_orders, windows_for

__all__ = [
    "conv1d_transpose_ncw", "conv2d_transpose_nchw", "conv3d_transpose_ncdhw",
    "group_conv2d_transpose_nchw",
]  # fmt: skip


def spread(
    data: Tensor, weight: Tensor, windows: Windows, groups: int, orders: Orders,
    shape: Sequence[PrimExpr], dtype: DataType,
) -> Any:  # fmt: skip
    """The transposed convolution of a known shape, whose sums are of `dtype`.

    `orders` are those of the data, of the weight and of the result.
    """
    data, of_data = unpack(data, orders[0])
    weight, of_weight = unpack(weight, orders[1])
    inputs, outputs, *kernel = of_weight.sizes(weight.shape)
    sizes = of_data.sizes(data.shape)[2:]
    letters = orders[2].letters
    share = simplify(inputs // groups)
    rc = reduce_axis((0, share), name="rc")
    taps = [reduce_axis((0, n), name=SUMMED[c]) for n, c in zip(kernel, letters[2:])]

    def element(n: PrimExpr, f: PrimExpr, *places: PrimExpr) -> Any:
        channel: PrimExpr = rc.var
        if groups > 1:
            channel = simplify(f // outputs * share + rc.var)
            f = simplify(f % outputs)
        at, conditions = [], []
        for axis, (place, tap) in enumerate(zip(places, taps)):
            source, covers = _source(place, tap.var, sizes[axis], windows, axis)
            at.append(source)
            conditions += covers
        x = data[tuple(of_data.spread([n, channel, *at]))]
        k = weight[tuple(of_weight.spread([channel, f, *(tap.var for tap in taps)]))]
        product = prim.cast(x, dtype) * prim.cast(k, dtype)
        covered = tir_functions.all(*conditions)
        return reduction.sum(product, axis=[rc, *taps], where=covered)

    name = f"{'group_' if groups > 1 else ''}conv{len(kernel)}d_transpose_{orders[0].text.lower()}"
    return arranged(orders[2], shape, element, name, LOOPS)


def _source(
    place: PrimExpr, tap: PrimExpr, size: PrimExpr, windows: Windows, axis: int
) -> tuple[PrimExpr, list[PrimExpr]]:
    """The element whose window has `place` at `tap`, and the conditions that there is one."""
    stride, step, before = windows.strides[axis], windows.dilation[axis], windows.before[axis]
    zero = prim.const(0, place.dtype)
    first = simplify(place + before - tap * step)
    if stride == 1:
        return first, [prim.GE(first, zero), prim.LT(first, size)]
    source = first // stride
    whole = prim.EQ(first % stride, zero)
    return source, [prim.GE(first, zero), whole, prim.LT(source, size)]


# ---------------------------------------------------------------- what users call


def _of_plain(
    callee: str, data: Tensor, weight: Tensor, strides: Any, padding: Any, out_dtype: Any,
    output_padding: Any, groups: int, layout: str,
) -> Any:  # fmt: skip
    """The transposed convolution of tensors in plain order; raises `OperandError`."""
    letters = (layout, "IO" + layout[2:])
    of_data, of_weight = read_orders(callee, data, weight, letters, letters)
    axes = len(layout) - 2
    windows = windows_for(strides, padding, 1, weight.shape[2:])
    more = (output_padding,) * axes if isinstance(output_padding, int) else output_padding
    if len(more) != axes or not all(0 <= n < s for n, s in zip(more, windows.strides)):
        raise OperandError(
            "output_padding", f"is {output_padding}", code="RX0204",
            also={"strides": f"are {windows.strides}"},
            message="what is added behind is one number for each axis, less than its stride",
        )  # fmt: skip
    if prove_equal(data.shape[1], weight.shape[0]) is NO or groups < 1:
        raise OperandError(
            "kernel", f"takes {format_expr(weight.shape[0])} channels", code="RX0203",
            also={"data": f"has {format_expr(data.shape[1])}"},
            message=f"the kernel of `{callee}` is for another number of channels",
        )  # fmt: skip
    shape = [data.shape[0], simplify(weight.shape[1] * groups)]
    for axis, (size, kernel) in enumerate(zip(data.shape[2:], weight.shape[2:])):
        length = (size - 1) * windows.strides[axis] + kernel + more[axis]
        shape.append(simplify(length - (windows.before[axis] + windows.after[axis])))
    dtype = data.dtype if out_dtype is None else dtype_of(out_dtype, "out_dtype")
    return spread(data, weight, windows, groups, (of_data, of_weight, of_data), shape, dtype)


@topi_function
def conv1d_transpose_ncw(
    data: Tensor, kernel: Tensor, stride: Any, padding: Any, out_dtype: Any, output_padding: Any
) -> Any:
    """The transposed convolution along one spatial axis; see `conv2d_transpose_nchw`."""
    return _of_plain(
        "topi.nn.conv1d_transpose_ncw", data, kernel, stride, padding, out_dtype, output_padding, 1,
        "NCW",
    )  # fmt: skip


@topi_function
def conv2d_transpose_nchw(
    Input: Tensor, Filter: Tensor, strides: Any, padding: Any, out_dtype: Any, output_padding: Any
) -> Any:
    """The elements of `Input` times `Filter`, of layout IOHW, spread over windows and added up.

    `padding` is taken away from the result, `output_padding` added behind. Sums are of `out_dtype`.
    Raises `OperandError` for tensors that do not fit.
    """
    return _of_plain(
        "topi.nn.conv2d_transpose_nchw", Input, Filter, strides, padding, out_dtype, output_padding,
        1, "NCHW",
    )  # fmt: skip


@topi_function
def conv3d_transpose_ncdhw(
    Input: Tensor, Filter: Tensor, strides: Any, padding: Any, out_dtype: Any, output_padding: Any
) -> Any:
    """The transposed convolution along three spatial axes; see `conv2d_transpose_nchw`."""
    return _of_plain(
        "topi.nn.conv3d_transpose_ncdhw", Input, Filter, strides, padding, out_dtype,
        output_padding, 1, "NCDHW",
    )  # fmt: skip


@topi_function
def group_conv2d_transpose_nchw(
    data: Tensor, kernel: Tensor, stride: Any, padding: Any, out_dtype: Any, output_padding: Any,
    groups: int,
) -> Any:  # fmt: skip
    """The transposed convolution of channels in groups; see `conv2d_transpose_nchw`."""
    return _of_plain(
        "topi.nn.group_conv2d_transpose_nchw", data, kernel, stride, padding, out_dtype,
        output_padding, groups, "NCHW",
    )  # fmt: skip

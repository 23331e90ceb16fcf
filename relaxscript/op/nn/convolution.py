"""Convolutions of one, two and three spatial axes. Source: TVM `relax.nn.conv2d`, ONNX `Conv`."""

from __future__ import annotations

import functools
from typing import Any

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import cast_like, known_dims
from relaxscript.op.numeric import window_dtype
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.mixed_precision import with_out_dtype
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import Axes, DType, Tensor
from relaxscript.opdef.shapes import (
    ZERO,
    Dims,
    common_dtype,
    common_vdevice,
    number,
    require_dtype,
    require_equal,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

from .convolution_gradients import by_weight, spread_back
from .im2col import convolution
from .layouts import Layout, convolution_layouts, from_plain, read_layout, to_plain
from .windows import (
    SPATIAL,
    Windows,
    canonical_convolution,
    out_size,
    require_groups,
    require_windows,
    windows_of,
)

__all__ = ["conv1d", "conv2d", "conv3d"]


@op("nn.conv1d", traits={Trait.MIXED_ALWAYS})
def conv1d(
    data: Tensor,
    weight: Tensor,
    strides: int | Axes = 1,
    padding: int | Axes = 0,
    dilation: int | Axes = 1,
    groups: int = 1,
    data_layout: str = "NCW",
    kernel_layout: str = "OIW",
    out_layout: str | None = None,
    out_dtype: DType | None = None,
) -> Tensor:
    """The sums of `weight` times the windows of `data` along one spatial axis.

    `padding` is one number, or one before and one behind. Of the channels each of `groups` takes
    its share. Sums are computed in the dtype of the result, those of floats of 16 bits or
    fewer in float32.
    """
    windows = windows_of(strides, padding, dilation, 1)
    layouts = (data_layout, kernel_layout, out_layout or data_layout)
    return _convolve(data, weight, windows, groups, layouts, out_dtype)


@op("nn.conv2d", traits={Trait.MIXED_ALWAYS})
def conv2d(
    data: Tensor,
    weight: Tensor,
    strides: int | Axes = (1, 1),
    padding: int | Axes = (0, 0),
    dilation: int | Axes = (1, 1),
    groups: int = 1,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_layout: str | None = None,
    out_dtype: DType | None = None,
) -> Tensor:
    """The sums of `weight` times the windows of `data` along two spatial axes.

    `padding` is one number, one for each axis, or those before and then those behind. Of the
    channels each of `groups` takes its share. Sums are computed in the dtype of the
    result, those of floats of 16 bits or fewer in float32.
    """
    windows = windows_of(strides, padding, dilation, 2)
    layouts = (data_layout, kernel_layout, out_layout or data_layout)
    return _convolve(data, weight, windows, groups, layouts, out_dtype)


@op("nn.conv3d", traits={Trait.MIXED_ALWAYS})
def conv3d(
    data: Tensor,
    weight: Tensor,
    strides: int | Axes = (1, 1, 1),
    padding: int | Axes = (0, 0, 0),
    dilation: int | Axes = (1, 1, 1),
    groups: int = 1,
    data_layout: str = "NCDHW",
    kernel_layout: str = "OIDHW",
    out_layout: str | None = None,
    out_dtype: DType | None = None,
) -> Tensor:
    """The sums of `weight` times the windows of `data` along three spatial axes.

    `padding` is one number, one for each axis, or those before and then those behind. Of the
    channels each of `groups` takes its share. Sums are computed in the dtype of the
    result, those of floats of 16 bits or fewer in float32.
    """
    windows = windows_of(strides, padding, dilation, 3)
    layouts = (data_layout, kernel_layout, out_layout or data_layout)
    return _convolve(data, weight, windows, groups, layouts, out_dtype)


# ---------------------------------------------------------------- the meaning


def _convolve(
    data: Any,
    weight: Any,
    w: Windows,
    groups: int,
    layouts: tuple[str, str, str],
    out_dtype: DataType | None,
) -> Tensor:
    spatial = SPATIAL[len(w.strides)]
    element = data.dtype if out_dtype is None else out_dtype.numpy
    inner = window_dtype(data.dtype, element)
    x = read_layout("data_layout", layouts[0], "NC" + spatial).unpack(data)
    k = read_layout("kernel_layout", layouts[1], "OI" + spatial).unpack(weight)
    result = convolution(x.astype(inner, copy=False), k.astype(inner, copy=False), w, groups)
    out = read_layout("out_layout", layouts[2], "NC" + spatial)
    found: Tensor = out.pack(result).astype(element, copy=False)
    return found


def _convolution_loops(operator: Operator, axes: int) -> None:
    @operator.compute(sums=4)
    def _(
        context: ComputeContext,
        data: te.Tensor,
        weight: te.Tensor,
        strides: int | tuple[int, ...],
        padding: int | tuple[int, ...],
        dilation: int | tuple[int, ...],
        groups: int,
        data_layout: str,
        kernel_layout: str,
        out_layout: str | None,
        out_dtype: DataType | None,
    ) -> te.Tensor:
        windows = windows_of(strides, padding, dilation, axes)
        layouts = _layouts(axes, data_layout, kernel_layout, out_layout)
        inner = DataType(window_dtype(data.dtype.numpy, context.dtype.numpy))
        made = topi.nn.convolution.convolve(
            data, weight, windows, groups, layouts, context.shape, inner
        )
        return topi.linear_algebra.rounded(made, context.dtype)


# ---------------------------------------------------------------- what is known of the result


def _convolution_rule(operator: Operator, axes: int) -> None:
    operator.layout_rule(convolution_layouts)

    @operator.infer_rule
    def rule(
        context: InferContext,
        data: TensorStructInfo,
        weight: TensorStructInfo,
        strides: int | tuple[int, ...],
        padding: int | tuple[int, ...],
        dilation: int | tuple[int, ...],
        groups: int,
        data_layout: str,
        kernel_layout: str,
        out_layout: str | None,
        out_dtype: DataType | None,
    ) -> StructInfo:
        windows = windows_of(strides, padding, dilation, axes)
        layouts = _layouts(axes, data_layout, kernel_layout, out_layout)
        operands = {"data": data, "weight": weight}
        dtype, vdevice = common_dtype(operands), common_vdevice(operands)
        require_dtype("data", data.dtype, "number")
        x = layouts[0].dims(context, "data", data)
        k = layouts[1].dims(context, "weight", weight)
        if x is None or k is None:
            return tensor_of(None, out_dtype or dtype, vdevice, layouts[2].rank)
        _require_channels(context, x, k, groups)
        dims = layouts[2].arrange(context, "weight", _sizes(context, x, k, windows))
        return tensor_of(dims, out_dtype or dtype, vdevice)

    operator.mixed_precision_rule(with_out_dtype)

    @operator.gradient
    def gradient(
        context: GradientContext, data: Expr, weight: Expr, strides: Any, padding: Any,
        dilation: Any, groups: int, data_layout: str, kernel_layout: str, out_layout: str | None,
        out_dtype: DataType | None,
    ) -> Gradients:  # fmt: skip
        windows = windows_of(strides, padding, dilation, axes)
        of_data, of_kernel, of_result = _layouts(axes, data_layout, kernel_layout, out_layout)
        grad = to_plain(context.grad, of_result)
        x = to_plain(cast_like(data, grad), of_data)
        kernel = to_plain(cast_like(weight, grad), of_kernel)
        by_data = spread_back(grad, kernel, windows, known_dims("data", x)[2:], groups)
        wanted = known_dims("weight", kernel)[2:]
        by_kernel = by_weight(x, grad, windows, wanted, groups)
        return (
            cast_like(from_plain(by_data, of_data), data),
            cast_like(from_plain(by_kernel, of_kernel), weight),
        )

    operator.canonical_rule(functools.partial(canonical_convolution, axes))

    @operator.attribute_rule
    def alone(strides: Any, padding: Any, dilation: Any, groups: int, **others: Any) -> None:
        windows_of(strides, padding, dilation, axes)
        require_groups(groups)
        _layouts(axes, others["data_layout"], others["kernel_layout"], others["out_layout"])


def _layouts(axes: int, data: str, kernel: str, out: str | None) -> tuple[Layout, Layout, Layout]:
    """The layouts of the data, the kernel and the result."""
    letters = "NC" + SPATIAL[axes]
    return (
        read_layout("data_layout", data, letters),
        read_layout("kernel_layout", kernel, "OI" + SPATIAL[axes]),
        read_layout("out_layout", out or data, letters),
    )


def _sizes(context: InferContext, x: Dims, k: Dims, windows: Windows) -> list[Any]:
    """The dimensions of the result: batch, channels, then the spatial ones."""
    dims = [x[0], k[0]]
    for axis, letter in enumerate(SPATIAL[len(windows.strides)]):
        found = out_size(x[axis + 2], k[axis + 2], windows, axis)
        require_windows(context, "data", x[axis + 2], found, letter)
        dims.append(found)
    return dims


def _require_channels(context: InferContext, x: Dims, k: Dims, groups: int) -> None:
    if groups > 1:
        error = OperandError(
            "weight",
            f"has {dim_text(k[0])} output channels",
            also={"groups": f"is {groups}"},
            message="each group has as many output channels",
        )
        rest = simplify(prim.FloorMod.make(k[0], number(groups)))
        text = f"`weight` has {dim_text(k[0])} output channels, in {groups} groups of one size"
        require_equal(context, rest, ZERO, error, text)
    inside = prim.Mul.make(k[1], number(groups)) if groups > 1 else k[1]
    if isinstance(k[1], IntImm):
        inside = number(k[1].value * groups)
    if same_dim(x[1], inside):
        return
    error = OperandError(
        "weight",
        f"takes {dim_text(inside)} channels",
        also={"data": f"has {dim_text(x[1])} channels"},
        message="the weight is for another number of channels",
        help="the channels of `data` are those of a group of `weight`, times `groups`",
    )
    text = f"`weight` takes {dim_text(inside)} channels, and `data` has {dim_text(x[1])}"
    require_equal(context, x[1], inside, error, text)


for _axes, _operator in enumerate((conv1d, conv2d, conv3d), 1):
    _convolution_rule(_operator, _axes)
    _convolution_loops(_operator, _axes)

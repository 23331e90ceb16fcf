"""Transposed convolutions: each element spread over a window, what overlaps added up.

Source: TVM `relax.nn.conv2d_transpose`, ONNX `ConvTranspose`.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import cast_like, known_dims
from relaxscript.op.numeric import window_dtype
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import Operator, register
from relaxscript.opdef.parameters import Parameter
from relaxscript.opdef.shapes import (
    ONE,
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

from .convolution_gradients import by_weight, convolve
from .layouts import Layout, convolution_layouts, from_plain, read_layout, to_plain
from .windows import (
    SPATIAL,
    Windows,
    canonical_convolution,
    per_axis,
    require_groups,
    require_windows,
    windows_of,
)

__all__ = ["conv1d_transpose", "conv2d_transpose", "conv3d_transpose"]

_WORDS = {1: "one spatial axis", 2: "two spatial axes", 3: "three spatial axes"}
_DOC = """The elements of `data` times `weight`, spread over windows along {}.

It undoes the shapes of a convolution with the same attributes: `padding` is taken away from the
result, and `output_padding`, below `strides`, is added behind. Of the channels each of `groups`
takes its share. Sums are computed in the dtype of the result, those of floats of 16 bits or
fewer in float32."""


def _conv_transpose(axes: int) -> Operator:
    spatial = SPATIAL[axes]
    ones: Any = 1 if axes == 1 else (1,) * axes
    zeros: Any = 0 if axes == 1 else (0,) * axes
    parameters = (
        Parameter("data", "operand", wants="tensor", annotation="Tensor"),
        Parameter("weight", "operand", wants="tensor", annotation="Tensor"),
        _attribute("strides", ones, "int | Axes"),
        _attribute("padding", zeros, "int | Axes"),
        _attribute("output_padding", zeros, "int | Axes"),
        _attribute("dilation", ones, "int | Axes"),
        _attribute("groups", 1, "int"),
        _attribute("data_layout", "NC" + spatial, "str"),
        _attribute("kernel_layout", "IO" + spatial, "str"),
        _attribute("out_layout", None, "str | None"),
        _attribute("out_dtype", None, "DType | None"),
    )

    def meaning(data: Any, weight: Any, **attributes: Any) -> Any:
        return _spread_elements(data, weight, axes, **attributes)

    def loops(
        context: ComputeContext, data: te.Tensor, weight: te.Tensor, **attributes: Any
    ) -> te.Tensor:
        return _loops(context, data, weight, axes, **attributes)

    traits = frozenset({Trait.NUMPY_IS_FASTER})
    operator = Operator(f"nn.conv{axes}d_transpose", meaning, parameters=parameters, traits=traits)
    operator.__doc__ = _DOC.format(_WORDS[axes])
    operator.__module__ = __name__
    register(operator)
    operator.compute(sums=4)(loops)

    operator.layout_rule(convolution_layouts)

    @operator.infer_rule
    def rule(
        context: InferContext, data: TensorStructInfo, weight: TensorStructInfo, **attributes: Any
    ) -> StructInfo:
        return _infer(context, data, weight, axes, **attributes)

    _differentiate(operator, axes)

    @operator.canonical_rule
    def canonical(
        strides: Any, padding: Any, output_padding: Any, dilation: Any, **others: Any
    ) -> dict[str, Any]:
        windows = canonical_convolution(axes, strides, padding, dilation, **others)
        return {**windows, "output_padding": per_axis("output_padding", output_padding, axes, 0)}

    @operator.attribute_rule
    def alone(
        strides: Any, padding: Any, output_padding: Any, dilation: Any, groups: int, **others: Any
    ) -> None:
        _further(output_padding, windows_of(strides, padding, dilation, axes))
        require_groups(groups)
        _layouts(axes, others["data_layout"], others["kernel_layout"], others["out_layout"])

    return operator


def _differentiate(operator: Operator, axes: int) -> None:
    @operator.gradient
    def gradient(
        context: GradientContext, data: Expr, weight: Expr, strides: Any, padding: Any,
        output_padding: Any, dilation: Any, groups: int, data_layout: str, kernel_layout: str,
        out_layout: str | None, out_dtype: DataType | None,
    ) -> Gradients:  # fmt: skip
        windows = windows_of(strides, padding, dilation, axes)
        of_data, of_kernel, of_result = _layouts(axes, data_layout, kernel_layout, out_layout)
        grad = to_plain(context.grad, of_result)
        x = to_plain(cast_like(data, grad), of_data)
        kernel = to_plain(cast_like(weight, grad), of_kernel)
        by_data = convolve(grad, kernel, windows, groups)
        wanted = known_dims("weight", kernel)[2:]
        by_kernel = by_weight(grad, x, windows, wanted, groups)
        return (
            cast_like(from_plain(by_data, of_data), data),
            cast_like(from_plain(by_kernel, of_kernel), weight),
        )


def _attribute(name: str, default: Any, annotation: str) -> Parameter:
    return Parameter(name, "attribute", default, annotation=annotation)


# ---------------------------------------------------------------- the meaning


def _spread_elements(
    data: Any,
    weight: Any,
    axes: int,
    strides: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
    data_layout: str,
    kernel_layout: str,
    out_layout: str | None,
    out_dtype: DataType | None,
) -> Any:
    of_data, of_kernel, of_result = _layouts(axes, data_layout, kernel_layout, out_layout)
    w = windows_of(strides, padding, dilation, axes)
    more = per_axis("output_padding", output_padding, axes, 0)
    element = data.dtype if out_dtype is None else out_dtype.numpy
    inner = window_dtype(data.dtype, element)
    x = of_data.unpack(data).astype(inner, copy=False)
    k = of_kernel.unpack(weight)
    sizes = [
        max((n - 1) * s + d * (f - 1) + 1, 0) + m
        for n, s, d, f, m in zip(x.shape[2:], w.strides, w.dilation, k.shape[2:], more)
    ]
    out = np.zeros((x.shape[0], k.shape[1] * groups, *sizes), inner)
    columns = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    parts = zip(np.split(columns, groups, 1), np.split(k.astype(inner, copy=False), groups, 0))
    for group, (part, kernel) in enumerate(parts):
        share = out[:, group * k.shape[1] : (group + 1) * k.shape[1]]
        for place in itertools.product(*map(range, kernel.shape[2:])):
            here: Any = (..., *place)
            product = kernel[here].T @ part
            targets: Any = (..., *_targets(place, x.shape[2:], w))
            share[targets] += product.reshape(*product.shape[:2], *x.shape[2:])
    cut: Any = (..., *(slice(b, n - a) for b, a, n in zip(w.before, w.after, sizes)))
    return of_result.pack(out[cut]).astype(element, copy=False)


def _loops(
    context: ComputeContext,
    data: te.Tensor,
    weight: te.Tensor,
    axes: int,
    strides: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_layout: str,
    kernel_layout: str,
    out_layout: str | None,
    **others: Any,
) -> te.Tensor:
    windows = windows_of(strides, padding, dilation, axes)
    layouts = _layouts(axes, data_layout, kernel_layout, out_layout)
    inner = DataType(window_dtype(data.dtype.numpy, context.dtype.numpy))
    made = topi.nn.conv_transpose.spread(
        data, weight, windows, groups, layouts, context.shape, inner
    )
    return topi.linear_algebra.rounded(made, context.dtype)


def _layouts(axes: int, data: str, kernel: str, out: str | None) -> tuple[Layout, Layout, Layout]:
    """The layouts of the data, the kernel and the result."""
    letters = "NC" + SPATIAL[axes]
    return (
        read_layout("data_layout", data, letters),
        read_layout("kernel_layout", kernel, "IO" + SPATIAL[axes]),
        read_layout("out_layout", out or data, letters),
    )


def _targets(place: tuple[int, ...], sizes: tuple[int, ...], w: Windows) -> list[slice]:
    """The part of the result that gets the elements times the kernel's element at `place`."""
    starts = [p * d for p, d in zip(place, w.dilation)]
    return [
        slice(start, start + max((n - 1) * s + 1, 0), s)
        for start, n, s in zip(starts, sizes, w.strides)
    ]


# ---------------------------------------------------------------- what is known of the result


def _infer(
    context: InferContext,
    data: TensorStructInfo,
    weight: TensorStructInfo,
    axes: int,
    strides: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
    data_layout: str,
    kernel_layout: str,
    out_layout: str | None,
    out_dtype: DataType | None,
) -> StructInfo:
    windows = windows_of(strides, padding, dilation, axes)
    more = _further(output_padding, windows)
    layouts = _layouts(axes, data_layout, kernel_layout, out_layout)
    operands = {"data": data, "weight": weight}
    dtype, vdevice = common_dtype(operands), common_vdevice(operands)
    require_dtype("data", data.dtype, "number")
    x = layouts[0].dims(context, "data", data)
    k = layouts[1].dims(context, "weight", weight)
    if x is None or k is None:
        return tensor_of(None, out_dtype or dtype, vdevice, layouts[2].rank)
    _require_channels(context, x, k, groups)
    dims = [x[0], _times(k[1], groups)]
    for axis, letter in enumerate(SPATIAL[axes]):
        found = _size(x[axis + 2], k[axis + 2], windows, axis, more[axis])
        require_windows(context, "data", x[axis + 2], found, letter)
        dims.append(found)
    return tensor_of(layouts[2].arrange(context, "weight", dims), out_dtype or dtype, vdevice)


def _further(output_padding: Any, windows: Windows) -> tuple[int, ...]:
    more = per_axis("output_padding", output_padding, len(windows.strides), 0)
    if any(m >= s for m, s in zip(more, windows.strides)):
        raise OperandError(
            "output_padding",
            f"is {output_padding}",
            also={"strides": f"is {windows.strides}"},
            message="what is added behind is less than a stride",
            code="RX0204",
        )
    return more


def _require_channels(context: InferContext, x: Dims, k: Dims, groups: int) -> None:
    if groups > 1:
        error = OperandError(
            "weight",
            f"takes {dim_text(k[0])} channels",
            also={"groups": f"is {groups}"},
            message="each group has as many channels",
        )
        rest = simplify(prim.FloorMod.make(k[0], number(groups)))
        text = f"`weight` takes {dim_text(k[0])} channels, in {groups} groups of one size"
        require_equal(context, rest, ZERO, error, text)
    if same_dim(x[1], k[0]):
        return
    error = OperandError(
        "weight",
        f"takes {dim_text(k[0])} channels",
        also={"data": f"has {dim_text(x[1])} channels"},
        message="the weight is for another number of channels",
    )
    text = f"`weight` takes {dim_text(k[0])} channels, and `data` has {dim_text(x[1])}"
    require_equal(context, x[1], k[0], error, text)


def _times(dim: PrimExpr, factor: int) -> PrimExpr:
    return dim if factor == 1 else simplify(prim.Mul.make(dim, number(factor)))


def _size(size: PrimExpr, kernel: PrimExpr, w: Windows, axis: int, more: int) -> PrimExpr:
    """The length of the result along a spatial axis."""
    stride, dilation = w.strides[axis], w.dilation[axis]
    rest = 1 + more - w.before[axis] - w.after[axis]
    if isinstance(size, IntImm) and isinstance(kernel, IntImm):
        return number((size.value - 1) * stride + (kernel.value - 1) * dilation + rest)
    steps = prim.Mul.make(prim.Sub.make(size, ONE), number(stride))
    reach = prim.Mul.make(prim.Sub.make(kernel, ONE), number(dilation))
    return simplify(prim.Add.make(prim.Add.make(steps, reach), number(rest)))


conv1d_transpose = _conv_transpose(1)
conv2d_transpose = _conv_transpose(2)
conv3d_transpose = _conv_transpose(3)

"""Poolings: windows of one, two and three spatial axes made into one element each.

Source: TVM `relax.nn.max_pool2d`, `avg_pool2d` and `adaptive_avg_pool2d`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import R
from relaxscript.op.numeric import quotient, sum_dtype
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import Operator, register
from relaxscript.opdef.parameters import Parameter
from relaxscript.opdef.shapes import number, require_dtype, tensor_of
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

from .layouts import Layout, from_plain, pooling_layouts, read_layout, to_plain
from .pooling_gradients import by_largest, by_mean, by_windows_of_one_size
from .windows import (
    SPATIAL,
    Windows,
    by_parts,
    canonical_pool,
    out_size,
    per_axis,
    require_elements,
    require_windows,
    windows_of,
)

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d", "avg_pool2d",
    "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip

_Combine = Callable[[Any, tuple[int, ...], Windows, bool, bool], Any]


def _pool(name: str, axes: int, accepts: str, combine: _Combine, share: Any, doc: str) -> Operator:
    letters = "NC" + SPATIAL[axes]

    def pooled(
        data: Any, pool_size: Any, strides: Any, padding: Any, dilation: Any, ceil_mode: bool,
        count_include_pad: bool, layout: str, out_layout: str | None,
    ) -> Any:  # fmt: skip
        windows = windows_of(strides, padding, dilation, axes)
        kernel = per_axis("pool_size", pool_size, axes, 1)
        x = read_layout("layout", layout, letters).unpack(data)
        result = combine(x, kernel, windows, ceil_mode, count_include_pad)
        return read_layout("out_layout", out_layout or layout, letters).pack(result)

    parameters = _parameters(axes)
    operator = _operator(name, pooled, doc, parameters)

    operator.layout_rule(pooling_layouts)

    @operator.infer_rule
    def rule(
        context: InferContext,
        data: TensorStructInfo,
        pool_size: Any,
        strides: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: bool,
        count_include_pad: bool,
        layout: str,
        out_layout: str | None,
    ) -> StructInfo:
        require_dtype("data", data.dtype, accepts)
        windows = windows_of(strides, padding, dilation, axes)
        kernel = per_axis("pool_size", pool_size, axes, 1)

        def size(dim: PrimExpr, axis: int) -> PrimExpr:
            found = out_size(dim, number(kernel[axis]), windows, axis, ceil_mode)
            require_windows(context, "data", dim, found, SPATIAL[axes][axis])
            return found

        return _resize(context, data, (layout, out_layout, letters), size)

    _differentiate(operator, axes, share)

    operator.canonical_rule(functools.partial(canonical_pool, axes))

    @operator.attribute_rule
    def alone(pool_size: Any, strides: Any, padding: Any, dilation: Any, **others: Any) -> None:
        windows_of(strides, padding, dilation, axes)
        per_axis("pool_size", pool_size, axes, 1)
        _layouts(others["layout"], others["out_layout"], letters)

    _loops(operator, axes, "max" if combine is _largest else "avg")
    return operator


def _differentiate(operator: Operator, axes: int, share: Any) -> None:
    letters = "NC" + SPATIAL[axes]

    @operator.gradient
    def gradient(
        context: GradientContext, data: Expr, pool_size: Any, strides: Any, padding: Any,
        dilation: Any, ceil_mode: bool, count_include_pad: bool, layout: str,
        out_layout: str | None,
    ) -> Gradients:  # fmt: skip
        if axes == 2:
            backward = getattr(R.grad, f"{operator.__name__}_backward")
            geometry = (pool_size, strides, padding, dilation, ceil_mode, count_include_pad)
            return (backward(context.grad, data, *geometry, layout, out_layout),)
        windows = windows_of(strides, padding, dilation, axes)
        kernel = per_axis("pool_size", pool_size, axes, 1)
        own, of_result = _layouts(layout, out_layout, letters)
        x = to_plain(data, own)
        grad, out = to_plain(context.grad, of_result), to_plain(context.out, of_result)
        found = share(grad, x, out, kernel, windows, ceil_mode, count_include_pad)
        return (from_plain(found, own),)


def _parameters(axes: int) -> tuple[Parameter, ...]:
    zeros = (0, 0) if axes == 1 else (0,) * axes
    return (
        Parameter("data", "operand", wants="tensor", annotation="Tensor"),
        _attribute("pool_size", (1,) * axes, "int | Axes"),
        _attribute("strides", (1,) * axes, "int | Axes"),
        _attribute("padding", zeros, "int | Axes"),
        _attribute("dilation", (1,) * axes, "int | Axes"),
        _attribute("ceil_mode", False, "bool"),
        _attribute("count_include_pad", False, "bool"),
        _attribute("layout", "NC" + SPATIAL[axes], "str"),
        _attribute("out_layout", None, "str | None"),
    )


def _attribute(name: str, default: Any, annotation: str) -> Parameter:
    return Parameter(name, "attribute", default, annotation=annotation)


def _operator(name: str, meaning: Any, doc: str, parameters: tuple[Parameter, ...]) -> Operator:
    traits = {Trait.MIXED_FOLLOW}
    operator = Operator(f"nn.{name}", meaning, parameters=parameters, traits=traits)
    operator.__doc__ = doc
    operator.__module__ = __name__
    return register(operator)


def _resize(
    context: InferContext,
    data: TensorStructInfo,
    layouts: tuple[str, str | None, str],
    size: Callable[[PrimExpr, int], PrimExpr],
) -> StructInfo:
    """`data` with other spatial dimensions; `layouts` are its own, the result's and the plain."""
    own, out = _layouts(*layouts)
    dims = own.dims(context, "data", data)
    if dims is None:
        return tensor_of(None, data.dtype, data.vdevice, out.rank)
    resized = [*dims[:2], *(size(dim, axis) for axis, dim in enumerate(dims[2:]))]
    return tensor_of(out.arrange(context, "data", resized), data.dtype, data.vdevice)


def _layouts(layout: str, out_layout: str | None, letters: str) -> tuple[Layout, Layout]:
    """The layouts of the data and of the result."""
    own = read_layout("layout", layout, letters)
    return own, read_layout("out_layout", out_layout or layout, letters)


def _loops(operator: Operator, axes: int, kind: str) -> None:
    letters = "NC" + SPATIAL[axes]

    @operator.compute(sums=4)
    def loops(
        context: ComputeContext,
        data: te.Tensor,
        pool_size: Any,
        strides: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: bool,
        count_include_pad: bool,
        layout: str,
        out_layout: str | None,
    ) -> Any:
        windows = windows_of(strides, padding, dilation, axes)
        kernel = per_axis("pool_size", pool_size, axes, 1)
        orders = _layouts(layout, out_layout, letters)
        return topi.nn.pooling.pool(
            data, kernel, windows, kind, orders, context.shape, ceil=ceil_mode,
            pad_counts=count_include_pad,
        )  # fmt: skip


def _adaptive_loops(operator: Operator, axes: int) -> None:
    letters = "NC" + SPATIAL[axes]

    @operator.compute(sums=4)
    def loops(
        context: ComputeContext,
        data: te.Tensor,
        output_size: Any,
        layout: str,
        out_layout: str | None,
    ) -> Any:
        return topi.nn.pooling.pool_to(
            data, "avg", _layouts(layout, out_layout, letters), context.shape
        )


# ---------------------------------------------------------------- largest and mean


def _least(dtype: Any) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    infinite = np.isinf(np.array(np.inf).astype(dtype))
    return -np.inf if infinite else ml_dtypes.finfo(dtype).min  # type: ignore[no-untyped-call]


def _largest(x: Any, kernel: tuple[int, ...], w: Windows, ceil: bool, padded: bool) -> Any:
    def largest(part: Any) -> Any:
        return _combine_windows(part, kernel, w, ceil, np.maximum, _least(x.dtype))

    return by_parts(x, largest, x.dtype)


def _mean(x: Any, kernel: tuple[int, ...], w: Windows, ceil: bool, padded: bool) -> Any:
    ones = np.ones((1, *x.shape[2:]), sum_dtype(x.dtype))
    inside = w
    if padded:  # what pads the tensor counts, what only rounds the number of windows up does not
        ones = np.pad(ones, [(0, 0), *zip(w.before, w.after)], constant_values=1)
        inside = w._replace(before=(0,) * len(kernel), after=(0,) * len(kernel))
    counts = np.maximum(_combine_windows(ones, kernel, inside, ceil, np.add, 0), 1)

    def mean(part: Any) -> Any:
        return quotient(_combine_windows(part, kernel, w, ceil, np.add, 0), counts)

    return by_parts(x, mean, counts.dtype)


def _combine_windows(
    x: Any, kernel: tuple[int, ...], w: Windows, ceil: bool, function: Any, start: Any
) -> Any:
    """The elements of each window combined, along one axis after the other."""
    for axis, size in enumerate(kernel):
        stride, step, before = w.strides[axis], w.dilation[axis], w.before[axis]
        length = x.shape[axis + 1]
        room = before + length + w.after[axis] - step * (size - 1) - 1
        count = (room + (stride - 1 if ceil else 0)) // stride + 1
        if count < 1:
            raise ValueError("the window is larger than the tensor with its padding")
        found = np.full((*x.shape[: axis + 1], count, *x.shape[axis + 2 :]), start, x.dtype)
        for first in range(-before, step * size - before, step):
            # The windows whose element at this place lies inside the tensor.
            low = max(-(first // stride), 0)
            high = min((length - 1 - first) // stride + 1, count)
            if low < high:
                places: Any = (slice(None),) * (axis + 1)
                target = found[(*places, slice(low, high))]
                stop = first + (high - 1) * stride + 1
                taken = x[(*places, slice(first + low * stride, stop, stride))]
                function(target, taken, out=target)
        x = found
    return x


_MAX = "The largest element of each window along {}; what pads the tensor is below all."
_AVG = """The mean of each window along {}; padding counts where `count_include_pad` says so.

Means of integers are rounded toward zero."""
_ADAPTIVE = """The means of as many windows of about one size as `output_size` says, along {}.

Means of integers are rounded toward zero."""
_ONE, _TWO, _THREE = "one spatial axis", "two spatial axes", "three spatial axes"

# fmt: off
max_pool1d = _pool("max_pool1d", 1, "number", _largest, by_largest, _MAX.format(_ONE))
max_pool2d = _pool("max_pool2d", 2, "number", _largest, by_largest, _MAX.format(_TWO))
max_pool3d = _pool("max_pool3d", 3, "number", _largest, by_largest, _MAX.format(_THREE))
avg_pool1d = _pool("avg_pool1d", 1, "number", _mean,    by_mean,    _AVG.format(_ONE))
avg_pool2d = _pool("avg_pool2d", 2, "number", _mean,    by_mean,    _AVG.format(_TWO))
avg_pool3d = _pool("avg_pool3d", 3, "number", _mean,    by_mean,    _AVG.format(_THREE))
# fmt: on


# ---------------------------------------------------------------- as many windows as are asked for


def _adaptive(axes: int) -> Operator:
    letters = "NC" + SPATIAL[axes]

    def pooled(data: Any, output_size: Any, layout: str, out_layout: str | None) -> Any:
        x = read_layout("layout", layout, letters).unpack(data)
        wanted = x.shape[2:]
        if output_size is not None:
            wanted = per_axis("output_size", output_size, axes, 1)

        def averaged(part: Any) -> Any:
            counts = np.ones((1,) * part.ndim, np.int64)
            for axis, count in enumerate(wanted, 1):
                part, sizes = _sum_windows(part, axis, count)
                counts = counts * sizes.reshape(-1, *(1,) * (part.ndim - 1 - axis))
            return quotient(part, counts)

        x = by_parts(x, averaged, sum_dtype(x.dtype))
        return read_layout("out_layout", out_layout or layout, letters).pack(x)

    name = f"adaptive_avg_pool{axes}d"
    parameters = (
        Parameter("data", "operand", wants="tensor", annotation="Tensor"),
        _attribute("output_size", None, "int | Axes | None"),
        _attribute("layout", letters, "str"),
        _attribute("out_layout", None, "str | None"),
    )
    operator = _operator(name, pooled, _ADAPTIVE.format((_ONE, _TWO, _THREE)[axes - 1]), parameters)

    operator.layout_rule(pooling_layouts)

    @operator.infer_rule
    def rule(
        context: InferContext, data: TensorStructInfo, output_size: Any, layout: str,
        out_layout: str | None,
    ) -> StructInfo:  # fmt: skip
        require_dtype("data", data.dtype, "number")
        wanted = _wanted(output_size, axes)
        if wanted is None and out_layout in (None, layout):
            read_layout("layout", layout, letters).dims(context, "data", data)
            return data

        def size(dim: PrimExpr, axis: int) -> PrimExpr:
            if wanted is None:
                return dim
            require_elements(context, "data", dim, SPATIAL[axes][axis])
            return number(wanted[axis])

        return _resize(context, data, (layout, out_layout, letters), size)

    @operator.attribute_rule
    def alone(output_size: Any, layout: str, out_layout: str | None) -> None:
        _wanted(output_size, axes)
        _layouts(layout, out_layout, letters)

    _adaptive_loops(operator, axes)
    _differentiate_adaptive(operator, axes)
    operator.canonical_rule(functools.partial(_canonical_adaptive, axes))
    return operator


def _canonical_adaptive(
    axes: int, output_size: Any, layout: str, out_layout: str | None
) -> dict[str, Any]:
    return {"output_size": _wanted(output_size, axes), "out_layout": out_layout or layout}


def _wanted(output_size: Any, axes: int) -> tuple[int, ...] | None:
    return None if output_size is None else per_axis("output_size", output_size, axes, 1)


def _differentiate_adaptive(operator: Operator, axes: int) -> None:
    letters = "NC" + SPATIAL[axes]

    @operator.gradient
    def gradient(
        context: GradientContext, data: Expr, output_size: Any, layout: str, out_layout: str | None
    ) -> Gradients:
        own, of_result = _layouts(layout, out_layout, letters)
        grad = to_plain(context.grad, of_result)
        wanted = _wanted(output_size, axes)
        if wanted is not None:
            x = to_plain(data, own)
            grad = by_windows_of_one_size(grad, x, wanted)
        return (from_plain(grad, own),)


def _sum_windows(x: Any, axis: int, count: int) -> tuple[Any, Any]:
    """The sums of `count` windows of about one size along an axis, and how long each is."""
    size = x.shape[axis]
    if count == size:
        return x, np.ones(count, np.int64)
    if not size:
        raise ValueError("there is nothing to take the mean of")
    edges = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
    sums = [x.take(range(a, b), axis).sum(axis, x.dtype, keepdims=True) for a, b in edges]
    return np.concatenate(sums, axis), np.array([b - a for a, b in edges])


adaptive_avg_pool1d = _adaptive(1)
adaptive_avg_pool2d = _adaptive(2)
adaptive_avg_pool3d = _adaptive(3)

"""Gradients of losses, poolings and lookups by their operands. Source: TVM `relax.grad`.

All get the gradient of the result as `output_grad`, and give one of the shape of an operand. Sums
are made in float64, for floats of 16 bits and fewer in float32, and rounded once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType, converted
from relaxscript.errors import OperandError
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact, shape_text
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import Axes, Scalar, Tensor
from relaxscript.opdef.shapes import (
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    same_dim,
)
from relaxscript.opdef.tensor_expressions import te, topi

from .backward_loops import nll_gradient, taken_gradient
from .nn.layouts import read_layout
from .nn.loss import nll_loss
from .nn.pooling import avg_pool2d, max_pool2d
from .nn.windows import Windows, per_axis, windows_of
from .numeric import accumulator
from .pieces import PIECE
from .search import take

__all__ = ["avg_pool2d_backward", "max_pool2d_backward", "nll_loss_backward", "take_backward"]

_PART = 1 << 14  # elements


def _gradient_of(
    context: InferContext,
    operator: Operator,
    output_grad: TensorStructInfo,
    operand: str,
    operands: dict[str, TensorStructInfo | None],
    attributes: dict[str, Any],
) -> StructInfo:
    """The StructInfo of the gradient by an operand, of a call that the operator accepts.

    `output_grad` must be like its result.
    """
    result = operator.rules["infer"](context, *operands.values(), **attributes)
    known = {name: info for name, info in operands.items() if info is not None}
    own = known[operand]
    require_dtype(operand, own.dtype, "float")
    common_dtype({operand: own, "output_grad": output_grad})
    device = common_vdevice({**known, "output_grad": output_grad})
    _require_like(context, output_grad, result, operator)
    return TensorStructInfo.make(own.shape, own.dtype, device, own.ndim)


def _require_like(
    context: InferContext, grad: TensorStructInfo, result: TensorStructInfo, operator: Operator
) -> None:
    dims, wanted = dims_of(grad), dims_of(result)
    own = grad.ndim if dims is None else len(dims)
    rank = result.ndim if wanted is None else len(wanted)
    callee = f"R.{operator.script_name}"
    if min(own, rank) >= 0 and own != rank:
        help = f"it is the gradient of what `{callee}` gives, of rank {rank}"
        raise OperandError("output_grad", shape_fact(grad, dims), help=help)
    for axis, (a, b) in enumerate(zip(wanted or (), dims or ())):
        if not same_dim(a, b):
            fact = f"has {dim_text(b)} elements along axis {axis}"
            help = f"it is the gradient of what `{callee}` gives: shape {shape_text(wanted or ())}"
            error = OperandError("output_grad", fact, help=help)
            text = f"`output_grad` {fact}, not {dim_text(a)}"
            require_equal(context, a, b, error, text)


# ---------------------------------------------------------------- losses


@op("grad.nll_loss_backward", alike=("output_grad", "predictions", "weights"))
def nll_loss_backward(
    output_grad: Scalar,
    predictions: Tensor,
    targets: Tensor,
    weights: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Tensor:
    """The gradient of `R.nn.nll_loss` by its predictions.

    At the target class of each sample it is minus the weight of that class times `output_grad`. For
    a "mean" it is divided by the sum of the weights. Elsewhere it is 0.
    """
    axis = 1 if predictions.ndim > 1 else 0
    wide = accumulator(predictions.dtype)
    classes = predictions.shape[axis]
    counted = targets != ignore_index
    places = np.where(counted, targets, 0).astype(np.int64)
    if places.size and not (places.min() >= 0 and places.max() < classes):
        raise IndexError(f"a target is not among the {classes} classes")
    each = np.ones((), wide) if weights is None else weights[places].astype(wide)
    share = np.where(counted, each, 0).astype(wide)
    grad = output_grad.astype(wide)
    if reduction == "mean":
        grad = grad / share.sum(dtype=wide)
    found = np.where(counted, -grad * share, 0)
    result = np.zeros(predictions.shape, predictions.dtype)
    chosen = converted(np.asarray(found), result.dtype)
    np.put_along_axis(result, np.expand_dims(places, axis), np.expand_dims(chosen, axis), axis)
    return result


@nll_loss_backward.compute(ulp=4)
def _(
    context: ComputeContext,
    output_grad: te.Tensor,
    predictions: te.Tensor,
    targets: te.Tensor,
    weights: te.Tensor | None,
    reduction: str,
    ignore_index: int,
) -> te.Tensor:
    wide = DataType(accumulator(predictions.dtype.numpy))
    return nll_gradient(output_grad, predictions, targets, weights, reduction, ignore_index, wide)


@nll_loss_backward.infer_rule
def _(
    context: InferContext,
    output_grad: TensorStructInfo,
    predictions: TensorStructInfo,
    targets: TensorStructInfo,
    weights: TensorStructInfo | None,
    **attributes: Any,
) -> StructInfo:
    operands = {"predictions": predictions, "targets": targets, "weights": weights}
    return _gradient_of(context, nll_loss, output_grad, "predictions", operands, attributes)


# ---------------------------------------------------------------- poolings


def _windows(size: int, count: int, kernel: int, w: Windows, axis: int) -> list[Any]:
    """For each element of a window the place in each of the windows along an axis."""
    starts = np.arange(count) * w.strides[axis] - w.before[axis]
    return [starts + step * w.dilation[axis] for step in range(kernel)]


_Spread = Callable[[Any, Any, list[list[Any]]], Any]


def _unpool(
    output_grad: Any,
    data: Any,
    attributes: dict[str, Any],
    spread: _Spread,
) -> Any:
    """The gradient of a pooling by its data, some channels at a time.

    `spread` gets the data and the gradient of some channels, and the places of windows by axes.
    """
    layout, out_layout = attributes["layout"], attributes["out_layout"]
    own = read_layout("layout", layout, "NCHW")
    x = own.unpack(data)
    grad = read_layout("out_layout", out_layout or layout, "NCHW").unpack(output_grad)
    w = windows_of(attributes["strides"], attributes["padding"], attributes["dilation"], 2)
    kernel = per_axis("pool_size", attributes["pool_size"], 2, 1)
    places = [_windows(x.shape[2 + a], grad.shape[2 + a], kernel[a], w, a) for a in range(2)]
    channels = x.shape[0] * x.shape[1]
    flat = x.reshape(channels, *x.shape[2:])
    grads = grad.reshape(channels, *grad.shape[2:])
    result = np.empty(flat.shape, data.dtype)
    step = max(_PART // max(math.prod(flat.shape[1:]), math.prod(grads.shape[1:]), 1), 1)
    for start in range(0, channels, step):
        some = slice(start, start + step)
        wide = accumulator(data.dtype)
        made = spread(flat[some], grads[some].astype(wide), places)
        result[some] = converted(made, result.dtype)
    return own.pack(result.reshape(x.shape))


def _inside(index: Any, size: int) -> Any:
    return (index >= 0) & (index < size)


def _to_largest(x: Any, grad: Any, places: list[list[Any]]) -> Any:
    """Each gradient at the first of the largest elements of its window; NaN is the largest."""
    height, width = x.shape[1:]
    best = np.full(grad.shape, -1, np.int64)
    top = np.zeros(grad.shape, x.dtype)
    for rows, columns in itertools.product(*places):
        valid = _inside(rows, height)[:, None] & _inside(columns, width)
        i, j = np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)
        value = x[:, i[:, None], j]
        larger = (best < 0) | (value > top) | (np.isnan(value) & ~np.isnan(top))
        chosen = valid & larger
        best = np.where(chosen, i[:, None] * width + j, best)
        top = np.where(chosen, value, top)
    total = np.zeros((len(x), height * width), grad.dtype)
    found = best >= 0
    channel = np.broadcast_to(np.arange(len(x))[:, None, None], best.shape)
    np.add.at(total, (channel[found], best[found]), grad[found])
    return total.reshape(x.shape)


@op("grad.max_pool2d_backward")
def max_pool2d_backward(
    output_grad: Tensor,
    data: Tensor,
    pool_size: int | Axes = (1, 1),
    strides: int | Axes = (1, 1),
    padding: int | Axes = (0, 0, 0, 0),
    dilation: int | Axes = (1, 1),
    ceil_mode: bool = False,
    count_include_pad: bool = False,
    layout: str = "NCHW",
    out_layout: str | None = None,
) -> Tensor:
    """The gradient of `R.nn.max_pool2d` by its data.

    That of a window goes to its largest element, of several to the first in row-major order. A NaN
    is the largest.
    """
    attributes = _attributes(strides, padding, dilation, pool_size, layout, out_layout)
    return _unpool(output_grad, data, attributes, _to_largest)  # type: ignore[no-any-return]


def _attributes(
    strides: Any, padding: Any, dilation: Any, pool_size: Any, layout: str, out_layout: str | None
) -> dict[str, Any]:
    return {
        "strides": strides, "padding": padding, "dilation": dilation, "pool_size": pool_size,
        "layout": layout, "out_layout": out_layout,
    }  # fmt: skip


@op("grad.avg_pool2d_backward")
def avg_pool2d_backward(
    output_grad: Tensor,
    data: Tensor,
    pool_size: int | Axes = (1, 1),
    strides: int | Axes = (1, 1),
    padding: int | Axes = (0, 0, 0, 0),
    dilation: int | Axes = (1, 1),
    ceil_mode: bool = False,
    count_include_pad: bool = False,
    layout: str = "NCHW",
    out_layout: str | None = None,
) -> Tensor:
    """The gradient of `R.nn.avg_pool2d` by its data.

    That of a window is divided by the number of elements of the mean, and goes to each of them.
    """
    attributes = _attributes(strides, padding, dilation, pool_size, layout, out_layout)
    w = windows_of(strides, padding, dilation, 2)

    def spread(x: Any, grad: Any, places: list[list[Any]]) -> Any:
        height, width = x.shape[1:]
        counts = []
        for axis, size in enumerate((height, width)):
            before, after = (w.before[axis], w.after[axis]) if count_include_pad else (0, 0)
            counts.append(sum((p >= -before) & (p < size + after) for p in places[axis]))
        share = grad / np.maximum(counts[0][:, None] * counts[1], 1)
        total = np.zeros(x.shape, grad.dtype)
        for rows, columns in itertools.product(*places):
            r, c = np.flatnonzero(_inside(rows, height)), np.flatnonzero(_inside(columns, width))
            target = (slice(None), rows[r][:, None], columns[c])
            total[target] += share[:, r[:, None], c]  # within one step no place comes twice
        return total

    return _unpool(output_grad, data, attributes, spread)  # type: ignore[no-any-return]


@max_pool2d_backward.compute(sums=4)
def _(
    context: ComputeContext, output_grad: te.Tensor, data: te.Tensor, **attributes: Any
) -> te.Tensor:
    made: te.Tensor = topi.nn.pooling_gradients.max_pool_grad(
        output_grad, data, *_pooled(data, attributes)
    )
    return made


@avg_pool2d_backward.compute(sums=4)
def _(
    context: ComputeContext, output_grad: te.Tensor, data: te.Tensor, **attributes: Any
) -> te.Tensor:
    pads = attributes["count_include_pad"]
    made: te.Tensor = topi.nn.pooling_gradients.mean_pool_grad(
        output_grad, data, *_pooled(data, attributes), pads=pads
    )
    return made


def _pooled(data: te.Tensor, attributes: dict[str, Any]) -> tuple[Any, ...]:
    """The kernel and windows of a pooling, the layouts of its data and result, and its sums."""
    layout, out_layout = attributes["layout"], attributes["out_layout"]
    orders = (
        read_layout("layout", layout, "NCHW"),
        read_layout("out_layout", out_layout or layout, "NCHW"),
    )
    w = windows_of(attributes["strides"], attributes["padding"], attributes["dilation"], 2)
    kernel = per_axis("pool_size", attributes["pool_size"], 2, 1)
    return kernel, w, orders, DataType(accumulator(data.dtype.numpy))


def _declare_pool(backward: Operator, forward: Operator) -> None:
    backward.attribute_rule(forward.rules["attributes"])

    @backward.infer_rule
    def rule(
        context: InferContext,
        output_grad: TensorStructInfo,
        data: TensorStructInfo,
        **attributes: Any,
    ) -> StructInfo:
        return _gradient_of(context, forward, output_grad, "data", {"data": data}, attributes)


_declare_pool(max_pool2d_backward, max_pool2d)
_declare_pool(avg_pool2d_backward, avg_pool2d)
nll_loss_backward.attribute_rule(nll_loss.rules["attributes"])


# ---------------------------------------------------------------- lookups


@op("grad.take_backward", alike=("output_grad", "x"))
def take_backward(
    output_grad: Tensor, x: Tensor, indices: Scalar, axis: int | None = None
) -> Tensor:
    """The gradient of `R.take` by the tensor that is taken from.

    Where an element was taken several times, it is the sum of the gradients. Indices count from 0;
    raises `IndexError` for one that is not there.
    """
    place = (0 if axis is None else axis) % x.ndim
    size = x.shape[place]
    chosen = indices.reshape(-1).astype(np.int64)
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < size):
        raise IndexError(f"an index is not among the {size} along axis {place}")
    outer, inner = math.prod(x.shape[:place]), math.prod(x.shape[place + 1 :])
    grads = output_grad.reshape(outer, len(chosen), inner)
    result = np.zeros((outer, size, inner), x.dtype)
    wide = accumulator(x.dtype)
    step = max(PIECE // max(size, len(chosen), 1), 1)
    for row, start in itertools.product(range(outer), range(0, inner, step)):
        some = slice(start, start + step)
        part = grads[row, :, some]
        total = np.zeros((size, part.shape[1]), wide)
        np.add.at(total, chosen, part.astype(wide))
        result[row, :, some] = converted(total, result.dtype)
    return result.reshape(x.shape)


@take_backward.compute()
def _(
    context: ComputeContext,
    output_grad: te.Tensor,
    x: te.Tensor,
    indices: te.Tensor,
    axis: int | None = None,
) -> te.Tensor:
    wide = DataType(accumulator(x.dtype.numpy))
    return taken_gradient(output_grad, x, indices, (axis or 0) % x.ndim, wide)


@take_backward.infer_rule
def _(
    context: InferContext,
    output_grad: TensorStructInfo,
    x: TensorStructInfo,
    indices: TensorStructInfo,
    axis: int | None = None,
) -> StructInfo:
    operands: dict[str, Any] = {"x": x, "indices": indices}
    attributes = {"axis": axis, "mode": "fast"}
    return _gradient_of(context, take, output_grad, "x", operands, attributes)


for _operator in (avg_pool2d_backward, max_pool2d_backward, nll_loss_backward, take_backward):
    _operator.lacks("gradient", "it is a gradient itself")

"""Normalizations of channels: by batches, by groups of channels, and one by one.

Source: TVM `relax.nn.batch_norm`, `group_norm`; ONNX `InstanceNormalization`. Statistics of floats
are computed in a wider type; variances are those of the population.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op.context import InferContext
from relaxscript.op.define import op
from relaxscript.op.numeric import accumulator, mean_of
from relaxscript.op.parameters import Axes, Tensor, Tensors
from relaxscript.op.shapes import (
    axes_in,
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
from relaxscript.op.words import dim_text, shape_fact

__all__ = ["batch_norm", "group_norm", "instance_norm"]


@op("nn.batch_norm")
def batch_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    moving_mean: Tensor,
    moving_var: Tensor,
    axis: int,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    momentum: float = 0.1,
    training: bool = True,
) -> Tensors:
    """A tuple: `data` normalized along all axes but `axis`, and the moving statistics.

    While `training` it is normalized by its own mean and variance, and each moving statistic
    becomes `(1 - momentum) * moving + momentum * own`; else by the moving ones, which stay.
    `gamma`, `beta` and the statistics have one element for each along `axis`; `scale=False` leaves
    out `gamma`, `center=False` leaves out `beta`.
    """
    wide = data.astype(accumulator(data.dtype))
    others = tuple(i for i in range(data.ndim) if i != axis % data.ndim)
    mean, variance = moving_mean.astype(wide.dtype), moving_var.astype(wide.dtype)
    if training:
        mean = _mean(wide, others)
        variance = _mean(np.square(wide - _along(mean, axis, data.ndim)), others)
        blend = momentum * np.array((mean, variance))
        blend += (1 - momentum) * np.array((moving_mean, moving_var)).astype(wide.dtype)
        moving_mean, moving_var = blend.astype(moving_mean.dtype)
    result = wide - _along(mean, axis, data.ndim)
    result = result / np.sqrt(_along(variance, axis, data.ndim) + epsilon)
    result = _scaled(result, axis, gamma if scale else None, beta if center else None)
    return result.astype(data.dtype), moving_mean, moving_var


def _mean(x: Any, axes: tuple[int, ...]) -> Any:
    # Sum and division, since numpy warns of the mean of nothing, which is NaN.
    count = np.prod([x.shape[axis] for axis in axes], dtype=np.float64).astype(x.dtype)
    return np.sum(x, axis=axes) / count


def _along(parameter: Any, axis: int, rank: int) -> Any:
    """A parameter of rank 1 with its elements along an axis."""
    shape = [1] * rank
    shape[axis] = -1 if parameter.size else 0
    return parameter.reshape(shape)


def _scaled(x: Any, axis: int, gamma: Any, beta: Any) -> Any:
    if gamma is not None:
        x = x * _along(gamma.astype(x.dtype), axis, x.ndim)
    if beta is not None:
        x = x + _along(beta.astype(x.dtype), axis, x.ndim)
    return x


@batch_norm.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    gamma: TensorStructInfo,
    beta: TensorStructInfo,
    moving_mean: TensorStructInfo,
    moving_var: TensorStructInfo,
    axis: int,
    **options: Any,
) -> StructInfo:
    parameters = {
        "gamma": gamma, "beta": beta, "moving_mean": moving_mean, "moving_var": moving_var,
    }  # fmt: skip
    result = _per_channel(context, data, parameters, axis, "axis")
    dims = dims_of(result)
    channels = None if dims is None else (dims[axis],)
    moving = tensor_of(channels, result.dtype, result.vdevice, 1)
    return TupleStructInfo.make((result, moving, moving))


def _per_channel(
    context: InferContext,
    data: TensorStructInfo,
    parameters: dict[str, TensorStructInfo],
    axis: int,
    attribute: str,
) -> TensorStructInfo:
    """The StructInfo of `data` with parameters that have one element for each along `axis`."""
    operands = {"data": data, **parameters}
    dtype, vdevice = common_dtype(operands), common_vdevice(operands)
    require_dtype("data", data.dtype, "float")
    dims = dims_of(data)
    place = axis_in(axis, data.ndim if dims is None else len(dims), attribute, "data")
    for name, info in parameters.items():
        own = dims_of(info)
        if (info.ndim if own is None else len(own)) not in (-1, 1):
            message = f"`{name}` has one element for each channel"
            raise OperandError(name, shape_fact(info, own), message=message)
        if dims is None or own is None or same_dim(dims[place], own[0]):
            continue
        fact = f"has {dim_text(own[0])} elements"
        also = {"data": f"has {dim_text(dims[place])} elements along axis {place}"}
        text = f"`{name}` has {dim_text(own[0])} elements, and `data` {dim_text(dims[place])}"
        require_equal(context, dims[place], own[0], OperandError(name, fact, also=also), text)
    if dtype is data.dtype and vdevice is data.vdevice:
        return data
    return tensor_of(dims, dtype, vdevice, data.ndim)


# ---------------------------------------------------------------- groups of channels


@op("nn.group_norm")
def group_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    num_groups: int,
    channel_axis: int,
    axes: Axes,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Tensor:
    """`data` normalized over `axes` and the channels of one of `num_groups` groups together.

    `gamma` and `beta` have one element for each channel; `scale=False` leaves out `gamma`,
    `center=False` leaves out `beta`.
    """
    axis = channel_axis % data.ndim
    wide = data.astype(accumulator(data.dtype))
    size = data.shape[axis]
    grouped = wide.reshape(
        *data.shape[:axis], num_groups, size // num_groups, *data.shape[axis + 1 :]
    )
    others = {a % data.ndim for a in axes} - {axis}
    over = (axis + 1, *sorted(a + (a > axis) for a in others))
    result = _normalized(grouped, over, epsilon).reshape(data.shape)
    found: Tensor = _scaled(result, axis, gamma if scale else None, beta if center else None)
    return found.astype(data.dtype)


def _normalized(x: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    centred = x - mean_of(x, axes)
    return centred / np.sqrt(mean_of(np.square(centred), axes) + epsilon)


@group_norm.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    gamma: TensorStructInfo,
    beta: TensorStructInfo,
    num_groups: int,
    channel_axis: int,
    axes: tuple[int, ...],
    **options: Any,
) -> StructInfo:
    if num_groups < 1:
        raise OperandError(
            "num_groups", f"is {num_groups}", message="there is at least one group", code="RX0204"
        )
    result = _per_channel(
        context, data, {"gamma": gamma, "beta": beta}, channel_axis, "channel_axis"
    )
    dims = dims_of(data)
    rank = data.ndim if dims is None else len(dims)
    axes_in(axes, rank, "axes", "data")
    size = None if dims is None else dims[channel_axis]
    if size is not None:
        error = OperandError(
            "data",
            f"has {dim_text(size)} channels",
            also={"num_groups": f"is {num_groups}"},
            message="each group has as many channels",
        )
        text = f"{num_groups} groups have as many of the {dim_text(size)} channels of `data`"
        rest = simplify(prim.FloorMod.make(size, number(num_groups)))
        require_equal(context, rest, number(0), error, text)
    return result


@op("nn.instance_norm")
def instance_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    channel_axis: int,
    axes: Axes,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Tensor:
    """`data` normalized over `axes`, each channel on its own.

    `gamma` and `beta` have one element for each channel; `scale=False` leaves out `gamma`,
    `center=False` leaves out `beta`.
    """
    wide = data.astype(accumulator(data.dtype))
    result = _normalized(wide, tuple(a % data.ndim for a in axes), epsilon)
    found: Tensor = _scaled(
        result, channel_axis, gamma if scale else None, beta if center else None
    )
    return found.astype(data.dtype)


@instance_norm.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    gamma: TensorStructInfo,
    beta: TensorStructInfo,
    channel_axis: int,
    axes: tuple[int, ...],
    **options: Any,
) -> StructInfo:
    dims = dims_of(data)
    axes_in(axes, data.ndim if dims is None else len(dims), "axes", "data")
    return _per_channel(context, data, {"gamma": gamma, "beta": beta}, channel_axis, "channel_axis")

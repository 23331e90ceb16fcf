"""Normalizations of channels: by batches, by groups of channels, and one by one.

Source: TVM `relax.nn.batch_norm`, `group_norm`; ONNX `InstanceNormalization`. All is computed in a
wider type and rounded once; variances are those of the population.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.relax import Expr, Tuple, TupleGetItem
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op.gradients import R, cast_like, count_along, known_dims, known_rank
from relaxscript.op.moments import moments, normalize, normalized_terms, rescale
from relaxscript.op.numeric import accumulator
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.decomposition import DecompositionContext, float_dims
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import InferLayoutOutput, LayoutContext, Order, place_of, places_of
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor, Tensors
from relaxscript.opdef.shapes import (
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
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.opdef.traits import Trait

from .normalization_decompositions import (
    blend_steps,
    expand,
    normalization_steps,
    round_step,
    widen_step,
)
from .normalization_gradients import gradient_by_parameter, normalized, spread, widened

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
    place = axis % data.ndim
    mean, variance = (_along(m, axis, data.ndim) for m in (moving_mean, moving_var))
    if training:
        mean, variance = moments(data, tuple(i for i in range(data.ndim) if i != place))
        moving_mean = _blend(moving_mean, mean.reshape(moving_mean.shape), momentum)
        moving_var = _blend(moving_var, variance.reshape(moving_var.shape), momentum)
    else:
        mean, variance = (m.astype(accumulator(data.dtype)) for m in (mean, variance))
    factor, term = _parameters(gamma, beta, scale, center, axis, data.ndim)
    return rescale(data, mean, variance, epsilon, factor, term), moving_mean, moving_var


def _blend(moving: Any, own: Any, momentum: float) -> Any:
    return (momentum * own + (1 - momentum) * moving.astype(own.dtype)).astype(moving.dtype)


def _along(parameter: Any, axis: int, rank: int) -> Any:
    """A parameter of rank 1 with its elements along an axis."""
    shape = [1] * rank
    shape[axis] = parameter.size
    return parameter.reshape(shape)


def _parameters(gamma: Any, beta: Any, scale: bool, center: bool, axis: int, rank: int) -> Any:
    """`gamma` and `beta` along an axis, None for what is left out."""
    used = ((gamma, scale), (beta, center))
    return [_along(given, axis, rank) if is_used else None for given, is_used in used]


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
    channels = dims_of(gamma) if dims is None else (dims[axis],)
    moving = tensor_of(channels, result.dtype, result.vdevice, 1)
    return TupleStructInfo.make((result, moving, moving))


def _batch_norm_terms(
    data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any, axis: int,
    epsilon: float = 1e-5, center: bool = True, scale: bool = True, momentum: float = 0.1,
    training: bool = True,
) -> Any:  # fmt: skip
    """The sizes of what is added up for each element, and for each moving statistic."""
    place = axis % data.ndim
    over = tuple(i for i in range(data.ndim) if i != place)
    factor, term = _parameters(gamma, beta, scale, center, axis, data.ndim)
    if training:
        sizes = normalized_terms(data, over, epsilon, factor, term)
        mean, square = (
            moments(np.abs(data), over, centred)[not centred] for centred in (True, False)
        )
        own = (mean.reshape(moving_mean.shape), square.reshape(moving_var.shape))
        moved = (_blend(np.abs(m), o, momentum) for m, o in zip((moving_mean, moving_var), own))
        return sizes, *moved
    mean, variance = (
        _along(m, axis, data.ndim).astype(np.float64) for m in (moving_mean, moving_var)
    )
    sizes = (np.abs(data) + np.abs(mean)) / np.sqrt(variance + epsilon)
    sizes = sizes if factor is None else sizes * np.abs(factor)
    return sizes if term is None else sizes + np.abs(term), moving_mean, moving_var


@batch_norm.compute(ulp=1, sums=4, terms=_batch_norm_terms)
def _(context: ComputeContext, *tensors: Any, **options: Any) -> Any:
    return topi.nn.batch_norm(*tensors, **options)


@batch_norm.layout_rule
def _(
    context: LayoutContext, data: Order, *others: Order, axis: int, **options: Any
) -> InferLayoutOutput:
    return InferLayoutOutput((data, *others), (data, *others[2:]), {"axis": place_of(axis, data)})


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


@op("nn.group_norm", traits={Trait.MIXED_FOLLOW})
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
    options = (num_groups, channel_axis, axes, epsilon, center, scale)
    found: Tensor = _group_norm(normalize, data, gamma, beta, *options)
    return found


def _group_norm(
    how: Callable[..., Any], data: Any, gamma: Any, beta: Any, num_groups: int, channel_axis: int,
    axes: Sequence[int], epsilon: float = 1e-5, center: bool = True, scale: bool = True,
) -> Any:  # fmt: skip
    axis = channel_axis % data.ndim
    split = (num_groups, data.shape[axis] // num_groups)
    grouped = data.reshape(*data.shape[:axis], *split, *data.shape[axis + 1 :])
    others = {a % data.ndim for a in axes} - {axis}
    over = (axis + 1, *sorted(a + (a > axis) for a in others))
    factor, term = (
        None if p is None else p.reshape(*p.shape[:axis], *split, *p.shape[axis + 1 :])
        for p in _parameters(gamma, beta, scale, center, axis, data.ndim)
    )
    return how(grouped, over, epsilon, factor, term).reshape(data.shape)


@group_norm.compute(ulp=1, sums=4, terms=functools.partial(_group_norm, normalized_terms))
def _(
    context: ComputeContext, data: Any, gamma: Any, beta: Any, num_groups: int, channel_axis: int,
    axes: Sequence[int], epsilon: float, center: bool, scale: bool,
) -> Any:  # fmt: skip
    factor, term = gamma if scale else None, beta if center else None
    return topi.nn.group_norm(data, factor, term, num_groups, channel_axis, axes, epsilon)


@group_norm.attribute_rule
def _(num_groups: int, **others: Any) -> None:
    if num_groups < 1:
        raise OperandError(
            "num_groups", f"is {num_groups}", message="there is at least one group", code="RX0204"
        )


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


@op("nn.instance_norm", traits={Trait.MIXED_FOLLOW})
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
    options = (channel_axis, axes, epsilon, center, scale)
    found: Tensor = _instance_norm(normalize, data, gamma, beta, *options)
    return found


def _instance_norm(
    how: Callable[..., Any], data: Any, gamma: Any, beta: Any, channel_axis: int,
    axes: Sequence[int], epsilon: float = 1e-5, center: bool = True, scale: bool = True,
) -> Any:  # fmt: skip
    over = tuple(a % data.ndim for a in axes)
    factor, term = _parameters(gamma, beta, scale, center, channel_axis, data.ndim)
    return how(data, over, epsilon, factor, term)


@instance_norm.compute(ulp=1, sums=4, terms=functools.partial(_instance_norm, normalized_terms))
def _(
    context: ComputeContext, data: Any, gamma: Any, beta: Any, channel_axis: int,
    axes: Sequence[int], epsilon: float, center: bool, scale: bool,
) -> Any:  # fmt: skip
    factor, term = gamma if scale else None, beta if center else None
    return topi.nn.instance_norm(data, factor, term, channel_axis, axes, epsilon)


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


@group_norm.layout_rule
@instance_norm.layout_rule
def _(
    context: LayoutContext, data: Order, gamma: Order, beta: Order, channel_axis: int, axes: Order,
    **others: Any,
) -> InferLayoutOutput:  # fmt: skip
    moved = {"channel_axis": place_of(channel_axis, data), "axes": places_of(axes, data)}
    return InferLayoutOutput((data, gamma, beta), data, moved)


# ---------------------------------------------------------------- gradients


@batch_norm.rule("decompose")
def _(
    context: DecompositionContext, data: Expr, gamma: Expr, beta: Expr, *moving: Expr, axis: int,
    epsilon: float, center: bool, scale: bool, momentum: float, training: bool,
) -> Expr | None:  # fmt: skip
    dims = float_dims(data)
    own = context.training and training
    if training and context.keep_training:
        return None
    if dims is None or not (own or context.may_share):
        return None
    place = axis % len(dims)
    if not all(context.has(parameter, [dims[place]]) for parameter in (gamma, beta, *moving)):
        return None
    others = [k for k in range(len(dims)) if k != place]
    x, statistics = widen_step(context, data), moving
    if own:
        statistics = tuple([context.emit(f(x, others)) for f in (R.mean, R.variance)])

    def along_channels(parameter: Expr) -> Expr:
        return expand(context, widen_step(context, parameter), others)

    mean, variance = (functools.partial(along_channels, s) for s in statistics)
    parameters = [
        functools.partial(along_channels, p) if used else None
        for p, used in ((gamma, scale), (beta, center))
    ]
    found = normalization_steps(context, x, mean, variance, epsilon, parameters)
    made = context.emit(round_step(context, found, data))
    if not own:
        return Tuple.make((made, *statistics))
    # TVM takes what inference gives out of its tuple, and so do programs that are compared with it.
    whole = context.emit(Tuple.make((made, *statistics)))
    made = context.emit(TupleGetItem.make(whole, 0))
    moved = [
        context.emit(
            round_step(context, blend_steps(context, widen_step(context, old), new, momentum), old)
        )
        for old, new in zip(moving, statistics)
    ]
    return Tuple.make((made, *moved))


@batch_norm.gradient
def _(
    context: GradientContext, data: Expr, gamma: Expr, beta: Expr, moving_mean: Expr,
    moving_var: Expr, axis: int, epsilon: float, center: bool, scale: bool, momentum: float,
    training: bool,
) -> Gradients:  # fmt: skip
    rank = known_rank("data", data)
    channels = [axis % rank]
    others = [a for a in range(rank) if a not in channels]
    grad, by_mean, by_var = (widened(context.field(k)) for k in range(3))
    x, factor = widened(data), spread(gamma, channels, rank)
    inner = grad * factor if scale else grad
    if training:
        # The moving statistics take their share of those of the data.
        own = normalized(x, others, epsilon)
        value = own.value
        apart = x - R.mean(x, others, True)
        each = spread(by_mean, channels, rank) + apart * spread(by_var, channels, rank) * 2.0
        by_data = own.gradient(inner) + each * momentum / count_along(x, others)
        by_mean, by_var = by_mean * (1 - momentum), by_var * (1 - momentum)
    else:
        rate = R.rsqrt(spread(moving_var, channels, rank) + epsilon)
        value = (x - spread(moving_mean, channels, rank)) * rate
        by_data = inner * rate
        by_mean = by_mean - R.sum(by_data, others)
        by_var = by_var - R.sum(by_data * value * rate, others) * 0.5
    return (
        cast_like(by_data, data),
        gradient_by_parameter(grad * value, channels, gamma, scale),
        gradient_by_parameter(grad, channels, beta, center),
        cast_like(by_mean, moving_mean),
        cast_like(by_var, moving_var),
    )


@group_norm.gradient
def _(
    context: GradientContext, data: Expr, gamma: Expr, beta: Expr, num_groups: int,
    channel_axis: int, axes: tuple[int, ...], epsilon: float, center: bool, scale: bool,
) -> Gradients:  # fmt: skip
    dims = known_dims("data", data)
    rank = len(dims)
    axis = channel_axis % rank
    split = [number(num_groups), simplify(prim.FloorDiv.make(dims[axis], number(num_groups)))]
    grouped = [*dims[:axis], *split, *dims[axis + 1 :]]
    over = {a % rank for a in axes} - {axis}
    where = [axis + 1, *sorted(a + (a > axis) for a in over)]
    grad, x = widened(context.grad), R.reshape(widened(data), grouped)
    inner = grad * spread(gamma, [axis], rank) if scale else grad
    value = normalized(x, where, epsilon)
    by_data = R.reshape(value.gradient(R.reshape(inner, grouped)), list(dims))
    plain = R.reshape(value.value, list(dims))
    return (
        cast_like(by_data, data),
        gradient_by_parameter(grad * plain, [axis], gamma, scale),
        gradient_by_parameter(grad, [axis], beta, center),
    )


@instance_norm.gradient
def _(
    context: GradientContext, data: Expr, gamma: Expr, beta: Expr, channel_axis: int,
    axes: tuple[int, ...], epsilon: float, center: bool, scale: bool,
) -> Gradients:  # fmt: skip
    rank = known_rank("data", data)
    channels, over = [channel_axis % rank], sorted({a % rank for a in axes})
    grad, value = widened(context.grad), normalized(widened(data), over, epsilon)
    inner = grad * spread(gamma, channels, rank) if scale else grad
    return (
        cast_like(value.gradient(inner), data),
        gradient_by_parameter(grad * value.value, channels, gamma, scale),
        gradient_by_parameter(grad, channels, beta, center),
    )

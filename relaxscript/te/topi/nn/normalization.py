"""Tensors brought to mean 0 and variance 1 along some axes.

Statistics are computed in a wide dtype, the variance from what is left without the mean. What they
make of the elements is rounded to the dtype of the results. There `gamma` and `beta` follow, which
may be None. Of narrower results than float32 all is wide, and rounded once.

Source: TVM `topi.nn.layer_norm`, `rms_norm`, `group_norm`, `instance_norm`, `batch_norm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import NO, format_expr, prove_equal
from relaxscript.errors import OperandError
from relaxscript.ir.prim import IntImm, PrimExpr, cast, const
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.moments import (
    Axes,
    Dims,
    Elements,
    affine,
    centred,
    inverse_deviation,
    mean_over,
    mean_square_over,
    spread,
    tensor_of,
    wide_elements,
)
from relaxscript.te.topi.operands import require_dims, require_dtype, topi_function
from relaxscript.te.topi.reduction import accumulator, axes_of

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "rms_norm"]


def _statistics(
    name: str, dims: Dims, axes: Axes, element: Elements, epsilon: float
) -> tuple[Tensor, Tensor]:
    """The means of elements along axes, and one over their standard deviations."""
    mean = mean_over(dims, axes, element, f"{name}_red")
    variance = mean_square_over(dims, axes, centred(element, mean), f"{name}_red")
    return mean, inverse_deviation(variance, epsilon, variance.dtype)


def _rounded(data: Tensor, element: Elements, name: str) -> Tensor:
    return tensor_of(data.shape, lambda at: cast(element(at), data.dtype), name)


def _scaled(element: Elements, factor: Tensor) -> Elements:
    return _product(element, wide_elements(factor, factor.dtype))


def _product(a: Elements, b: Elements) -> Elements:
    return lambda at: a(at) * b(at)


def _require(callee: str, data: Tensor, axes: Sequence[int], **parameters: Tensor | None) -> None:
    """Refuse data that are no floats, and parameters without the dimensions of some axes."""
    require_dtype(callee, "data", data.dtype, "float")
    for name, parameter in parameters.items():
        if parameter is not None:
            require_dims(callee, name, parameter, [data.shape[axis] for axis in axes], "data")


def _named(data: Tensor, axis: Any) -> tuple[int, ...]:
    """The axes in the order in which they are named, counted from 0."""
    if axis is None:
        return tuple(range(data.ndim))
    return tuple(a % data.ndim for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))


def _with_parameters(
    data: Tensor, element: Elements, axes: Sequence[int], gamma: Tensor | None,
    beta: Tensor | None, name: str,
) -> Tensor:  # fmt: skip
    """Normalized elements, times `gamma` and plus `beta`, which have these axes.

    To widen both for each element would cost more than all else.
    """
    dtype = data.dtype if data.dtype.bits > 16 else accumulator(data.dtype)
    parameters = (None if p is None else spread(p, axes, dtype) for p in (gamma, beta))
    return _rounded(data, affine(lambda at: cast(element(at), dtype), *parameters), name)


@topi_function
def layer_norm(
    data: Tensor, gamma: Tensor | None, beta: Tensor | None, axis: Any, epsilon: float = 1e-5
) -> Tensor:
    """`(x - mean) / sqrt(variance + epsilon) * gamma + beta`, statistics over `axis`.

    `gamma` and `beta` have the dimensions of these axes, in the order in which they are named.
    """
    axes = axes_of("topi.nn.layer_norm", data, axis)
    named = _named(data, axis)
    _require("topi.nn.layer_norm", data, named, gamma=gamma, beta=beta)
    return _normalized(data, axes, gamma, beta, named, epsilon, "T_layer_norm")


def _normalized(
    data: Tensor, axes: Sequence[int], gamma: Tensor | None, beta: Tensor | None,
    own: Sequence[int], epsilon: float, name: str,
) -> Tensor:  # fmt: skip
    """The normalized elements, with parameters along axes of `own`."""
    element = wide_elements(data, accumulator(data.dtype))
    mean, factor = _statistics(data.op.name, data.shape, axes, element, epsilon)
    found = _scaled(centred(element, mean), factor)
    return _with_parameters(data, found, own, gamma, beta, name)


@topi_function
def rms_norm(data: Tensor, weight: Tensor, axis: Any, epsilon: float = 1e-5) -> Tensor:
    """`x / sqrt(mean(x * x) + epsilon) * weight`, the mean over `axis`.

    `weight` has the dimensions of these axes, in the order in which they are named.
    """
    axes = axes_of("topi.nn.rms_norm", data, axis)
    named = _named(data, axis)
    _require("topi.nn.rms_norm", data, named, weight=weight)
    element = wide_elements(data, accumulator(data.dtype))
    square = mean_square_over(data.shape, axes, element, f"{data.op.name}_red")
    found = _scaled(element, inverse_deviation(square, epsilon, square.dtype))
    return _with_parameters(data, found, named, weight, None, "T_rms_norm")


@topi_function
def instance_norm(
    data: Tensor, gamma: Tensor | None, beta: Tensor | None, channel_axis: int, axis: Any,
    epsilon: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Elements normalized over `axis`; `gamma` and `beta` have one element for each channel."""
    channel = axes_of("topi.nn.instance_norm", data, channel_axis)
    axes = axes_of("topi.nn.instance_norm", data, axis)
    _require("topi.nn.instance_norm", data, channel, gamma=gamma, beta=beta)
    return _normalized(data, axes, gamma, beta, channel, epsilon, "T_instance_norm")


def _require_groups(channels: PrimExpr, num_groups: int) -> None:
    if num_groups < 1 or prove_equal(channels % num_groups, 0) is NO:
        raise OperandError(
            "num_groups", f"is {num_groups}",
            also={"data": f"has {format_expr(channels)} channels"},
            message="`topi.nn.group_norm` takes groups of as many channels each", code="RX0204",
        )  # fmt: skip


@topi_function
def group_norm(
    data: Tensor, gamma: Tensor | None, beta: Tensor | None, num_groups: int, channel_axis: int,
    axes: Any, epsilon: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Elements normalized over `axes` and the channels of one of `num_groups` groups together.

    `gamma` and `beta` have one element for each channel.
    """
    (channel,) = axes_of("topi.nn.group_norm", data, channel_axis)
    others = set(axes_of("topi.nn.group_norm", data, axes)) - {channel}
    _require("topi.nn.group_norm", data, [channel], gamma=gamma, beta=beta)
    _require_groups(data.shape[channel], num_groups)
    wide, (before, size, behind) = accumulator(data.dtype), _around(data.shape, channel)
    groups = const(num_groups, size.dtype)
    each = size // groups
    dims = (*before, groups, each, *behind)
    over = {channel + 1, *(axis + (axis > channel) for axis in others)}

    def of_groups(at: Sequence[PrimExpr]) -> PrimExpr:
        before, group, (inner, *behind) = _around(at, channel)
        return cast(data[(*before, group * each + inner, *behind)], wide)

    # Nothing is in groups of no channels, so that nothing is divided by 0.
    step = const(1, size.dtype) if isinstance(each, IntImm) and not each.value else each

    def grouped(statistic: Tensor) -> Elements:
        own = wide_elements(statistic, wide)

        def at_group(at: Sequence[PrimExpr]) -> PrimExpr:
            before, place, behind = _around(at, channel)
            return own((*before, place // step, place % step, *behind))

        return at_group

    statistics = _statistics(data.op.name, dims, over, of_groups, epsilon)
    mean, factor = map(grouped, statistics)
    element = wide_elements(data, wide)
    return _with_parameters(
        data, lambda at: (element(at) - mean(at)) * factor(at), [channel], gamma, beta,
        "T_group_norm",
    )  # fmt: skip


def _around(values: Sequence[PrimExpr], axis: int) -> tuple[Any, PrimExpr, Any]:
    """The values before an axis, at it and behind it."""
    return values[:axis], values[axis], values[axis + 1 :]


@topi_function
def batch_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    moving_mean: Tensor,
    moving_var: Tensor,
    axis: int | None = None,
    epsilon: float | None = None,
    center: bool | None = None,
    scale: bool | None = None,
    training: bool | None = None,
    momentum: float | None = None,
) -> list[Tensor]:
    """The elements normalized along all axes but `axis`, and the moving statistics.

    While `training` they are normalized by their own mean and variance, and each moving statistic
    becomes `(1 - momentum) * moving + momentum * own`. Else the moving ones are taken, and stay.
    Where nothing is said: axis 1, `epsilon` 1e-5, `momentum` 0.1, and no training.
    """
    (channel,) = axes_of("topi.nn.batch_norm", data, 1 if axis is None else axis)
    _require(
        "topi.nn.batch_norm", data, [channel], gamma=gamma, beta=beta, moving_mean=moving_mean,
        moving_var=moving_var,
    )  # fmt: skip
    wide, dims, name = accumulator(data.dtype), data.shape, f"{data.op.name}_red"
    element = wide_elements(data, wide)
    mean, variance = moving_mean, moving_var
    moved = [moving_mean, moving_var]
    if training:
        rate = 0.1 if momentum is None else momentum
        others = [a for a in range(data.ndim) if a != channel]
        mean = mean_over(dims, others, element, name, keepdims=False)
        apart = _difference(element, spread(mean, [channel], wide))
        variance = mean_square_over(dims, others, apart, name, keepdims=False)
        moved = [_blend(own, of, rate) for own, of in zip(moved, (mean, variance))]
    factor = inverse_deviation(variance, 1e-5 if epsilon is None else epsilon, wide)
    found = _difference(element, spread(mean, [channel], wide))
    if scale is None or scale:
        gain = _product(spread(factor, [0], wide), spread(gamma, [0], wide))
        factor = tensor_of(factor.shape, gain, "T_multiply")
    offset = spread(beta, [channel], wide) if center is None or center else None
    found = affine(found, spread(factor, [channel], wide), offset)
    return [_rounded(data, found, "T_batch_norm"), *moved]


def _difference(a: Elements, b: Elements) -> Elements:
    return lambda at: a(at) - b(at)


def _blend(moving: Tensor, own: Tensor, momentum: float) -> Tensor:
    """The moving statistic after another one has come."""
    wide = own.dtype
    rest = const(1 - momentum, wide)

    def blended(at: Sequence[PrimExpr]) -> PrimExpr:
        (i,) = at
        return cast(own[i] * const(momentum, wide) + cast(moving[i], wide) * rest, moving.dtype)

    return tensor_of(moving.shape, blended, "T_moving")

"""Normalizations: tensors brought to mean 0 and variance 1 along some axes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import R, cast_like, known_rank
from relaxscript.op.moments import normalize, normalized_terms
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.decomposition import DecompositionContext, float_dims
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import InferLayoutOutput, LayoutContext, Order, places_of, plain
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor
from relaxscript.opdef.shapes import (
    axes_in,
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.opdef.traits import Trait

from .normalization_decompositions import (
    expand,
    normalization_steps,
    permute,
    round_step,
    widen_step,
)
from .normalization_gradients import gradient_by_parameter, normalized, spread, widened

__all__ = ["layer_norm", "rms_norm"]


@op("nn.layer_norm", traits={Trait.MIXED_FOLLOW})
def layer_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    axes: Axes,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Tensor:
    """`(x - mean) / sqrt(variance + epsilon) * gamma + beta`, statistics over `axes`.

    `gamma` and `beta` have the dimensions of `axes`, in the order in which `axes` names them;
    `scale=False` leaves out `gamma`, `center=False` leaves out `beta`. The variance is that of the
    population. All is computed in a wider type and rounded once.
    """
    options = (axes, epsilon, center, scale)
    found: Tensor = _layer_norm(normalize, data, gamma, beta, *options)
    return found


def _layer_norm(
    how: Callable[..., Any], data: Any, gamma: Any, beta: Any, axes: Sequence[int],
    epsilon: float = 1e-5, center: bool = True, scale: bool = True,
) -> Any:  # fmt: skip
    where = tuple(axis % data.ndim for axis in axes)
    factor = _align(gamma, where, data.ndim) if scale else None
    term = _align(beta, where, data.ndim) if center else None
    return how(data, where, epsilon, factor, term)


# The meaning rounds once. The compute does before `gamma` and `beta`, too: see `te/topi`.
@layer_norm.compute(ulp=1, sums=4, terms=functools.partial(_layer_norm, normalized_terms))
def _(
    context: ComputeContext, data: Any, gamma: Any, beta: Any, axes: Sequence[int],
    epsilon: float, center: bool, scale: bool,
) -> Any:  # fmt: skip
    factor, term = gamma if scale else None, beta if center else None
    return topi.nn.layer_norm(data, factor, term, axes, epsilon)


@op("nn.rms_norm", traits={Trait.MIXED_FOLLOW})
def rms_norm(data: Tensor, weight: Tensor, axes: Axes = -1, epsilon: float = 1e-5) -> Tensor:  # type: ignore[assignment]
    """`x / sqrt(mean(x * x) + epsilon) * weight`, the mean over `axes`.

    `weight` has the dimensions of `axes`, in the order in which `axes` names them.
    """
    found: Tensor = _rms_norm(normalize, data, weight, axes, epsilon)
    return found


def _rms_norm(
    how: Callable[..., Any], data: Any, weight: Any, axes: Any = (-1,), epsilon: float = 1e-5
) -> Any:
    where = tuple(axis % data.ndim for axis in axes)
    return how(data, where, epsilon, _align(weight, where, data.ndim), None, centred=False)


@rms_norm.compute(ulp=1, sums=4, terms=functools.partial(_rms_norm, normalized_terms))
def _(context: ComputeContext, data: Any, weight: Any, axes: Sequence[int], epsilon: float) -> Any:
    return topi.nn.rms_norm(data, weight, axes, epsilon)


def _align(parameter: Any, axes: Sequence[int], rank: int) -> Any:
    """A parameter over `axes` with its axes where those of the data are."""
    order = np.argsort(axes)
    ordered = np.transpose(parameter, order)
    shape = [1] * rank
    for axis, size in zip(sorted(axes), ordered.shape):
        shape[axis] = size
    return ordered.reshape(shape)


@layer_norm.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    gamma: TensorStructInfo,
    beta: TensorStructInfo,
    axes: tuple[int, ...],
    **options: Any,
) -> StructInfo:
    return _infer(context, data, {"gamma": gamma, "beta": beta}, axes)


@rms_norm.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    weight: TensorStructInfo,
    axes: tuple[int, ...],
    **options: Any,
) -> StructInfo:
    return _infer(context, data, {"weight": weight}, axes)


@layer_norm.layout_rule
def _(
    context: LayoutContext, data: Order, gamma: Order, beta: Order, axes: Order, **others: Any
) -> InferLayoutOutput:
    own = plain(len(axes))
    return InferLayoutOutput((data, own, own), data, {"axes": places_of(axes, data)})


@rms_norm.layout_rule
def _(
    context: LayoutContext, data: Order, weight: Order, axes: Order, **others: Any
) -> InferLayoutOutput:
    return InferLayoutOutput((data, plain(len(axes))), data, {"axes": places_of(axes, data)})


def _infer(
    context: InferContext,
    data: TensorStructInfo,
    parameters: dict[str, TensorStructInfo],
    axes: tuple[int, ...],
) -> StructInfo:
    operands = {"data": data, **parameters}
    dtype = common_dtype(operands)
    require_dtype("data", data.dtype, "float")
    vdevice = common_vdevice(operands)
    dims = dims_of(data)
    where = axes_in(axes, data.ndim if dims is None else len(dims), "axes", "data")
    wanted = None if dims is None else [dims[axis] for axis in where]
    for name, info in parameters.items():
        _require_parameter(context, name, info, len(where), wanted)
    if dtype is data.dtype and vdevice is data.vdevice:
        return data
    return tensor_of(dims, dtype, vdevice, data.ndim)


def _require_parameter(
    context: InferContext,
    name: str,
    info: TensorStructInfo,
    count: int,
    wanted: Sequence[PrimExpr] | None,
) -> None:
    dims = dims_of(info)
    rank = info.ndim if dims is None else len(dims)
    if rank not in (-1, count):
        raise OperandError(
            name,
            shape_fact(info, dims),
            also={"axes": f"names {count} of the axes of `data`"},
            help=f"`{name}` has one dimension for each of `axes`",
        )
    for index, (a, b) in enumerate(zip(wanted or (), dims or ())):
        if same_dim(a, b):
            continue
        error = OperandError(
            name,
            f"has {dim_text(b)} elements along axis {index}",
            also={"data": f"has {dim_text(a)} elements along the normalized axis {index}"},
        )
        text = f"`{name}` has {dim_text(b)} elements where `data` has {dim_text(a)}"
        require_equal(context, a, b, error, text)


# ---------------------------------------------------------------- gradients


@layer_norm.rule("decompose")
def _(
    context: DecompositionContext, data: Expr, gamma: Expr, beta: Expr, axes: Sequence[int],
    epsilon: float, center: bool, scale: bool,
) -> Expr | None:  # fmt: skip
    dims = float_dims(data)
    if dims is None or not context.training:
        return None
    places = [axis % len(dims) for axis in axes]
    wanted = [dims[place] for place in places]
    if not (context.has(gamma, wanted) and context.has(beta, wanted)):
        return None
    x = widen_step(context, data)
    others = [place for place in range(len(dims)) if place not in places]
    # What is along the last axes is spread along the others anyway.
    apart = others if any(place < other for place in places for other in others) else []
    order = sorted(range(len(places)), key=places.__getitem__)

    def along_axes(parameter: Expr) -> Expr:
        ordered = permute(context, widen_step(context, parameter), order)
        return expand(context, ordered, apart)

    def moment(of: Callable[..., Expr]) -> Expr:
        return context.emit(of(x, axes, True))

    mean, variance = (functools.partial(moment, of) for of in (R.mean, R.variance))
    parameters = [
        functools.partial(along_axes, p) if used else None
        for p, used in ((gamma, scale), (beta, center))
    ]
    found = normalization_steps(context, x, mean, variance, epsilon, parameters)
    return round_step(context, found, data)


@layer_norm.gradient
def _(
    context: GradientContext, data: Expr, gamma: Expr, beta: Expr, axes: Sequence[int],
    epsilon: float, center: bool, scale: bool,
) -> Gradients:  # fmt: skip
    rank = known_rank("data", data)
    where = [a % rank for a in axes]
    grad, value = widened(context.grad), normalized(widened(data), where, epsilon)
    inner = grad * spread(gamma, where, rank) if scale else grad
    return (
        cast_like(value.gradient(inner), data),
        gradient_by_parameter(grad * value.value, where, gamma, scale),
        gradient_by_parameter(grad, where, beta, center),
    )


@rms_norm.gradient
def _(
    context: GradientContext, data: Expr, weight: Expr, axes: Sequence[int], epsilon: float
) -> Gradients:
    rank = known_rank("data", data)
    where = [a % rank for a in axes]
    grad, value = widened(context.grad), normalized(widened(data), where, epsilon, centred=False)
    return (
        cast_like(value.gradient(grad * spread(weight, where, rank)), data),
        gradient_by_parameter(grad * value.value, where, weight, True),
    )

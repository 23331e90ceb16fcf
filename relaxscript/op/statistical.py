"""Operators that combine all elements along some axes.

Sums, products, means and variances of floats are computed in a wider dtype and rounded once. It is
float32 for floats of 16 bits and fewer, float64 for the others. Those of integers wrap around.
Source: numpy's functions of the same names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from relaxscript.ir.prim import cast
from relaxscript.ir.relax import Expr
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.opdef.families import reduction
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.tensor_expressions import te, topi

from .gradients import R, broadcast_like, count_along, known_dims, known_rank, restore_axes
from .moments import moments
from .numeric import accumulator
from .pieces import reduce_by_pieces

__all__ = ["max", "mean", "min", "prod", "std", "sum", "variance"]

_Axes = tuple[int, ...]


def _sum(x: Any, axes: _Axes, keepdims: bool) -> Any:
    return np.sum(x, axis=axes, dtype=accumulator(x.dtype), keepdims=keepdims)


def _prod(x: Any, axes: _Axes, keepdims: bool) -> Any:
    return np.prod(x, axis=axes, dtype=accumulator(x.dtype), keepdims=keepdims)


def _mean(x: Any, axes: _Axes, keepdims: bool) -> Any:
    total = _sum(x, axes, keepdims)
    # Sum and division, since numpy warns of the mean of nothing.
    count = np.prod([x.shape[axis] for axis in axes], dtype=np.float64).astype(total.dtype)
    return total / count


def _variance(x: Any, axes: _Axes, keepdims: bool) -> Any:
    _, variance = moments(x, axes)
    return variance if keepdims else variance.squeeze(axes)


def _std(x: Any, axes: _Axes, keepdims: bool) -> Any:
    return np.sqrt(_variance(x, axes, keepdims))


def _round_results(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results are in a wider type, rounded to that of its operand."""
    return functools.partial(reduce_by_pieces, function)


def _limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest value of a dtype, infinities included."""
    match dtype.kind:
        case "b":
            return False, True
        case "i" | "u":
            return np.iinfo(dtype).min, np.iinfo(dtype).max
    limits: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    infinite = np.isinf(np.array(np.inf).astype(dtype))
    return (-np.inf, np.inf) if infinite else (limits.min, limits.max)


def _extreme(x: Any, axes: _Axes, keepdims: bool, function: Any, of_nothing: int) -> Any:
    if all(x.shape[axis] for axis in axes):
        return function(x, axis=axes, keepdims=keepdims)
    kept = [
        1 if axis in axes else size
        for axis, size in enumerate(x.shape)
        if keepdims or axis not in axes
    ]
    return np.full(kept, _limits(x.dtype)[of_nothing], x.dtype)


def _max(x: Any, axes: _Axes, keepdims: bool) -> Any:
    return _extreme(x, axes, keepdims, np.max, 0)


def _min(x: Any, axes: _Axes, keepdims: bool) -> Any:
    return _extreme(x, axes, keepdims, np.min, 1)


# ---------------------------------------------------------------- loops


def _mean_of(x: te.Tensor, axis: Any, keepdims: bool) -> te.Tensor:
    element = topi.moments.wide_elements(x, topi.reduction.accumulator(x.dtype))
    axes = topi.reduction.axes_of("R.mean", x, axis)
    return topi.reduction.rounded(
        topi.moments.mean_over(x.shape, axes, element, f"{x.name}_red", keepdims), x.dtype
    )


def _wide_variance(x: te.Tensor, axis: Any, keepdims: bool) -> te.Tensor:
    element = topi.moments.wide_elements(x, topi.reduction.accumulator(x.dtype))
    axes = topi.reduction.axes_of("R.variance", x, axis)
    apart = topi.moments.centred(
        element, topi.moments.mean_over(x.shape, axes, element, f"{x.name}_red")
    )
    return topi.moments.mean_square_over(x.shape, axes, apart, f"{x.name}_red", keepdims)


def _variance_of(x: te.Tensor, axis: Any, keepdims: bool) -> te.Tensor:
    return topi.reduction.rounded(_wide_variance(x, axis, keepdims), x.dtype)


def _std_of(x: te.Tensor, axis: Any, keepdims: bool) -> te.Tensor:
    variance = _wide_variance(x, axis, keepdims)

    def root(at: Any) -> Any:
        return cast(FUNCTIONS["sqrt"](variance[tuple(at)]), x.dtype)

    return topi.moments.tensor_of(variance.shape, root, "T_sqrt")


def _mean_square(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The size of what a variance is made of: the mean that is taken away is rounded, too."""
    return mean.meaning(x.astype(np.float64) ** 2, axis=axis, keepdims=keepdims)


def _root_mean_square(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.sqrt(_mean_square(x, axis, keepdims))


def _of_topi(name: str) -> Callable[..., Any]:
    """The function of that name in topi, looked up when it is called."""
    return lambda x, axis, keepdims: getattr(topi, name)(x, axis, keepdims)


# The bounds are for few elements. Floats of 64 bits have no wider accumulator: of them each further
# element adds half a unit, where they are added up in another order.
# fmt: off
# ruff: noqa: E501
sum      = reduction("sum",      "number", _round_results(_sum),      "The sum along `axis` (all axes where None), 0 of nothing.", te=_of_topi("sum"),  sums=4)
prod     = reduction("prod",     "number", _round_results(_prod),     "The product along `axis` (all axes where None), 1 of nothing.", te=_of_topi("prod"), ulp=4)
max      = reduction("max",      "any",    _max,      "The largest along `axis` (all axes where None); NaN if there is one, the least value of the dtype of nothing.", te=_of_topi("max"))
min      = reduction("min",      "any",    _min,      "The smallest along `axis` (all axes where None); NaN if there is one, the greatest value of the dtype of nothing.", te=_of_topi("min"))
mean     = reduction("mean",     "float",  _round_results(_mean),     "The mean along `axis` (all axes where None), NaN of nothing.", te=_mean_of, sums=4)
variance = reduction("variance", "float",  _round_results(_variance), "The variance of the population along `axis` (all axes where None).", te=_variance_of, sums=4, terms=_mean_square)
std      = reduction("std",      "float",  _round_results(_std),      "The standard deviation of the population along `axis` (all axes where None).", te=_std_of, sums=4, terms=_root_mean_square)
# fmt: on


# ---------------------------------------------------------------- gradients

_Axis = tuple[int, ...] | None


@sum.gradient
def _(context: GradientContext, x: Expr, axis: _Axis, keepdims: bool) -> Gradients:
    return (broadcast_like(restore_axes(context.grad, x, axis, keepdims), x),)


@mean.gradient
def _(context: GradientContext, x: Expr, axis: _Axis, keepdims: bool) -> Gradients:
    each = context.grad / count_along(x, axis)
    return (broadcast_like(restore_axes(each, x, axis, keepdims), x),)


@variance.gradient
def _(context: GradientContext, x: Expr, axis: _Axis, keepdims: bool) -> Gradients:
    each = restore_axes(context.grad * 2.0 / count_along(x, axis), x, axis, keepdims)
    return ((x - R.mean(x, axis, True)) * each,)


@std.gradient
def _(context: GradientContext, x: Expr, axis: _Axis, keepdims: bool) -> Gradients:
    # Where all are equal, no element is better than its neighbours: 0, as a subgradient.
    scale = R.where(R.equal(context.out, 0.0), 1.0, context.out * count_along(x, axis))
    each = context.grad / scale
    return ((x - R.mean(x, axis, True)) * restore_axes(each, x, axis, keepdims),)


def _of_extreme(context: GradientContext, x: Expr, axis: _Axis, keepdims: bool) -> Gradients:
    """The gradient goes to the extreme element; several share it."""
    chosen = R.equal(x, restore_axes(context.out, x, axis, keepdims))
    share = R.sum(R.astype(chosen, x.struct_info.dtype), axis, True)  # type: ignore[attr-defined]
    return (R.where(chosen, restore_axes(context.grad, x, axis, keepdims) / share, 0.0),)


max.gradient(_of_extreme)
min.gradient(_of_extreme)


@prod.gradient
def _(context: GradientContext, x: Expr, axis: _Axis, keepdims: bool) -> Gradients:
    grad = restore_axes(context.grad, x, axis, keepdims)
    rank = known_rank("x", x)
    axes = sorted({a % rank for a in (range(rank) if axis is None else axis)})
    if not axes:
        return (grad,)
    if len(axes) == 1:
        return (grad * _product_of_others(x, axes[0]),)
    # The axes become one, which is the last.
    order = [a for a in range(rank) if a not in axes] + axes
    dims = known_dims("x", x)
    flat = R.reshape(R.permute_dims(x, order), [*(dims[a] for a in order[: -len(axes)]), -1])
    others = R.reshape(_product_of_others(flat, rank - len(axes)), [dims[a] for a in order])
    return (grad * R.permute_dims(others, [order.index(a) for a in range(rank)]),)


def _product_of_others(x: Expr, axis: int) -> Expr:
    """For each element the product of the others along an axis; nothing is divided by 0."""
    before = R.cumprod(x, axis, exclusive=True)
    behind = R.flip(R.cumprod(R.flip(x, axis), axis, exclusive=True), axis)
    product: Expr = before * behind
    return product

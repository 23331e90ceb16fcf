"""Gradients of losses and lookups as tensor expressions: shares are put where they belong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import INT64, PrimExpr, cast, const
from relaxscript.ir.scalar_functions import if_then_else
from relaxscript.ir.tir import Buffer
from relaxscript.opdef.tensor_expressions import te, topi

__all__ = ["nll_gradient", "taken_gradient"]


def _tensor(value: te.Tensor | PrimExpr) -> te.Tensor:
    """A tensor, of rank 0 where a scalar is given."""
    return (
        value
        if isinstance(value, te.Tensor)
        else topi.tensor.filled((), value.dtype, value, "scalar")
    )


def taken_gradient(
    grad: te.Tensor | PrimExpr,
    x: te.Tensor,
    indices: te.Tensor | PrimExpr,
    axis: int,
    wide: DataType,
) -> te.Tensor:
    """The sums of the gradients of each element, of those by which it was taken."""
    grad, indices = _tensor(grad), _tensor(indices)
    behind = axis + indices.ndim

    def place(places: Sequence[Buffer], i: topi.scattering.Indices) -> topi.scattering.Indices:
        return (*i[:axis], cast(te.element.load(places[0], *i[axis:behind]), INT64), *i[behind:])

    zeros = topi.tensor.filled(x.shape, wide, 0.0, "T_zeros")
    updates = topi.cast(grad, wide)
    total = topi.scattering.scatter(
        zeros, [indices], updates, grad.shape, place, te.element.add, "take_backward"
    )
    return topi.linear_algebra.rounded(total, x.dtype)


def nll_gradient(
    grad: te.Tensor | PrimExpr, predictions: te.Tensor, targets: te.Tensor,
    weights: te.Tensor | None, how: str, ignored: int, wide: DataType,
) -> te.Tensor:  # fmt: skip
    """Minus the share of each sample at its target class, 0 elsewhere; `how` says the reduction."""
    axis = 1 if predictions.ndim > 1 else 0
    scale = _tensor(grad)

    def counts(target: PrimExpr) -> PrimExpr:
        found: PrimExpr = te.element.not_equal(target, const(ignored, INT64))
        return found

    def share(at: Sequence[Any]) -> PrimExpr:
        target = targets[tuple(at)]
        own = const(1, wide) if weights is None else cast(weights[cast(target, INT64)], wide)
        return if_then_else(counts(target), own, const(0, wide))

    names = [f"ax{n}" for n in range(targets.ndim)]
    if how == "mean":
        given = scale
        axes = [te.reduce_axis((0, size), name=f"k{n}") for n, size in enumerate(targets.shape)]
        shares = te.compute(targets.shape, lambda *i: share(i), name="shares", varargs_names=names)
        total = shares
        if axes:
            total = te.compute((), lambda: te.sum(shares[tuple(axes)], axis=axes), name="total")
        scale = te.compute(
            (), lambda: prim.Div.make(cast(given[()], wide), total[()]), name="T_divide"
        )

    def update(*i: PrimExpr) -> PrimExpr:
        own = cast(scale[i if scale.ndim else ()], wide)
        found = te.element.negative(own) * share(i)
        return cast(if_then_else(counts(targets[i]), found, const(0, wide)), predictions.dtype)

    updates = te.compute(targets.shape, update, name="updates", varargs_names=names)

    def place(places: Sequence[Buffer], i: topi.scattering.Indices) -> topi.scattering.Indices:
        target = te.element.load(places[0], *i)
        chosen = if_then_else(counts(target), cast(target, INT64), const(0, INT64))
        return (*i[:axis], chosen, *i[axis:])

    nothing = te.element.zero(predictions.dtype)
    zeros = topi.tensor.filled(predictions.shape, predictions.dtype, nothing, "T_zeros")
    return topi.scattering.scatter(
        zeros, [targets], updates, targets.shape, place, lambda old, new: new, "nll_loss_backward"
    )

"""Losses, and what is done in training only. Source: TVM `relax.nn`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.errors import OperandError
from relaxscript.ir.relax import Expr, Tuple, TupleGetItem
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op.gradients import R, cast_like, count_along, known_rank, reshape_like
from relaxscript.op.numeric import quotient, sum_dtype
from relaxscript.op.pieces import pieces
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.decomposition import DecompositionContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import AnyOrder, InferLayoutOutput, LayoutContext, takes_packed
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Tensor, Tensors
from relaxscript.opdef.shapes import (
    Dims,
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

__all__ = ["cross_entropy_with_logits", "dropout", "nll_loss"]


@op("nn.dropout", traits={Trait.MIXED_FOLLOW})
def dropout(data: Tensor, rate: float = 0.5) -> Tensors:
    """A tuple of `data` and a mask of ones: outside of training nothing is dropped.

    `rate` is the share of elements that training drops, from 0 to below 1.
    """
    return data.copy(), np.ones_like(data)


@dropout.compute()
def _(context: ComputeContext, data: te.Tensor, rate: float = 0.5) -> tuple[te.Tensor, te.Tensor]:
    return topi.identity(data), topi.full_like(data, 1)


@dropout.infer_rule
def _(context: InferContext, data: TensorStructInfo, rate: float = 0.5) -> StructInfo:
    require_dtype("data", data.dtype, "number")
    return TupleStructInfo.make((data, data))


@dropout.layout_rule
@takes_packed
def _(context: LayoutContext, data: AnyOrder, rate: float) -> InferLayoutOutput:
    return InferLayoutOutput((data,), (data, data))


@dropout.attribute_rule
def _(rate: float) -> None:
    if not 0 <= rate < 1:
        raise OperandError(
            "rate", f"is {rate}", message="a rate is from 0 to below 1", code="RX0204"
        )


@dropout.rule("decompose")
def _(context: DecompositionContext, data: Expr, rate: float) -> Expr | None:
    if context.training or not context.may_share:
        return None
    return Tuple.make((data, context.emit(R.ones_like(data))))


@dropout.gradient
def _(context: GradientContext, data: Expr, rate: float) -> Gradients:
    return (context.field(0) * TupleGetItem.make(context.out, 1),)


def _rank(info: TensorStructInfo, dims: Dims | None) -> int:
    return info.ndim if dims is None else len(dims)


@op("nn.cross_entropy_with_logits")
def cross_entropy_with_logits(predictions: Tensor, labels: Tensor) -> Tensor:
    """Minus the sum of `predictions * labels`, divided by the number of rows where there are rows.

    Both have one shape, of rank 1 or 2, and `predictions` are logarithms of probabilities.
    """
    wide = sum_dtype(predictions.dtype)
    parts = [
        np.sum(predictions[piece].astype(wide) * labels[piece].astype(wide))
        for piece in pieces(predictions.shape)
    ]
    total = np.sum(np.asarray(parts, wide))
    rows = len(predictions) if predictions.ndim > 1 else 1
    return np.asarray(quotient(-total, rows)).astype(predictions.dtype)


@cross_entropy_with_logits.infer_rule
def _(context: InferContext, predictions: TensorStructInfo, labels: TensorStructInfo) -> StructInfo:
    operands = {"predictions": predictions, "labels": labels}
    dtype, vdevice = common_dtype(operands), common_vdevice(operands)
    require_dtype("predictions", predictions.dtype, "number")
    dims, other = dims_of(predictions), dims_of(labels)
    for name, info in operands.items():
        if _rank(info, dims_of(info)) not in (-1, 1, 2):
            message = "probabilities have one row or a row for each sample"
            raise OperandError(name, shape_fact(info, dims_of(info)), message=message)
    if dims is not None and other is not None:
        _require_alike(context, "labels", other, "predictions", dims)
    return tensor_of((), dtype, vdevice)


@cross_entropy_with_logits.compute(sums=4)
def _(context: ComputeContext, predictions: Any, labels: Any) -> Any:
    return topi.nn.cross_entropy_with_logits(predictions, labels)


def _require_alike(context: InferContext, name: str, dims: Dims, other: str, wanted: Dims) -> None:
    error = OperandError(
        name,
        f"has shape ({', '.join(map(dim_text, dims))})",
        also={other: f"has shape ({', '.join(map(dim_text, wanted))})"},
    )
    if len(dims) != len(wanted):
        raise error
    for axis, (a, b) in enumerate(zip(wanted, dims)):
        if not same_dim(a, b):
            text = f"`{name}` has {dim_text(b)} elements along axis {axis}, not {dim_text(a)}"
            require_equal(context, a, b, error, text)


@cross_entropy_with_logits.gradient
def _(context: GradientContext, predictions: Expr, labels: Expr) -> Gradients:
    has_rows = known_rank("predictions", predictions) == 2
    each = -context.grad / count_along(predictions, (0,) if has_rows else ())
    return labels * each, predictions * each


_REDUCTIONS = ("none", "mean", "sum")


@op("nn.nll_loss", alike=("predictions", "weights"))
def nll_loss(
    predictions: Tensor,
    targets: Tensor,
    weights: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Tensor:
    """Minus the prediction for the target class of each sample, times the weight of that class.

    `predictions` has the shape (N, C, d1, ...), `targets` (N, d1, ...), or (C,) and (). Targets
    that are `ignore_index` count nothing. `reduction` gives their "sum", their "mean" (divided by
    the weights), or "none". Raises `IndexError` for a class that there is not.
    """
    axis = 1 if predictions.ndim > 1 else 0
    wide = sum_dtype(predictions.dtype)
    classes = predictions.shape[axis]
    counted = targets != ignore_index
    places = np.where(counted, targets, 0)
    if places.size and not (places.min() >= 0 and places.max() < classes):
        raise IndexError(f"a target is not among the {classes} classes")
    result = np.empty(targets.shape if reduction == "none" else 0, predictions.dtype)
    totals: list[tuple[Any, Any]] = []
    for piece in pieces(targets.shape):
        chosen, counts = places[piece], counted[piece]
        rows = predictions[(*piece[:axis], slice(None), *piece[axis:])]
        picked = np.take_along_axis(rows, np.expand_dims(chosen, axis), axis).squeeze(axis)
        each = wide.type(1) if weights is None else weights[chosen].astype(wide)
        weight = np.where(counts, each, 0)
        losses = np.where(counts, -picked.astype(wide) * weight, 0)
        if reduction == "none":
            result[piece] = losses.astype(result.dtype)
        totals.append((losses.sum(), weight.sum()))
    if reduction == "none":
        return result
    total, divisor = np.sum(np.asarray(totals, wide).reshape(-1, 2), axis=0)
    return np.asarray(total if reduction == "sum" else quotient(total, divisor)).astype(
        result.dtype
    )


@nll_loss.infer_rule
def _(
    context: InferContext,
    predictions: TensorStructInfo,
    targets: TensorStructInfo,
    weights: TensorStructInfo | None = None,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> StructInfo:
    floats = {"predictions": predictions} | ({} if weights is None else {"weights": weights})
    dtype = common_dtype(floats)
    require_dtype("predictions", predictions.dtype, "number")
    require_dtype("targets", targets.dtype, "integer")
    vdevice = common_vdevice({**floats, "targets": targets})
    dims, places = dims_of(predictions), dims_of(targets)
    rank, own = _rank(predictions, dims), _rank(targets, places)
    if rank == 0:
        raise OperandError("predictions", "has rank 0", message="there is an axis of classes")
    wanted = max(rank - 1, 0)
    if rank >= 0 and own not in (-1, wanted):
        fact, also = shape_fact(targets, places), {"predictions": shape_fact(predictions, dims)}
        raise OperandError("targets", fact, also=also, help=f"it must have rank {wanted}")
    if dims is not None:
        classes = dims[1] if len(dims) > 1 else dims[0]
        samples = (dims[0], *dims[2:]) if len(dims) > 1 else ()
        if places is not None:
            _require_alike(context, "targets", places, "predictions", samples)
        if weights is not None and (known := dims_of(weights)) is not None:
            _require_alike(context, "weights", known, "predictions", (classes,))
    if reduction != "none":
        return tensor_of((), dtype, vdevice)
    if own < 0:
        own = -1 if rank < 0 else wanted
    return tensor_of(places, dtype, vdevice, own)


def _nll_terms(predictions: Any, targets: Any, weights: Any = None, **options: Any) -> Any:
    """The size of the sum; a mean of weights of both signs may be of any size."""
    return nll_loss.meaning(np.abs(predictions), targets, weights, **options)


@nll_loss.compute(ulp=4, sums=4, terms=_nll_terms)
def _(
    context: ComputeContext, predictions: Any, targets: Any, weights: Any, reduction: str,
    ignore_index: int,
) -> Any:  # fmt: skip
    return topi.nn.nll_loss(predictions, targets, weights, reduction, ignore_index)


@nll_loss.attribute_rule
def _(reduction: str, ignore_index: int) -> None:
    if reduction not in _REDUCTIONS:
        listed = ", ".join(f'"{name}"' for name in _REDUCTIONS)
        raise OperandError(
            "reduction", f"is {reduction!r}", message=f"it is one of {listed}", code="RX0204"
        )


@nll_loss.gradient
def _(
    context: GradientContext, predictions: Expr, targets: Expr, weights: Expr | None,
    reduction: str, ignore_index: int,
) -> Gradients:  # fmt: skip
    axis = 1 if known_rank("predictions", predictions) > 1 else 0
    counted = R.not_equal(targets, ignore_index)
    places = R.where(counted, targets, 0)
    class_of = R.expand_dims(places, axis)
    ones = cast_like(R.ones_like(targets), predictions)
    chosen = ones
    if weights is not None:
        chosen = reshape_like(R.take(weights, R.flatten(places), 0), targets)
    weight = R.where(counted, chosen, 0.0)
    grad, further = context.grad, None
    if reduction == "mean":
        grad = grad / R.sum(weight)
        further = grad * context.out  # the weights are in the divisor, too
    by_loss = -grad * weight if reduction == "none" else weight * -grad
    zeros = R.zeros_like(predictions)
    by_predictions = R.scatter_elements(zeros, class_of, R.expand_dims(by_loss, axis), axis, "add")
    if weights is None:
        return by_predictions, None, None
    picked = R.squeeze(R.gather_elements(predictions, class_of, axis), axis)
    by_weight = picked * -grad if further is None else picked * -grad - further
    each = R.flatten(R.where(counted, by_weight, 0.0))
    by_weights = R.index_put(R.zeros_like(weights), [R.flatten(places)], each, True)
    return by_predictions, None, by_weights

"""Losses of predicted classes. Source: TVM `topi.nn.nll_loss`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.prim import INT64, PrimExpr, cast, const
from relaxscript.ir.scalar_functions import if_then_else
from relaxscript.te import element as elements, reduction as rules
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.moments import quotient, tensor_of
from relaxscript.te.topi.operands import require_dims, require_dtype, topi_function
from relaxscript.te.topi.reduction import accumulator, reduced, rounded

__all__ = ["cross_entropy_with_logits", "nll_loss"]


REDUCTIONS = ("none", "mean", "sum")


def _sum_dtype(dtype: DataType) -> DataType:
    """The dtype in which losses are added up: of integers that of 64 bits."""
    if dtype.is_float:
        return accumulator(dtype)
    return DataType("uint64" if dtype.kind == "uint" else "int64")


def _total(dims: Sequence[PrimExpr], element: Any, name: str) -> Tensor:
    """The sum of all elements of a shape."""
    axes = range(len(dims))
    made: Tensor = reduced(
        dims, axes, False, lambda at, over: rules.sum(element(at), axis=over), name
    )
    return made


@topi_function
def cross_entropy_with_logits(predictions: Tensor, labels: Tensor) -> Tensor:
    """Minus the sum of `predictions * labels`, divided by the number of rows where there are rows.

    `predictions` are logarithms of probabilities.
    """
    callee = "topi.nn.cross_entropy_with_logits"
    require_dtype(callee, "predictions", predictions.dtype, "number")
    require_dims(callee, "labels", labels, predictions.shape, "predictions")
    wide = _sum_dtype(predictions.dtype)

    def product(at: Sequence[PrimExpr]) -> PrimExpr:
        return cast(predictions[tuple(at)], wide) * cast(labels[tuple(at)], wide)

    total = _total(predictions.shape, product, f"{predictions.op.name}_red")
    rows = predictions.shape[0] if predictions.ndim > 1 else const(1, "int64")

    def loss(at: Sequence[PrimExpr]) -> PrimExpr:
        return cast(quotient(elements.negative(total[()]), cast(rows, wide)), predictions.dtype)

    return tensor_of((), loss, "T_cross_entropy")


def _require_classes(
    predictions: Tensor, targets: Tensor, weights: Tensor | None, reduction: str
) -> None:
    callee, dims = "topi.nn.nll_loss", predictions.shape
    require_dtype(callee, "predictions", predictions.dtype, "number")
    require_dtype(callee, "targets", targets.dtype, "integer")
    if not dims:
        raise OperandError(
            "predictions", "has rank 0", code="RX0203",
            message=f"`{callee}` takes predictions along an axis of classes",
        )  # fmt: skip
    samples, classes = ((dims[0], *dims[2:]), dims[1]) if len(dims) > 1 else ((), dims[0])
    require_dims(callee, "targets", targets, samples, "predictions")
    if weights is not None:
        require_dims(callee, "weights", weights, [classes], "predictions")
    if reduction not in REDUCTIONS:
        raise OperandError(
            "reduction", f"is {reduction!r}", code="RX0204",
            message='the reduction of `topi.nn.nll_loss` is "none", "mean" or "sum"',
        )  # fmt: skip


@topi_function
def nll_loss(
    predictions: Tensor, targets: Tensor, weights: Tensor | None, reduction: str, ignore_index: int
) -> Tensor:
    """Minus the prediction for the target class of each sample, times the weight of that class.

    `predictions` has the shape (N, C, d1, ...), `targets` (N, d1, ...), or (C,) and (). Targets
    that are `ignore_index` count nothing. `reduction` gives their "sum", their "mean" (divided by
    the weights), or "none".
    """
    _require_classes(predictions, targets, weights, reduction)
    wide, axis = _sum_dtype(predictions.dtype), 1 if predictions.ndim > 1 else 0

    def counted(at: Sequence[PrimExpr], value: Any) -> PrimExpr:
        target = targets[tuple(at)]
        counts = elements.not_equal(target, const(ignore_index, "int64"))
        unsigned = target.dtype.kind == "uint" and target.dtype.bits == 64
        return if_then_else(
            counts, value(target if unsigned else cast(target, INT64)), const(0, wide)
        )

    def weight(target: PrimExpr) -> PrimExpr:
        return const(1, wide) if weights is None else cast(weights[target], wide)

    def loss(at: Sequence[PrimExpr]) -> PrimExpr:
        def of(target: PrimExpr) -> PrimExpr:
            picked = predictions[(*at[:axis], target, *at[axis:])]
            return elements.negative(cast(picked, wide)) * weight(target)

        return counted(at, of)

    if reduction == "none":
        return tensor_of(targets.shape, lambda at: cast(loss(at), predictions.dtype), "T_nll")
    total = _total(targets.shape, loss, "T_nll_red")
    if reduction == "sum":
        return rounded(total, predictions.dtype)
    divisor = _total(targets.shape, lambda at: counted(at, weight), "T_weight_red")
    return tensor_of(
        (), lambda at: cast(quotient(total[()], divisor[()]), predictions.dtype), "T_divide"
    )

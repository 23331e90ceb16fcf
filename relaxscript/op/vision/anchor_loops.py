"""Boxes from what a network says of anchors, as tensor expressions; all is in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS, if_then_else
from relaxscript.opdef.tensor_expressions import te

__all__ = ["boxes_of", "scores_of"]

_FLOAT64 = DataType("float64")


def boxes_of(
    moves: te.Tensor, anchor: te.Tensor, shape: Sequence[PrimExpr], dtype: DataType, clip: bool,
    variances: Sequence[float],
) -> Any:  # fmt: skip
    """The boxes as top, left, bottom and right."""

    def element(sample: PrimExpr, place: PrimExpr, side: PrimExpr) -> PrimExpr:
        is_row = prim.EQ(side % 2, prim.const(0, side.dtype))
        axis = te.element.select(is_row, prim.const(1, side.dtype), prim.const(0, side.dtype))
        first = prim.const(0, anchor.shape[0].dtype)
        low, high = (prim.cast(anchor[first, place, axis + k], _FLOAT64) for k in (0, 2))
        move, grow = (
            prim.cast(moves[sample, place * 4 + axis + k], _FLOAT64)
            * te.element.select(is_row, prim.const(variances[k + 1], _FLOAT64), variances[k])
            for k in (0, 2)
        )
        size = high - low
        center = move * size + (low + high) * 0.5
        half = FUNCTIONS["exp"](grow) * 0.5 * size
        found = te.element.select(side < 2, center - half, center + half)
        if clip:
            found = prim.Min(prim.Max(found, prim.const(0, _FLOAT64)), prim.const(1, _FLOAT64))
        return prim.cast(found, dtype)

    return te.compute(shape, element, name="boxes")


def scores_of(logits: te.Tensor, threshold: float, keep_background: bool) -> Any:
    """The softmax over the classes, 0 for what is below a threshold."""
    samples, classes, count = logits.shape
    c = te.reduce_axis((0, classes), name="k")
    most = te.compute(
        (samples, count),
        lambda s, a: te.max(prim.cast(logits[s, c, a], _FLOAT64), axis=c),
        name="T_softmax_maxelem",
    )
    powers = te.compute(
        logits.shape,
        lambda s, k, a: FUNCTIONS["exp"](prim.cast(logits[s, k, a], _FLOAT64) - most[s, a]),
        name="T_softmax_exp",
    )
    d = te.reduce_axis((0, classes), name="k")
    total = te.compute(
        (samples, count),
        lambda s, a: te.sum(powers[s, d, a], axis=d),
        name="T_softmax_expsum",
    )
    shares = te.compute(
        logits.shape,
        lambda s, k, a: prim.cast(prim.Div.make(powers[s, k, a], total[s, a]), logits.dtype),
        name="T_softmax_norm",
    )
    nothing = prim.const(0, logits.dtype)

    def element(s: PrimExpr, k: PrimExpr, a: PrimExpr) -> PrimExpr:
        share = shares[s, k, a]
        below: PrimExpr = prim.LT(prim.cast(share, _FLOAT64), prim.const(threshold, _FLOAT64))
        if not keep_background:
            below = prim.Or(below, prim.EQ(k, prim.const(0, k.dtype)))
        return if_then_else(below, nothing, share)

    return te.compute(logits.shape, element, name="scores")

"""Attention as tensor expressions: a tensor for each step, over batches, heads and queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.opdef.tensor_expressions import te, topi

__all__ = ["attend"]

_FLOAT64 = DataType("float64")
_AXES = ("b", "h", "i", "j")


def attend(
    query: te.Tensor, key: te.Tensor, value: te.Tensor, bias: te.Tensor | None, scale: float | None,
    causal_mask: str | None, window_size: int | None, shape: Sequence[PrimExpr], dtype: DataType,
) -> Any:  # fmt: skip
    """The weighted values, a tensor of `shape`; everything is computed in `dtype`."""
    batch, queries, heads, features = query.shape
    keys = key.shape[1]
    f = te.reduce_axis((0, features), name="k")
    scores = te.compute(
        (batch, heads, queries, keys),
        lambda b, h, i, j: te.sum(
            prim.cast(query[b, i, h, f], dtype) * prim.cast(key[b, j, h, f], dtype), axis=f
        ),
        name="T_batch_matmul_NT",
    )
    factor = _scale(scale, features, dtype)

    def shown(*at: PrimExpr) -> PrimExpr:
        found: PrimExpr = scores[at] * factor
        if bias is not None:
            places = (
                topi.broadcast.repeated(i, n, m) for i, n, m in zip(at, bias.shape, scores.shape)
            )
            found = found + prim.cast(bias[tuple(places)], dtype)
        if causal_mask is None:
            return found
        last = at[2] + (keys - queries) if causal_mask == "BottomRight" else at[2]
        seen: PrimExpr = prim.LE(at[3], last)
        if window_size is not None:
            seen = prim.And(seen, prim.GT(at[3], last - window_size))
        return te.element.select(seen, found, prim.const(-np.inf, dtype))

    shown_scores = te.compute(
        scores.shape, shown, name="T_attention_scores", tag=topi.tag.ELEMWISE, varargs_names=_AXES
    )
    weights = _weights(shown_scores)
    j = te.reduce_axis((0, keys), name="k")
    return te.compute(
        shape,
        lambda b, i, h, f: te.sum(
            weights[b, h, i, j] * prim.cast(value[b, j, h, f], dtype), axis=j
        ),
        name="T_batch_matmul_NN",
    )


def _scale(scale: float | None, features: PrimExpr, dtype: DataType) -> PrimExpr:
    """The factor of scores: 1 divided by the square root of the number of features."""
    if scale is not None:
        return prim.const(scale, dtype)
    if isinstance(features, IntImm):
        return prim.const(1 / math.sqrt(max(features.value, 1)), dtype)
    number = prim.cast(prim.Max(features, prim.const(1, features.dtype)), _FLOAT64)
    return prim.cast(prim.const(1, _FLOAT64) / FUNCTIONS["sqrt"](number), dtype)


def _weights(scores: te.Tensor) -> Any:
    """The softmax along the last axis; where every score is minus infinity it is 0."""
    *rows, keys = scores.shape
    nothing, lowest = prim.const(0, scores.dtype), prim.const(-np.inf, scores.dtype)
    j = te.reduce_axis((0, keys), name="k")
    top = te.compute(
        rows, lambda b, h, i: te.max(scores[b, h, i, j], axis=j), name="T_softmax_maxelem"
    )

    def power(b: PrimExpr, h: PrimExpr, i: PrimExpr, j: PrimExpr) -> PrimExpr:
        largest = top[b, h, i]
        found: PrimExpr = FUNCTIONS["exp"](
            scores[b, h, i, j] - te.element.select(prim.EQ(largest, lowest), nothing, largest)
        )
        return found

    powers = te.compute(scores.shape, power, name="T_softmax_exp", tag=topi.tag.ELEMWISE)
    k = te.reduce_axis((0, keys), name="k")
    total = te.compute(
        rows, lambda b, h, i: te.sum(powers[b, h, i, k], axis=k), name="T_softmax_expsum"
    )

    def share(b: PrimExpr, h: PrimExpr, i: PrimExpr, j: PrimExpr) -> PrimExpr:
        whole = total[b, h, i]
        one = prim.const(1, scores.dtype)
        return prim.Div.make(
            powers[b, h, i, j], te.element.select(prim.EQ(whole, nothing), one, whole)
        )

    return te.compute(scores.shape, share, name="T_softmax_norm", tag=topi.tag.ELEMWISE)

"""Attention: values weighted by how well keys answer queries. Source: TVM `relax.nn.attention`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import (
    R,
    cast_like,
    collapse_like,
    count_along,
    dtype_of,
    known_dims,
    length_of,
    numbers_below,
)
from relaxscript.op.numeric import product_dtype
from relaxscript.opdef.composite import composite_op
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.mixed_precision import in_dtype_of_operands
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Tensor
from relaxscript.opdef.shapes import (
    Dims,
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    require_spread,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

from .attention_loops import attend
from .normalization_gradients import widened

__all__ = ["attention", "attention_bias"]

_MASKS = (None, "TopLeft", "BottomRight")


@op(
    "nn.attention",
    order=("query", "key", "value", "bias"),
    traits={Trait.MIXED_ALWAYS},
)
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Tensor:
    """`softmax(query @ key * scale + bias) @ value`, for each sample and head.

    The operands have the axes batch, sequence, heads, and features of a head; `bias` is spread to
    batch, heads, queries, keys. Without `scale` it is 1 divided by the square root of the number of
    features. A `causal_mask` hides keys that come after a query: "TopLeft" counts both from the
    start, "BottomRight" from the end. Of the others `window_size` leaves the last so many. Floats
    of 16 bits or fewer are computed in float32 and rounded once, others in their own dtype.
    """
    inner = product_dtype(query.dtype)
    q, k, v = (x.astype(inner, copy=False).transpose(0, 2, 1, 3) for x in (query, key, value))
    scores = q @ k.transpose(0, 1, 3, 2)
    scores *= 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else scale
    if bias is not None:
        scores += bias.astype(inner, copy=False)
    if causal_mask is not None:
        hidden = ~_visible(q.shape[2], k.shape[2], causal_mask, window_size)
        np.copyto(scores, -np.inf, where=hidden)
    top = np.maximum.reduce(scores, axis=-1, keepdims=True, initial=-np.inf)
    scores -= np.where(np.isneginf(top), 0, top)
    weights = np.exp(scores, out=scores)
    total = np.add.reduce(weights, axis=-1, keepdims=True)
    weights /= np.where(total == 0, 1, total)
    found: Tensor = (weights @ v).transpose(0, 2, 1, 3).astype(query.dtype)
    return found


@composite_op("nn.attention_bias")
def attention_bias(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Expr:
    """`R.nn.attention` with a bias."""
    return attention.build((query, key, value, bias, scale, causal_mask, window_size))


def _visible(queries: int, keys: int, mask: str, window: int | None) -> Any:
    """The keys that each query sees, as bools."""
    shift = keys - queries if mask == "BottomRight" else 0
    last = np.arange(queries)[:, None] + shift
    place = np.arange(keys)
    seen = place <= last
    return seen if window is None else seen & (place > last - window)


attention.mixed_precision_rule(in_dtype_of_operands)


def _terms(query: Any, key: Any, value: Any, *others: Any, **attributes: Any) -> Any:
    """The sizes of what is added up: weighted values without their signs."""
    return attention.meaning(query, key, np.abs(value), *others, **attributes)


@attention.compute(ulp=4, sums=16, terms=_terms)
def _(
    context: ComputeContext,
    query: te.Tensor,
    key: te.Tensor,
    value: te.Tensor,
    bias: te.Tensor | None = None,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> te.Tensor:
    inner = DataType(product_dtype(query.dtype.numpy))
    made = attend(query, key, value, bias, scale, causal_mask, window_size, context.shape, inner)
    return topi.linear_algebra.rounded(made, context.dtype)


@attention.infer_rule
def _(
    context: InferContext,
    query: TensorStructInfo,
    key: TensorStructInfo,
    value: TensorStructInfo,
    bias: TensorStructInfo | None = None,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> StructInfo:
    operands = {"query": query, "key": key, "value": value}
    if bias is not None:
        operands["bias"] = bias
    dtype, vdevice = common_dtype(operands), common_vdevice(operands)
    require_dtype("query", query.dtype, "float")
    shapes = {name: _four(name, info) for name, info in operands.items()}
    q, k, v = shapes["query"], shapes["key"], shapes["value"]
    for name, dims, axes in (("key", k, (0, 2, 3)), ("value", v, (0, 2))):
        _require_axes(context, name, dims, "query", q, axes)
    _require_axes(context, "value", v, "key", k, (1,))
    if q is None or k is None or v is None:
        return tensor_of(None, dtype, vdevice, 4)
    if bias is not None and shapes["bias"] is not None:
        _require_bias(context, shapes["bias"], (q[0], q[2], q[1], k[1]))
    return tensor_of((*q[:3], v[3]), dtype, vdevice)


@attention.attribute_rule
def _(causal_mask: str | None, window_size: int | None, **others: Any) -> None:
    mask, window = causal_mask, window_size
    if mask not in _MASKS:
        message = 'the mask is "TopLeft", "BottomRight" or None'
        raise OperandError("causal_mask", f"is {mask!r}", message=message, code="RX0204")
    if window is not None and (mask is None or window < 1):
        message = "a window has at least one key, and needs a causal mask"
        raise OperandError("window_size", f"is {window}", message=message, code="RX0204")


def _four(name: str, info: TensorStructInfo) -> Dims | None:
    dims = dims_of(info)
    if (info.ndim if dims is None else len(dims)) not in (-1, 4):
        message = "attention takes batch, sequence, heads and features"
        raise OperandError(name, shape_fact(info, dims), message=message)
    return dims


def _require_axes(
    context: InferContext, name: str, dims: Dims | None, other: str, wanted: Dims | None, axes: Any
) -> None:
    if dims is None or wanted is None:
        return
    for axis in axes:
        a, b = wanted[axis], dims[axis]
        if not same_dim(a, b):
            fact = f"has {dim_text(b)} elements along axis {axis}"
            error = OperandError(name, fact, also={other: f"has {dim_text(a)} there"})
            text = f"`{name}` has {dim_text(b)} elements along axis {axis}, not {dim_text(a)}"
            require_equal(context, a, b, error, text)


def _require_bias(context: InferContext, dims: Dims, wanted: Dims) -> None:
    for axis, (own, dim) in enumerate(zip(dims, wanted)):
        what = ("batches", "heads", "queries", "keys")[axis]
        fact = f"has {dim_text(own)} elements along axis {axis}"
        also = {"query" if axis < 3 else "key": f"has {dim_text(dim)} {what}"}
        require_spread(context, own, dim, OperandError("bias", fact, also=also))


# ---------------------------------------------------------------- gradients


@attention.gradient
def _(
    context: GradientContext, query: Expr, key: Expr, value: Expr, bias: Expr | None,
    scale: float | None, causal_mask: str | None, window_size: int | None,
) -> Gradients:  # fmt: skip
    heads_first = [0, 2, 1, 3]
    operands = (context.grad, query, key, value)
    grad, q, k, v = (R.permute_dims(widened(x), heads_first) for x in operands)
    factor = _scale(q) if scale is None else scale
    scores = R.matmul(q, R.permute_dims(k, [0, 1, 3, 2])) * factor
    if bias is not None:
        scores = scores + widened(bias)
    seen = None
    if causal_mask is not None:
        seen = _seen(query, key, causal_mask, window_size)
    weights = _weights(scores, seen)
    by_weights = R.matmul(grad, R.permute_dims(v, [0, 1, 3, 2]))
    each = weights * by_weights
    by_scores = each - weights * R.sum(each, -1, True)
    scaled = by_scores * factor
    found = (
        R.matmul(scaled, k),
        R.matmul(R.permute_dims(scaled, [0, 1, 3, 2]), q),
        R.matmul(R.permute_dims(weights, [0, 1, 3, 2]), grad),
    )
    back = [cast_like(R.permute_dims(g, heads_first), x) for g, x in zip(found, operands[1:])]
    return *back, None if bias is None else cast_like(collapse_like(by_scores, bias), bias)


def _scale(q: Expr) -> Any:
    """1 divided by the square root of the number of features of a head."""
    count = count_along(q, (3,))
    return 1 / math.sqrt(max(count, 1)) if isinstance(count, float) else R.rsqrt(count)


def _weights(scores: Expr, seen: Expr | None) -> Expr:
    """The softmax of the scores that count; 0 for those that are hidden, in rows of them, too."""
    weights: Expr = R.nn.softmax(scores)
    if seen is not None:
        least = float(np.finfo(dtype_of(scores).numpy).min)
        weights = R.where(seen, R.nn.softmax(R.where(seen, scores, least)), 0.0)
    return weights


def _seen(query: Expr, key: Expr, mask: str, window: int | None) -> Expr:
    """The keys that each query sees: (queries, keys)."""
    queries, keys = known_dims("query", query)[1], known_dims("key", key)[1]
    last, place = R.expand_dims(numbers_below(queries), 1), numbers_below(keys)
    if mask == "BottomRight":
        last = last + (length_of(keys) - length_of(queries))
    seen: Expr = R.less_equal(place, last)
    return seen if window is None else R.logical_and(seen, R.greater(place, last - window))

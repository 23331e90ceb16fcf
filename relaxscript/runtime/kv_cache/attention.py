"""Attention over keys and values that lie one after the other, in numpy.

Queries are in groups: `num_qo_heads` is a multiple of `num_kv_heads`, and each head of keys and
values serves that many heads of queries. What is narrower than float32 is computed in float32.
Callers see to it that numpy does not warn of logarithms of 0 and the like.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.errors.exceptions import is_user_error

__all__ = ["attend", "attend_one", "merge_in_place", "working_dtype"]

__tracebackhide__ = is_user_error

Array = np.ndarray[Any, Any]

_BLOCK = 1 << 22  # scores that are in memory at once
_LOG2_E = float(np.log2(np.e))
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which attention on elements of `dtype` is computed."""
    return _DOUBLE if dtype == _DOUBLE else _SINGLE


def attend_one(query: Array, keys: Array, values: Array, scale: float, out: Array) -> None:
    """The attention of one token's heads `(heads, dim)` to all keys; the result goes to `out`."""
    heads, dim = query.shape
    groups = keys.shape[1]
    scores = np.matmul(
        (query * scale).reshape(groups, heads // groups, dim), keys.transpose(1, 2, 0)
    )
    np.subtract(scores, np.maximum.reduce(scores, -1, keepdims=True), scores)
    np.exp(scores, scores)
    weighted = np.matmul(scores, values.transpose(1, 0, 2))
    np.divide(weighted, np.add.reduce(scores, -1, keepdims=True), weighted)
    out[...] = weighted.reshape(heads, -1)


def attend(
    queries: Array,
    keys: Array,
    values: Array,
    scale: float,
    out: Array,
    lse: Array | None = None,
    hidden: Any = None,
) -> None:
    """The attention of `(tokens, heads, dim)` queries to keys of `(length, groups, dim)`.

    `hidden(first, last)` is a mask of the keys that queries `first` to `last` do not see, or None.
    The result goes to `out`. Where it is wanted `lse` gets the logarithm of the sum of
    exponentials, to base 2. A query that sees no key gives 0 and -inf.
    """
    tokens, heads, dim = queries.shape
    length, groups = keys.shape[:2]
    if length == 0:
        out[...] = 0
        if lse is not None:
            lse[...] = -np.inf
        return
    work = working_dtype(queries.dtype)
    columns, rows = keys.transpose(1, 2, 0), values.transpose(1, 0, 2)
    step = max(1, _BLOCK // (heads * length))
    for first in range(0, tokens, step):
        last = min(first + step, tokens)
        taken = last - first
        block = queries[first:last].astype(work).reshape(taken, groups, heads // groups, dim)
        block *= scale
        grouped = block.transpose(1, 2, 0, 3).reshape(groups, -1, dim)
        scores = np.matmul(grouped, columns).reshape(groups, heads // groups, taken, length)
        mask = None if hidden is None else hidden(first, last)
        if mask is not None:
            np.copyto(scores, -np.inf, where=mask)
        top = scores.max(axis=-1, keepdims=True)
        np.maximum(top, np.finfo(work).min, out=top)  # of a query that sees no key
        scores -= top
        np.exp(scores, out=scores)
        total = scores.sum(axis=-1, keepdims=True)
        weighted = np.matmul(scores.reshape(groups, -1, length), rows)
        weighted = weighted.reshape(groups, heads // groups, taken, -1)
        weighted /= np.where(total == 0, 1, total)
        out[first:last] = weighted.transpose(2, 0, 1, 3).reshape(taken, heads, -1)
        if lse is not None:
            sums = (np.log(total) + top)[..., 0] * _LOG2_E
            lse[first:last] = sums.transpose(2, 0, 1).reshape(taken, heads)


def merge_in_place(out: Array, lse: Array, other: Array, other_lse: Array) -> None:
    """The attention to two sets of keys, of the attention to each; `out` and `lse` get it."""
    top = np.maximum(lse, other_lse)
    np.maximum(top, np.finfo(top.dtype).min, out=top)
    mine, others = np.exp2(lse - top), np.exp2(other_lse - top)
    total = mine + others
    share = np.where(total == 0, 1, total)
    out[...] = out * (mine / share)[..., None] + other * (others / share)[..., None]
    lse[...] = np.log2(total) + top

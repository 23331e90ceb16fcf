"""Attention over sequences of several lengths. Source: TVM `relax.nn.attention_var_len`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.errors import OperandError
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.mixed_precision import in_dtype_of_operands
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Scalar, Tensor
from relaxscript.opdef.shapes import (
    common_dtype,
    common_vdevice,
    dims_of,
    number,
    require_dtype,
    require_equal,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.traits import Trait

from .scaled_dot_product import attention

__all__ = ["attention_var_len"]


@op(
    "nn.attention_var_len",
    traits={Trait.MIXED_ALWAYS},
    alike=(),
    order=(
        "queries", "keys", "values", "seqstart_q", "max_seqlen_q", "seqstart_k", "max_seqlen_k",
    ),
)  # fmt: skip
def attention_var_len(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    seqstart_q: Tensor,
    max_seqlen_q: Scalar,
    seqstart_k: Tensor | None = None,
    max_seqlen_k: Tensor | None = None,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Tensor:
    """`R.nn.attention` for each of several sequences, which come one behind the other.

    `queries`, `keys` and `values` have the axes 1, tokens of all sequences, heads, and features of
    a head. `seqstart_q` says where the queries of each sequence begin, and where those of the last
    end; `seqstart_k` the same of keys and values, where it is not the same. `max_seqlen_q` and
    `max_seqlen_k` are the length of the longest sequence, which only implementations that prepare
    memory need. The result is 0 for tokens of no sequence.

    Raises `ValueError` for sequences that are not in order. The lengths are data, so that there is
    no compute.
    """
    starts = _starts(seqstart_q, queries.shape[1])
    others = starts if seqstart_k is None else _starts(seqstart_k, keys.shape[1])
    result = np.zeros((*queries.shape[:3], values.shape[3]), queries.dtype)
    attend: Any = attention.function
    for first, last, k_first, k_last in zip(starts, starts[1:], others, others[1:]):
        own, theirs = slice(first, last), slice(k_first, k_last)
        result[:, own] = attend(
            queries[:, own], keys[:, theirs], values[:, theirs], None, scale, causal_mask,
            window_size,
        )  # fmt: skip
    return result


def _starts(places: Any, count: int) -> list[int]:
    found: list[int] = places.tolist()
    if found and (found != sorted(found) or found[0] < 0 or found[-1] > count):
        raise ValueError(f"sequences begin in order and among {count} tokens, not at {found}")
    return found


attention_var_len.mixed_precision_rule(in_dtype_of_operands)
attention_var_len.attribute_rule(attention.rules["attributes"])


@attention_var_len.infer_rule
def _(
    context: InferContext,
    queries: TensorStructInfo,
    keys: TensorStructInfo,
    values: TensorStructInfo,
    seqstart_q: TensorStructInfo,
    max_seqlen_q: TensorStructInfo,
    seqstart_k: TensorStructInfo | None,
    max_seqlen_k: TensorStructInfo | None,
    **attributes: Any,
) -> StructInfo:
    lengths = {
        "seqstart_q": seqstart_q, "max_seqlen_q": max_seqlen_q, "seqstart_k": seqstart_k,
        "max_seqlen_k": max_seqlen_k,
    }  # fmt: skip
    given = {name: info for name, info in lengths.items() if info is not None}
    for name, info in given.items():
        require_dtype(name, info.dtype, "integer")
        _require_rank(name, info)
    device = common_vdevice({"queries": queries, "keys": keys, "values": values, **given})
    if seqstart_k is not None:
        _require_axis(context, "seqstart_k", seqstart_k, 0, "seqstart_q", seqstart_q)
    operands = {"queries": queries, "keys": keys, "values": values}
    dtype = common_dtype(operands)
    for name, info in operands.items():
        require_dtype(name, info.dtype, "float")
        _require_tokens(context, name, info)
    for name, info, axes in (("keys", keys, (2, 3)), ("values", values, (2,))):
        for axis in axes:
            _require_axis(context, name, info, axis, "queries", queries)
    _require_axis(context, "values", values, 1, "keys", keys)
    if seqstart_k is None:
        _require_axis(context, "keys", keys, 1, "queries", queries)
    q, v = dims_of(queries), dims_of(values)
    dims = None if q is None or v is None else (*q[:3], v[3])
    return tensor_of(dims, dtype, device, 4)


def _require_rank(name: str, info: TensorStructInfo) -> None:
    dims = dims_of(info)
    starts = name.startswith("seqstart")
    if (info.ndim if dims is None else len(dims)) not in ((-1, 1) if starts else (-1, 0, 1)):
        wanted = "a row of places" if starts else "one number"
        raise OperandError(name, shape_fact(info, dims), message=f"`{name}` is {wanted}")


def _require_tokens(context: InferContext, name: str, info: TensorStructInfo) -> None:
    dims = dims_of(info)
    message = f"`{name}` has the axes 1, tokens, heads and features"
    if (info.ndim if dims is None else len(dims)) not in (-1, 4):
        raise OperandError(name, shape_fact(info, dims), message=message)
    if dims is not None:
        fact = f"has {dim_text(dims[0])} elements along axis 0"
        error = OperandError(name, fact, message=message)
        require_equal(context, number(1), dims[0], error, f"`{name}` {fact}, not 1")


def _require_axis(
    context: InferContext,
    name: str,
    info: TensorStructInfo,
    axis: int,
    other: str,
    like: TensorStructInfo,
) -> None:
    """Require as many elements along an axis as another operand has."""
    dims, wanted = dims_of(info), dims_of(like)
    if dims is None or wanted is None or same_dim(dims[axis], wanted[axis]):
        return
    fact = f"has {dim_text(dims[axis])} elements along axis {axis}"
    also = {other: f"has {dim_text(wanted[axis])} there"}
    text = f"`{name}` {fact}, not {dim_text(wanted[axis])}"
    require_equal(context, wanted[axis], dims[axis], OperandError(name, fact, also=also), text)


attention_var_len.lacks("gradient", "the lengths of sequences are known only when it runs")
attention_var_len.lacks("compute", "the lengths of sequences are data", packed=True)

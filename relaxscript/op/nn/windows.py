"""Windows that move along spatial axes, for convolutions and poolings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.shapes import ONE, obviously_inside, require_inside
from relaxscript.sinfo.windows import (
    SPATIAL,
    Windows,
    canonical_windows,
    out_size,
    per_axis,
    windows_of,
)

__all__ = [
    "SPATIAL", "Windows", "by_parts", "canonical_convolution", "canonical_pool", "out_size",
    "per_axis", "require_elements", "require_groups", "require_windows", "sliding", "windows_of",
]  # fmt: skip


def canonical_convolution(
    axes: int, strides: Any, padding: Any, dilation: Any, data_layout: str, out_layout: str | None,
    **others: Any,
) -> dict[str, Any]:  # fmt: skip
    """The attributes of a convolution in the one form of those that mean the same."""
    return canonical_windows(axes, strides, padding, dilation, data_layout, out_layout)


def canonical_pool(
    axes: int, pool_size: Any, strides: Any, padding: Any, dilation: Any, layout: str,
    out_layout: str | None, **others: Any,
) -> dict[str, Any]:  # fmt: skip
    """The attributes of a pooling in the one form of those that mean the same."""
    windows = canonical_windows(axes, strides, padding, dilation, layout, out_layout)
    return {**windows, "pool_size": per_axis("pool_size", pool_size, axes, 1)}


def require_groups(groups: int) -> None:
    """Refuse channels in no groups (RX0204)."""
    if groups < 1:
        raise OperandError(
            "groups", f"is {groups}", message="there is at least one group", code="RX0204"
        )


def require_elements(context: InferContext, operand: str, size: PrimExpr, axis: str) -> None:
    """Refuse a tensor in which there is nothing to take a mean of."""
    if obviously_inside(ONE, size):
        return
    text = "there is nothing to take the mean of"
    error = OperandError(operand, f"has {dim_text(size)} elements along {axis}", message=text)
    require_inside(context, ONE, size, error, text)


def require_windows(
    context: InferContext, operand: str, size: PrimExpr, found: PrimExpr, axis: str
) -> None:
    """Refuse a tensor in which, with its padding, not a single window fits."""
    if obviously_inside(ONE, found):
        return
    text = "the window is larger than the tensor with its padding"
    error = OperandError(operand, f"has {dim_text(size)} elements along {axis}", message=text)
    require_inside(context, ONE, found, error, text)


def sliding(x: Any, kernel: Sequence[int], w: Windows) -> Any:
    """The windows of a padded array along its last axes, as further axes behind these."""
    axes = len(kernel)
    spatial = tuple(range(x.ndim - axes, x.ndim))
    reach = [d * (k - 1) + 1 for d, k in zip(w.dilation, kernel)]
    if any(x.shape[axis] < size for axis, size in zip(spatial, reach)):
        raise ValueError("the window is larger than the tensor with its padding")
    views = np.lib.stride_tricks.sliding_window_view(x, reach, spatial)
    places: Any = (..., *(slice(None, None, step) for step in (*w.strides, *w.dilation)))
    return views[places]


_PART = 1 << 16  # elements


def by_parts(x: Any, function: Callable[[Any], Any], inner: np.dtype[Any]) -> Any:
    """Apply a function to the spatial axes of (N, C, spatial), some channels at a time.

    It gets and gives (channels, spatial) of the dtype `inner`; the result has that of `x`.
    """
    channels = x.shape[0] * x.shape[1]
    flat = x.reshape(channels, *x.shape[2:])
    step = max(_PART // max(math.prod(x.shape[2:]), 1), 1)
    first = function(flat[:step].astype(inner, copy=False))
    result = np.empty((channels, *first.shape[1:]), x.dtype)
    result[:step] = first.astype(x.dtype, copy=False)
    for start in range(step, channels, step):
        part = function(flat[start : start + step].astype(inner, copy=False))
        result[start : start + step] = part.astype(x.dtype, copy=False)
    return result.reshape(*x.shape[:2], *first.shape[1:])

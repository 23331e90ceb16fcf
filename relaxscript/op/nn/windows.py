"""Windows that move along spatial axes, for convolutions and poolings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxscript.arith import simplify
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.shapes import number, require_inside

__all__ = [
    "SPATIAL", "Windows", "by_parts", "out_size", "per_axis", "require_groups",
    "require_windows", "sliding", "windows_of",
]  # fmt: skip

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


class Windows(NamedTuple):
    """The geometry of windows, one number for each spatial axis; `after` is padding at the end."""

    strides: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    dilation: tuple[int, ...]


def per_axis(name: str, value: int | tuple[int, ...], axes: int, least: int) -> tuple[int, ...]:
    """One number for each spatial axis; raises `OperandError` (RX0204) for more or fewer."""
    found = (value,) * axes if isinstance(value, int) else value
    if len(found) == 1:
        found *= axes
    if len(found) != axes:
        spatial = quantity(axes, "spatial axis")
        raise OperandError(
            name,
            f"has {quantity(len(found), 'number')}",
            message=f"there is one for each of the {spatial}, or one for all",
            code="RX0204",
        )
    if any(number < least for number in found):
        raise OperandError(
            name, f"is {value}", message=f"it is a number from {least} on", code="RX0204"
        )
    return found


def windows_of(
    strides: int | tuple[int, ...],
    padding: int | tuple[int, ...],
    dilation: int | tuple[int, ...],
    axes: int,
) -> Windows:
    """The attributes of windows, each for all spatial axes.

    `padding` is one number, one for each axis, or two: first all before, then all behind.
    """
    pads = (padding,) if isinstance(padding, int) else padding
    if len(pads) == 2 * axes:
        before, after = pads[:axes], pads[axes:]
        per_axis("padding", before, axes, 0)
        per_axis("padding", after, axes, 0)
    else:
        before = after = per_axis("padding", pads, axes, 0)
    return Windows(
        per_axis("strides", strides, axes, 1),
        before,
        after,
        per_axis("dilation", dilation, axes, 1),
    )


def require_groups(groups: int) -> None:
    """Refuse channels in no groups (RX0204)."""
    if groups < 1:
        raise OperandError(
            "groups", f"is {groups}", message="there is at least one group", code="RX0204"
        )


# ---------------------------------------------------------------- how many windows there are


def out_size(
    size: PrimExpr, kernel: PrimExpr, w: Windows, axis: int, ceil: bool = False
) -> PrimExpr:
    """The number of windows that fit along a spatial axis."""
    reach = prim.Mul.make(number(w.dilation[axis]), prim.Sub.make(kernel, number(1)))
    padded = prim.Add.make(size, number(w.before[axis] + w.after[axis]))
    room: PrimExpr = prim.Sub.make(prim.Sub.make(padded, reach), number(1))
    if ceil:
        room = prim.Add.make(room, number(w.strides[axis] - 1))
    return _and_one(simplify(room), w.strides[axis])


def _and_one(room: PrimExpr, stride: int) -> PrimExpr:
    """`room // stride + 1`, written so where no integer can be taken out of the quotient."""
    written = prim.Add.make(prim.FloorDiv.make(room, number(stride)), number(1))
    simplest = simplify(written)
    symbolic, constant = _parts(room)
    match _parts(simplest)[0]:
        case prim.FloorDiv(a, IntImm(_, divisor)) if divisor == stride and constant % stride != 0:
            if structural_equal(_parts(a)[0], symbolic):
                return written
    return simplest


def _parts(e: PrimExpr) -> tuple[PrimExpr, int]:
    """An expression without the number that is added at its end, and that number."""
    match e:
        case prim.Add(a, IntImm(_, value)):
            return a, value
        case prim.Sub(a, IntImm(_, value)):
            return a, -value
    return e, 0


def require_windows(
    context: InferContext, operand: str, size: PrimExpr, found: PrimExpr, axis: str
) -> None:
    """Refuse a tensor in which, with its padding, not a single window fits."""
    text = "the window is larger than the tensor with its padding"
    error = OperandError(operand, f"has {dim_text(size)} elements along {axis}", message=text)
    require_inside(context, number(1), found, error, text)


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

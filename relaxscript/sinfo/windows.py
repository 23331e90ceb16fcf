"""Windows that move along spatial axes: what convolutions and poolings have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

from relaxscript.arith import simplify
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.structural_equality import structural_equal

__all__ = ["SPATIAL", "Windows", "canonical_windows", "out_size", "per_axis", "windows_of"]

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
    if min(found) < least:
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


def canonical_windows(
    axes: int, strides: Any, padding: Any, dilation: Any, layout: str, out_layout: str | None
) -> dict[str, Any]:
    """The attributes of windows, each with one number for each axis, and the layout of results."""
    w = windows_of(strides, padding, dilation, axes)
    return {
        "strides": w.strides, "padding": (*w.before, *w.after), "dilation": w.dilation,
        "out_layout": out_layout or layout,
    }  # fmt: skip


# ---------------------------------------------------------------- how many windows there are


def out_size(
    size: PrimExpr, kernel: PrimExpr, w: Windows, axis: int, ceil: bool = False
) -> PrimExpr:
    """The number of windows that fit along a spatial axis."""

    def number(value: int) -> PrimExpr:
        return prim.const(value, size.dtype)

    if isinstance(size, IntImm) and isinstance(kernel, IntImm):
        before, after, stride = w.before[axis], w.after[axis], w.strides[axis]
        left = before + size.value + after - w.dilation[axis] * (kernel.value - 1) - 1
        return number((left + (stride - 1 if ceil else 0)) // stride + 1)
    reach = prim.Mul.make(number(w.dilation[axis]), prim.Sub.make(kernel, number(1)))
    padded = prim.Add.make(size, number(w.before[axis] + w.after[axis]))
    room: PrimExpr = prim.Sub.make(prim.Sub.make(padded, reach), number(1))
    if ceil:
        room = prim.Add.make(room, number(w.strides[axis] - 1))
    return _and_one(simplify(room), number(w.strides[axis]))


def _and_one(room: PrimExpr, stride: PrimExpr) -> PrimExpr:
    """`room // stride + 1`, written so where no integer can be taken out of the quotient."""
    quotient = prim.FloorDiv.make(room, stride)
    written = prim.Add.make(quotient, prim.const(1, room.dtype))
    simplest = simplify(written)
    symbolic, constant = _parts(room)
    match _parts(simplest)[0]:
        case prim.FloorDiv(a, IntImm(_, divisor)) if isinstance(stride, IntImm):
            left = divisor == stride.value and constant % divisor != 0
            if left and structural_equal(_parts(a)[0], symbolic):
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

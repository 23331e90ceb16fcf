"""Elements and regions of buffers, by indices and slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from relaxscript.ir.prim import IntImm, PrimExpr, const
from relaxscript.ir.tir import Buffer, BufferRegion, Range

from .mistake import TIRError
from .operands import extent_between, index_of, ramp, slice_bounds

if TYPE_CHECKING:
    from .builder import TIRBuilder

__all__ = ["indices_of", "region_of"]


def indices_of(builder: TIRBuilder, buffer: Buffer, values: Sequence[Any]) -> tuple[PrimExpr, ...]:
    """Indices as integers; a slice is the vector of its elements."""
    found = [
        ramp(low, extent, value.step, f"indices[{axis}]") if isinstance(value, slice) else low
        for (axis, value), (low, extent) in zip(enumerate(values), _ends(builder, buffer, values))
    ]
    for axis, e in enumerate(found[:-1]):
        if e.dtype.lanes != 1:
            raise TIRError(
                f"indices[{axis}]", "only the last index can be a vector", code="RX0503",
                help="loop over this axis: `for i in range(...)`",
            )  # fmt: skip
    return tuple(found)


def region_of(builder: TIRBuilder, buffer: Buffer, values: Sequence[Any]) -> BufferRegion:
    """Part of a buffer: a range along each axis, where an index is a range of one."""
    ranges = tuple(Range.make(low, extent) for low, extent in _ends(builder, buffer, values))
    return BufferRegion.make(buffer, ranges, span=builder.span)


def _ends(
    builder: TIRBuilder, buffer: Buffer, values: Sequence[Any]
) -> Iterator[tuple[PrimExpr, PrimExpr]]:
    """The beginning of each index, and the number of elements that it names along its axis."""
    for axis, value in enumerate(values):
        part = f"indices[{axis}]"
        if isinstance(value, slice):
            low, high = slice_bounds(buffer.shape[axis], value, part, builder.at(part))
            yield low, extent_between(low, high)
        else:
            e = _index(builder, buffer, axis, value)
            yield e, const(1, e.dtype)


def _index(builder: TIRBuilder, buffer: Buffer, axis: int, value: Any) -> PrimExpr:
    """One index; what names an element that cannot exist deserves a word, as it may never run."""
    part, extent = f"indices[{axis}]", buffer.shape[axis]
    limit = extent.value if isinstance(extent, IntImm) else None
    if type(value) is int and (value < 0 or (limit is not None and value >= limit)):
        size = "begins at 0" if limit is None else f"has extent {limit}"
        builder.doubts.append(TIRError(
            part, f"`{buffer.name}` has no element {value} here: axis {axis} {size}",
            code="RX0503", severity="warning",
            help="indices do not count from the end" if value < 0 else None,
        ))  # fmt: skip
    return index_of(value, part, builder.at(part))

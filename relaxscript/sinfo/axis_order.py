"""Orders of axes such as "NHWC" and "NCHW16c".

A capital is an axis. A number with a small letter is the inner part of an axis: in "NCHW16c" the
last axis holds 16 neighbouring channels, and C counts these groups. Shapes and indices are plain
where they are in the order of the letters, unpacked. Source: TVM `tir.Layout`.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.arith import simplify
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

__all__ = ["AxisOrder", "LayoutAxis", "axes_of", "plain_order"]

_PART = re.compile(r"([A-Z])|([1-9]\d{0,8})([a-z])")


class LayoutAxis(NamedTuple):
    """One axis of a layout: its axis in the plain order, and the factor of an inner part."""

    axis: int
    factor: int | None


class AxisParts(NamedTuple):
    """The axes of a layout that make one plain axis, the outermost first, and what is inside."""

    places: tuple[int, ...]
    factor: int


class AxisOrder(NamedTuple):
    """A layout as it is written, the letters in plain order, and its axes."""

    text: str
    letters: str
    places: tuple[LayoutAxis, ...]

    @property
    def rank(self) -> int:
        """The number of axes of a tensor of this layout."""
        return len(self.places)

    @property
    def is_packed(self) -> bool:
        """True if an axis has an inner part."""
        return len(self.places) > len(self.letters)

    def parts(self, axis: int) -> tuple[int, ...]:
        """The indices of the parts of a plain axis, the outermost first."""
        return _parts_of(self.places)[axis].places

    def factor(self, axis: int) -> int:
        """The number of neighbours of a plain axis that its inner part holds."""
        return _parts_of(self.places)[axis].factor

    def sizes(self, shape: Sequence[PrimExpr]) -> list[PrimExpr]:
        """The plain dimensions of a shape."""
        if not self.is_packed:
            return [shape[part.places[0]] for part in _parts_of(self.places)]
        return [_times(shape[part.places[0]], part.factor) for part in _parts_of(self.places)]

    def gather(self, indices: Sequence[PrimExpr]) -> list[PrimExpr]:
        """The plain indices of the element of a tensor at some indices."""
        found = []
        for axis in range(len(self.letters)):
            outer, *inner = (indices[i] for i in self.parts(axis))
            for part in inner:
                outer = _times(outer, self.factor(axis)) + part
            found.append(outer)
        return found

    def spread(self, plain: Sequence[PrimExpr]) -> list[PrimExpr]:
        """The indices in a tensor of the element at plain indices; and likewise of dimensions."""
        found = []
        for axis, factor in self.places:
            index, by = plain[axis], self.factor(axis)
            if by == 1:
                found.append(index if factor is None else prim.const(0, index.dtype))
            elif factor is None:
                found.append(simplify(index // by))
            else:
                found.append(simplify(index % by))
        return found


@functools.lru_cache
def _parts_of(places: tuple[LayoutAxis, ...]) -> tuple[AxisParts, ...]:
    """The parts of each plain axis."""
    found = []
    for axis in range(1 + max((place.axis for place in places), default=-1)):
        own = [i for i, place in enumerate(places) if place.axis == axis]
        own.sort(key=lambda i: places[i].factor is not None)
        factor = math.prod(places[i].factor or 1 for i in own)
        found.append(AxisParts(tuple(own), factor))
    return tuple(found)


def _times(size: PrimExpr, factor: int) -> PrimExpr:
    return size if factor == 1 else simplify(size * factor)


@functools.lru_cache
def axes_of(text: str, letters: str) -> tuple[LayoutAxis, ...] | None:
    """The axes of a layout of some letters; None where the text is no such layout."""
    parts = list(_PART.finditer(text))
    if "".join(part[0] for part in parts) != text:
        return None
    outer = [part[1] for part in parts if part[1]]
    inner = [part[3].upper() for part in parts if part[3]]
    if sorted(outer) != sorted(letters) or not set(inner) <= set(letters):
        return None
    if len(set(inner)) < len(inner):
        return None
    return tuple(
        LayoutAxis(letters.index(part[1] or part[3].upper()), int(part[2]) if part[2] else None)
        for part in parts
    )


def plain_order(letters: str) -> AxisOrder:
    """The order of the letters, nothing packed."""
    return AxisOrder(
        letters, letters, tuple(LayoutAxis(axis, None) for axis in range(len(letters)))
    )

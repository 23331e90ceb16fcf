"""Large arrays a piece at a time, so that what is made on the way stays in the cache.

A copy of a whole tensor in a wider type would take twice its memory. Out of the cache, it would
take most of the time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import converted

__all__ = [
    "PIECE",
    "Piece",
    "apply_by_pieces",
    "apply_elementwise",
    "part_of",
    "pieces",
    "reduce_by_pieces",
]

PIECE = 1 << 15  # elements: in float64 they fit the second cache
_RUN = 64  # elements that lie side by side in memory and are not parted
Piece = tuple[Any, ...]


def pieces(
    shape: Sequence[int], whole: tuple[int, ...] = (), size: int | None = None
) -> Iterator[Piece]:
    """Parts that make up a shape, of about `size` elements each, whole along some axes.

    Without such axes each is a run of the elements in their order.
    """
    size = PIECE if size is None else size
    room = size // max(math.prod(shape[axis] for axis in whole), 1)
    steps = list(shape)
    for axis in reversed(range(len(shape))):
        if axis not in whole:
            least = _RUN if axis == len(shape) - 1 else 1
            steps[axis] = max(min(shape[axis], max(room, least)), 1)
            room = room // steps[axis] if steps[axis] >= shape[axis] else 0
    ranges = [range(0, length, max(step, 1)) for length, step in zip(shape, steps)]
    for starts in itertools.product(*ranges):
        # The ellipsis makes the parts of a tensor of rank 0 arrays too.
        yield (*(slice(start, start + step) for start, step in zip(starts, steps)), ...)


def part_of(parameter: Any, piece: Piece) -> Any:
    """The part of an array that is spread over the shape of which `piece` is a part."""
    places = zip(parameter.shape, piece)
    return parameter[(*(slice(None) if size == 1 else place for size, place in places), ...)]


def apply_by_pieces(function: Callable[[Any], Any], x: Any, axes: tuple[int, ...]) -> Any:
    """Apply a function that combines elements along `axes` only, a part of `x` at a time."""
    if x.size <= PIECE:
        return function(x)
    result = np.empty(x.shape, x.dtype)
    for piece in pieces(x.shape, axes):
        result[piece] = function(x[piece])
    return result


def apply_elementwise(function: Callable[..., Any], dtype: Any, *operands: Any) -> Any:
    """Apply a function to the elements of operands that are broadcast to one shape.

    It may give them in a wider type; they are rounded to `dtype` once.
    """
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    result = np.empty(shape, dtype)
    spread = [np.broadcast_to(operand, shape) for operand in operands]
    for piece in pieces(shape):
        made = function(*(operand[piece] for operand in spread))
        result[piece] = converted(np.asarray(made), result.dtype)
    return result


def reduce_by_pieces(
    function: Callable[..., Any], x: Any, axes: tuple[int, ...], keepdims: bool
) -> Any:
    """Reduce `x` along `axes` by a function that takes `axes` and `keepdims`, in the dtype of `x`.

    Many results are made some at a time, so that the wider type of the sums is that of few.
    """
    kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    if x.size == 0 or math.prod(kept) <= PIECE:  # nothing has no pieces, but may have results
        return np.asarray(function(x, axes, keepdims)).astype(x.dtype)
    result = np.empty(kept, x.dtype)
    for piece in pieces(x.shape, axes):
        part_of(result, piece)[...] = np.asarray(function(x[piece], axes, True)).astype(x.dtype)
    return result if keepdims else result.squeeze(axes)

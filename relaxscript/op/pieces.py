"""Large arrays a piece at a time, so that what is made on the way stays in the cache.

A copy of a whole tensor in a wider type would take twice its memory and, out of the cache, most of
the time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["PIECE", "Piece", "by_pieces", "part_of", "pieces"]

PIECE = 1 << 15  # elements: in float64 they fit the second cache
Piece = tuple[Any, ...]


def pieces(shape: Sequence[int], whole: tuple[int, ...] = ()) -> Iterator[Piece]:
    """Parts that make up a shape, of about `PIECE` elements each, whole along some axes."""
    room = max(PIECE // max(math.prod(shape[axis] for axis in whole), 1), 1)
    steps = list(shape)
    for axis in reversed(range(len(shape))):
        if axis not in whole:
            steps[axis] = min(shape[axis], room)
            room = room // max(steps[axis], 1) if steps[axis] == shape[axis] else 1
            room = max(room, 1)
    ranges = [range(0, size, max(step, 1)) for size, step in zip(shape, steps)]
    for starts in itertools.product(*ranges):
        # The ellipsis makes the parts of a tensor of rank 0 arrays too.
        yield (*(slice(start, start + step) for start, step in zip(starts, steps)), ...)


def part_of(parameter: Any, piece: Piece) -> Any:
    """The part of an array that is spread over the shape of which `piece` is a part."""
    places = zip(parameter.shape, piece)
    return parameter[(*(slice(None) if size == 1 else place for size, place in places), ...)]


def by_pieces(function: Callable[[Any], Any], x: Any, axes: tuple[int, ...]) -> Any:
    """What a function makes of `x`, where it combines elements along `axes` only."""
    if x.size <= PIECE:
        return function(x)
    result = np.empty(x.shape, x.dtype)
    for piece in pieces(x.shape, axes):
        result[piece] = function(x[piece])
    return result

"""Means and variances of floats along some axes, and what they normalize.

All is computed in the wider type that `accumulator` says and rounded once, but a piece at a time:
a copy of a whole tensor in float64 would take twice its memory and, out of the cache, most of the
time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .numeric import accumulator

__all__ = ["by_pieces", "moments", "normalized", "rescaled"]

_PIECE = 1 << 15  # elements: in float64 they fit the second cache
_Axes = tuple[int, ...]
_Piece = tuple[Any, ...]


def _pieces(shape: Sequence[int], whole: _Axes = ()) -> Iterator[_Piece]:
    """Parts that make up a shape, of about `_PIECE` elements each, whole along some axes."""
    room = max(_PIECE // max(math.prod(shape[axis] for axis in whole), 1), 1)
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


def _of(parameter: Any, piece: _Piece) -> Any:
    """The part of an array that is spread over the shape of which `piece` is a part."""
    places = zip(parameter.shape, piece)
    return parameter[(*(slice(None) if size == 1 else place for size, place in places), ...)]


def by_pieces(function: Callable[[Any], Any], x: Any, axes: _Axes) -> Any:
    """What a function makes of `x`, where it combines elements along `axes` only."""
    if x.size <= _PIECE:
        return function(x)
    result = np.empty(x.shape, x.dtype)
    for piece in _pieces(x.shape, axes):
        result[piece] = function(x[piece])
    return result


def moments(x: Any, axes: _Axes, centred: bool = True) -> tuple[Any, Any]:
    """The mean and the variance of the population along axes, which stay with size 1.

    The mean of squares instead where not `centred`, and a mean of 0. NaN of nothing.
    """
    wide = accumulator(x.dtype)
    kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    count = wide.type(math.prod(x.shape[axis] for axis in axes))
    mean, square = np.zeros(kept, wide), np.zeros(kept, wide)
    pieces = list(_pieces(x.shape))
    if centred:
        for piece in pieces:
            part = x[piece].astype(wide, copy=False)
            _of(mean, piece)[...] += np.add.reduce(part, axis=axes, keepdims=True)
        mean /= count
    for piece in pieces:
        part = x[piece].astype(wide)
        if centred:
            part -= _of(mean, piece)
        part *= part
        _of(square, piece)[...] += np.add.reduce(part, axis=axes, keepdims=True)
    square /= count
    return mean, square


def normalized(
    x: Any, axes: _Axes, epsilon: float, gamma: Any, beta: Any, centred: bool = True
) -> Any:
    """`(x - mean) / sqrt(variance + epsilon) * gamma + beta`, statistics over `axes`.

    `gamma` and `beta` are None, or have the rank of `x` and are spread over it. Where not
    `centred`, the mean is left out, and the variance is the mean of squares.
    """
    result = np.empty(x.shape, x.dtype)
    # A group of what is normalized together stays in the cache between its passes.
    for group in _pieces(x.shape, axes):
        part, factor, term = x[group], _of_optional(gamma, group), _of_optional(beta, group)
        if part.size <= _PIECE:
            result[group] = _at_once(part, axes, epsilon, factor, term, centred)
            continue
        mean, variance = moments(part, axes, centred)
        _rescale(result[group], part, mean if centred else None, variance, epsilon, factor, term)
    return result


def _of_optional(parameter: Any, piece: _Piece) -> Any:
    return None if parameter is None else _of(parameter, piece)


def _at_once(x: Any, axes: _Axes, epsilon: float, gamma: Any, beta: Any, centred: bool) -> Any:
    """As `normalized`, in the wider type."""
    wide = accumulator(x.dtype)
    count = wide.type(math.prod(x.shape[axis] for axis in axes))
    part = x.astype(wide)
    if centred:
        part -= np.add.reduce(part, axis=axes, keepdims=True) / count
    variance = np.add.reduce(part * part, axis=axes, keepdims=True) / count
    part *= 1 / np.sqrt(variance + wide.type(epsilon))
    return _affine(part, gamma, beta)


def _affine(x: Any, gamma: Any, beta: Any) -> Any:
    if gamma is not None:
        x *= gamma.astype(x.dtype, copy=False)
    if beta is not None:
        x += beta.astype(x.dtype, copy=False)
    return x


def rescaled(x: Any, mean: Any, variance: Any, epsilon: float, gamma: Any, beta: Any) -> Any:
    """As `normalized`, by statistics that are given."""
    result = np.empty(x.shape, x.dtype)
    _rescale(result, x, mean, variance, epsilon, gamma, beta)
    return result


def _rescale(
    target: Any, x: Any, mean: Any, variance: Any, epsilon: float, gamma: Any, beta: Any
) -> None:
    wide = accumulator(x.dtype)
    factor = 1 / np.sqrt(variance + wide.type(epsilon))
    if gamma is not None and gamma.shape == factor.shape:
        factor, gamma = factor * gamma.astype(wide), None
    for piece in _pieces(x.shape):
        part = x[piece].astype(wide)
        if mean is not None:
            part -= _of(mean, piece)
        part *= _of(factor, piece)
        target[piece] = _affine(part, _of_optional(gamma, piece), _of_optional(beta, piece))

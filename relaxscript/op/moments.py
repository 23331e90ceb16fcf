"""Means and variances of floats along some axes, and what they normalize.

All is computed in the wider type that `accumulator` says and rounded once, a piece at a time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .numeric import accumulator
from .pieces import PIECE, Piece, part_of, pieces

__all__ = ["moments", "normalize", "normalized_terms", "rescale"]

_Axes = tuple[int, ...]


def moments(x: Any, axes: _Axes, centred: bool = True) -> tuple[Any, Any]:
    """The mean and the variance of the population along axes, which stay with size 1.

    The mean of squares instead where not `centred`, and a mean of 0. NaN of nothing.
    """
    wide = accumulator(x.dtype)
    kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    count = wide.type(math.prod(x.shape[axis] for axis in axes))
    mean, square = np.zeros(kept, wide), np.zeros(kept, wide)
    parts = list(pieces(x.shape))
    if centred:
        for piece in parts:
            part = x[piece].astype(wide, copy=False)
            part_of(mean, piece)[...] += np.add.reduce(part, axis=axes, keepdims=True)
        mean /= count
    for piece in parts:
        part = x[piece].astype(wide)
        if centred:
            part -= part_of(mean, piece)
        part *= part
        part_of(square, piece)[...] += np.add.reduce(part, axis=axes, keepdims=True)
    square /= count
    return mean, square


def normalize(
    x: Any, axes: _Axes, epsilon: float, gamma: Any, beta: Any, centred: bool = True
) -> Any:
    """`(x - mean) / sqrt(variance + epsilon) * gamma + beta`, statistics over `axes`.

    `gamma` and `beta` are None, or have the rank of `x` and are spread over it. Where not
    `centred`, the mean is left out, and the variance is the mean of squares.
    """
    result = np.empty(x.shape, x.dtype)
    # A group of what is normalized together stays in the cache between its passes.
    for group in pieces(x.shape, axes):
        part, factor, term = x[group], _of_optional(gamma, group), _of_optional(beta, group)
        if part.size <= PIECE:
            result[group] = _at_once(part, axes, epsilon, factor, term, centred)
            continue
        mean, variance = moments(part, axes, centred)
        _rescale(result[group], part, mean if centred else None, variance, epsilon, factor, term)
    return result


def normalized_terms(
    x: Any, axes: _Axes, epsilon: float, gamma: Any, beta: Any, centred: bool = True
) -> Any:
    """The sizes of what `normalize` adds up for each element: of it, the mean and `beta`."""
    size = np.abs(x.astype(np.float64))
    _, variance = moments(x, axes, centred)
    mean, _ = moments(size, axes)
    size = (size + mean) / np.sqrt(variance.astype(np.float64) + epsilon)
    size = size if gamma is None else size * np.abs(gamma.astype(np.float64))
    return size if beta is None else size + np.abs(beta.astype(np.float64))


def _of_optional(parameter: Any, piece: Piece) -> Any:
    return None if parameter is None else part_of(parameter, piece)


def _at_once(x: Any, axes: _Axes, epsilon: float, gamma: Any, beta: Any, centred: bool) -> Any:
    """As `normalize`, in the wider type."""
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


def rescale(x: Any, mean: Any, variance: Any, epsilon: float, gamma: Any, beta: Any) -> Any:
    """As `normalize`, by statistics that are given."""
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
    for piece in pieces(x.shape):
        part = x[piece].astype(wide)
        if mean is not None:
            part -= part_of(mean, piece)
        part *= part_of(factor, piece)
        target[piece] = _affine(part, _of_optional(gamma, piece), _of_optional(beta, piece))

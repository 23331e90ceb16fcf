"""Convolution as matrix products: the elements under each window make one column of a matrix.

The columns are copied for a part of the windows at a time. So they stay in the cache and take no
more memory than `_PART`; a kernel of one element needs no copy at all. Source: K. Chellapilla,
S. Puri, P. Simard, "High performance convolutional neural networks for document processing", 2006.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from relaxscript.op.pieces import Piece, pieces

from .windows import Windows, sliding

__all__ = ["convolution"]

_PART = 2 << 20  # bytes


def convolution(x: Any, kernel: Any, w: Windows, groups: int) -> Any:
    """The convolution of (N, C, spatial) by (O, I, spatial), arrays of one dtype."""
    axes = x.ndim - 2
    views = sliding(_pad(x, w), kernel.shape[2:], w)
    sizes = views.shape[2 : 2 + axes]
    # Columns in the order of memory: pixels run last where channels were before them.
    if groups == 1 and abs(x.strides[1]) < abs(x.strides[-1]):
        return _of_pixels(views, kernel, sizes)
    return _of_channels(views, kernel, sizes, groups)


def _of_channels(views: Any, kernel: Any, sizes: tuple[int, ...], groups: int) -> Any:
    axes = len(sizes)
    samples, channels = views.shape[:2]
    inner, outer = math.prod(kernel.shape[1:]), len(kernel) // groups
    columns = views.transpose(0, 1, *range(2 + axes, 2 + 2 * axes), *range(2, 2 + axes))
    matrices = kernel.reshape(groups, outer, inner)
    result = np.empty((samples, groups, outer, math.prod(sizes)), views.dtype)
    room = channels * math.prod(kernel.shape[2:]) * views.itemsize
    before: Any = (slice(None),) * (1 + axes)
    for some, piece, places in _parts(samples, sizes, room if _is_copied(views) else 0):
        part = columns[(some, *before, *piece)]
        target = result[some, ..., places]
        shape = (len(part), groups, inner, target.shape[-1])
        np.matmul(matrices, part.reshape(shape), out=target)
    return result.reshape(samples, len(kernel), *sizes)


def _of_pixels(views: Any, kernel: Any, sizes: tuple[int, ...]) -> Any:
    axes = len(sizes)
    samples = len(views)
    windows = views.transpose(0, *range(2, 2 + 2 * axes), 1)
    matrix = np.moveaxis(kernel, (0, 1), (-1, -2))
    matrix = matrix.reshape(math.prod(matrix.shape[:-1]), len(kernel))
    result = np.empty((samples, math.prod(sizes), len(kernel)), views.dtype)
    room = len(matrix) * views.itemsize
    for some, piece, places in _parts(samples, sizes, room if _is_copied(views) else 0):
        part = windows[(some, *piece)]
        target = result[some, places]
        shape = (*target.shape[:2], len(matrix))
        np.matmul(part.reshape(shape), matrix, out=target)
    return np.moveaxis(result.reshape(samples, *sizes, len(kernel)), -1, 1)


def _pad(x: Any, w: Windows) -> Any:
    if not any(w.before) and not any(w.after):
        return x
    sizes = [b + n + a for b, n, a in zip(w.before, x.shape[2:], w.after)]
    # As it lies in memory, so that the columns are copied in that order.
    padded = np.zeros_like(x, shape=(*x.shape[:2], *sizes))
    inside: Any = (..., *(slice(b, b + n) for b, n in zip(w.before, x.shape[2:])))
    padded[inside] = x
    return padded


def _is_copied(views: Any) -> bool:
    """True if windows overlap or leave something out, so that columns are no view."""
    axes = (views.ndim - 2) // 2
    return math.prod(views.shape[2 + axes :]) > 1 or not views.flags.contiguous


def _parts(samples: int, sizes: tuple[int, ...], room: int) -> Iterator[tuple[slice, Piece, slice]]:
    """Samples, windows of them, and the places of these among all windows, part by part.

    A part is several samples whole or windows of one; each window takes `room` bytes.
    """
    count = max(_PART // max(room, 1), 1)
    step = max(count // math.prod(sizes), 1)
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    for start in range(0, samples, step):
        for piece in pieces(sizes, size=count):
            first = sum(part.start * stride for part, stride in zip(piece, strides))
            taken = math.prod(min(p.stop, n) - p.start for p, n in zip(piece, sizes))
            yield slice(start, start + step), piece, slice(first, first + taken)

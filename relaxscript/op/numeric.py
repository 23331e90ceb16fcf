"""Numerical building blocks of meanings that numpy does not have, or not accurately enough."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .pieces import apply_by_pieces

__all__ = [
    "accumulator",
    "floats_only",
    "logistic",
    "places_along",
    "product_dtype",
    "quotient",
    "sigmoid",
    "smooth",
    "sum_dtype",
    "widen",
    "window_dtype",
]


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which to add up values of `dtype`: for floats a wider one."""
    if dtype.kind in "iub":
        return dtype
    return np.dtype(np.float32 if dtype.itemsize <= 2 else np.float64)


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """As `accumulator`; sums of integers are those of 64 bits."""
    wide = {"i": np.int64, "u": np.uint64}.get(dtype.kind)
    return accumulator(dtype) if wide is None else np.dtype(wide)


def quotient(total: Any, counts: Any) -> Any:
    """A sum divided by how many there are; of integers it is rounded toward zero."""
    counts = np.asarray(counts).astype(total.dtype)
    if total.dtype.kind not in "iu":
        return total / counts
    return (total - np.fmod(total, counts)) // counts


def product_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which to multiply matrices: float32 for small floats, else their own."""
    is_small = dtype.kind not in "iub" and dtype.itemsize <= 2
    return np.dtype(np.float32) if is_small else dtype


def window_dtype(data: np.dtype[Any], result: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which to multiply windows of data, where the result has a dtype of its own."""
    return np.promote_types(product_dtype(data), product_dtype(result))


def widen(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function computed in float32 at least, and rounded to the operand's dtype once."""

    def wide(x: Any, *rest: Any, **attributes: Any) -> Any:
        if x.dtype.itemsize > 2:
            return function(x, *rest, **attributes)
        y = function(x.astype(np.float32), *rest, **attributes)
        return np.asarray(y).astype(x.dtype)

    wide.__doc__ = function.__doc__
    return wide


def floats_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for floats; integers, on which it does nothing, as they are."""
    return lambda x: function(x) if x.dtype.kind not in "iub" else x


def places_along(indices: Any, size: int, axis: int) -> Any:
    """Indices counted from the start; raises `IndexError` for one that is not there."""
    if indices.size and not (indices.min() >= -size and indices.max() < size):
        outside = indices.min() if indices.min() < -size else indices.max()
        raise IndexError(f"the index {outside} is not among the {size} along axis {axis}")
    return np.where(indices < 0, indices.astype(np.int64) + size, indices.astype(np.int64))


def smooth(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of each element, as `widen`, a piece of the tensor at a time."""
    return functools.partial(apply_by_pieces, widen(function), axes=())


def logistic(x: Any) -> Any:
    """`1 / (1 + exp(-x))` without overflow."""
    power = np.exp(-np.abs(x))
    whole = power + 1
    return np.where(x >= 0, 1, power) / whole


sigmoid = smooth(logistic)

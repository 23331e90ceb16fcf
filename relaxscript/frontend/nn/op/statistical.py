"""Sums and extremes along axes."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = ["cumsum", "max", "min", "sum"]

_Axes = int | Sequence[int] | None


def sum(x: Tensor, axis: _Axes = None, keepdims: bool = False, name: str = "sum") -> Tensor:
    """The sums along one axis, several, or all; with `keepdims` these are left."""
    return apply(R.sum, name, x, axis, keepdims)


def max(x: Tensor, axis: _Axes = None, keepdims: bool = False, name: str = "max") -> Tensor:
    """The greatest elements along one axis, several, or all; with `keepdims` these are left."""
    return apply(R.max, name, x, axis, keepdims)


def min(x: Tensor, axis: _Axes = None, keepdims: bool = False, name: str = "min") -> Tensor:
    """The smallest elements along one axis, several, or all; with `keepdims` these are left."""
    return apply(R.min, name, x, axis, keepdims)


def cumsum(
    data: Tensor, axis: int | None = None, dtype: str | None = None, exclusive: bool | None = None,
    name: str = "cumsum",
) -> Tensor:  # fmt: skip
    """The sums of all elements up to each along an axis, or of all in row-major order.

    `exclusive` leaves the element itself out. The result has the dtype of `data` unless `dtype`
    names one.
    """
    return apply(R.cumsum, name, data, axis, dtype, bool(exclusive))

"""Tensors of one number, and triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = ["arange", "empty", "full", "ones", "triu", "zeros"]

_Shape = Sequence[Any]


def arange(
    start: Any, end: Any = None, step: Any = 1, dtype: str | None = "float32", name: str = "arange"
) -> Tensor:
    """Numbers from `start` up to `end`, which is left out; of one number, those below it."""
    return apply(R.arange, name, start, end, step, dtype)


def full(shape: _Shape, fill_value: Any, dtype: str = "float32", name: str = "full") -> Tensor:
    """A tensor of one number, which is a number of Python or a tensor of rank 0."""
    return apply(R.full, name, shape, fill_value, dtype)


def zeros(shape: _Shape, dtype: str = "float32", name: str = "zeros") -> Tensor:
    """A tensor of zeros."""
    return apply(R.zeros, name, shape, dtype)


def ones(shape: _Shape, dtype: str = "float32", name: str = "ones") -> Tensor:
    """A tensor of ones."""
    return apply(R.ones, name, shape, dtype)


def empty(shape: _Shape, dtype: str = "float32", name: str = "empty") -> Tensor:
    """A tensor whose elements are not said."""
    return apply(R.builtin.alloc_tensor, name, shape, dtype, 0)


def triu(x: Tensor, diagonal: int = 0, name: str = "triu") -> Tensor:
    """The elements on a diagonal and above it, and 0 below; 0 is the main diagonal."""
    return apply(R.triu, name, x, diagonal)

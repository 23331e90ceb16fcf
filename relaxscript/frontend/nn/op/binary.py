"""Functions of two tensors, element by element, and products."""

from __future__ import annotations

from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = ["add", "matmul", "multiply"]


def add(a: Any, b: Any, name: str = "add") -> Tensor:
    """The sum of each two elements; shapes are broadcast, and one may be a number."""
    return apply(R.add, name, a, b)


def multiply(a: Any, b: Any, name: str = "mul") -> Tensor:
    """The product of each two elements; shapes are broadcast, and one may be a number."""
    return apply(R.multiply, name, a, b)


def matmul(a: Tensor, b: Tensor, out_dtype: str | None = None, name: str = "matmul") -> Tensor:
    """The product of matrices in the last two axes; the others are broadcast."""
    return apply(R.matmul, name, a, b, out_dtype=out_dtype)

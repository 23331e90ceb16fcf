"""Functions of two tensors, element by element, and products of matrices."""

from __future__ import annotations

from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = ["add", "divide", "matmul", "maximum", "minimum", "multiply", "subtract"]


def add(a: Any, b: Any, name: str = "add") -> Tensor:
    """The sum of each two elements; shapes are broadcast, and one may be a number."""
    return apply(R.add, name, a, b)


def subtract(a: Any, b: Any, name: str = "subtract") -> Tensor:
    """The difference of each two elements; shapes are broadcast, and one may be a number."""
    return apply(R.subtract, name, a, b)


def multiply(a: Any, b: Any, name: str = "mul") -> Tensor:
    """The product of each two elements; shapes are broadcast, and one may be a number."""
    return apply(R.multiply, name, a, b)


def divide(a: Any, b: Any, name: str = "divide") -> Tensor:
    """The quotient of each two elements; shapes are broadcast, and one may be a number."""
    return apply(R.divide, name, a, b)


def maximum(x1: Any, x2: Any, name: str = "maximum") -> Tensor:
    """The greater one of each two elements; shapes are broadcast, and one may be a number."""
    return apply(R.maximum, name, x1, x2)


def minimum(x1: Any, x2: Any, name: str = "minimum") -> Tensor:
    """The smaller one of each two elements; shapes are broadcast, and one may be a number."""
    return apply(R.minimum, name, x1, x2)


def matmul(a: Tensor, b: Tensor, out_dtype: str | None = None, name: str = "matmul") -> Tensor:
    """The product of matrices in the last two axes; the others are broadcast."""
    return apply(R.matmul, name, a, b, out_dtype=out_dtype)

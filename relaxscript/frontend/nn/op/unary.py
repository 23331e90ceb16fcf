"""Functions of one tensor, element by element."""

from __future__ import annotations

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = ["exp", "floor", "log", "negative", "sqrt", "square"]


def exp(x: Tensor, name: str = "exp") -> Tensor:
    """The exponential."""
    return apply(R.exp, name, x)


def floor(x: Tensor, name: str = "floor") -> Tensor:
    """The largest integers that are not above the elements."""
    return apply(R.floor, name, x)


def log(x: Tensor, name: str = "log") -> Tensor:
    """The natural logarithm."""
    return apply(R.log, name, x)


def negative(x: Tensor, name: str = "neg") -> Tensor:
    """The elements with the other sign."""
    return apply(R.negative, name, x)


def square(x: Tensor, name: str = "square") -> Tensor:
    """The elements times themselves."""
    return apply(R.square, name, x)


def sqrt(x: Tensor, name: str = "sqrt") -> Tensor:
    """The square root."""
    return apply(R.sqrt, name, x)

"""Activation functions."""

from __future__ import annotations

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = ["relu"]


def relu(x: Tensor, name: str = "relu") -> Tensor:
    """The elements, and 0 for those that are less."""
    return apply(R.nn.relu, name, x)

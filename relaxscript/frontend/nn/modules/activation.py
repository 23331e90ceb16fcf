"""Activation functions as modules, which have no parameters."""

from __future__ import annotations

from relaxscript.frontend.nn import op
from relaxscript.frontend.nn.module import Module
from relaxscript.frontend.nn.tensor import Tensor

__all__ = ["ReLU"]


class ReLU(Module):
    """`nn.op.relu` as a module."""

    def forward(self, x: Tensor) -> Tensor:
        """The elements, and 0 for those that are less."""
        return op.relu(x)

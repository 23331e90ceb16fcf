"""Functions of one tensor as modules, which have no parameters."""

from __future__ import annotations

from typing import Any

from relaxscript.frontend.nn import op
from relaxscript.frontend.nn.module import Module
from relaxscript.frontend.nn.tensor import Tensor

__all__ = ["GELU", "Identity", "ReLU", "SiLU"]


class ReLU(Module):
    """`nn.op.relu` as a module."""

    def forward(self, x: Tensor) -> Tensor:
        """The elements, and 0 for those that are less."""
        return op.relu(x)


class SiLU(Module):
    """`nn.op.silu` as a module."""

    def forward(self, x: Tensor) -> Tensor:
        """`x * sigmoid(x)`."""
        return op.silu(x)


class GELU(Module):
    """`nn.op.gelu` as a module."""

    def forward(self, x: Tensor) -> Tensor:
        """The elements times the share of a normal distribution below them."""
        return op.gelu(x)


class Identity(Module):
    """A module in the place of another that does nothing."""

    def forward(self, x: Any) -> Any:
        """The argument itself."""
        return x

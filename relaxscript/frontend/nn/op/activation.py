"""Activation functions."""

from __future__ import annotations

from relaxscript.errors.suggest import did_you_mean, nearest
from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.frontend.nn.trace import model_error
from relaxscript.script import relax as R

__all__ = [
    "gelu", "prelu", "relu", "relu6", "sigmoid", "silu", "softmax", "softplus", "tanh",
]  # fmt: skip


def relu(x: Tensor, name: str = "relu") -> Tensor:
    """The elements, and 0 for those that are less."""
    return apply(R.nn.relu, name, x)


def relu6(x: Tensor, name: str = "relu6") -> Tensor:
    """The elements, 0 for those that are less and 6 for those that are more."""
    return apply(R.nn.relu6, name, x)


def prelu(x: Tensor, alpha: Tensor, name: str = "prelu") -> Tensor:
    """The elements, and `alpha` times those that are less than 0: a number for each channel."""
    return apply(R.nn.prelu, name, x, alpha)


def silu(x: Tensor, name: str = "silu") -> Tensor:
    """`x * sigmoid(x)`."""
    return apply(R.nn.silu, name, x)


def gelu(x: Tensor, approximate: str | None = None, name: str = "gelu") -> Tensor:
    """The elements times the share of a normal distribution below them.

    `approximate="tanh"` computes that share by tanh. Raises `DiagnosticError` (RX0711) for another
    approximation.
    """
    if approximate == "tanh":
        return apply(R.nn.gelu_tanh, name, x)
    if approximate not in (None, "none"):
        near = nearest(str(approximate), ("tanh", "none"))
        raise model_error(
            f"`gelu` has no approximation {approximate!r}",
            help=did_you_mean(near, 'write `approximate="tanh"`, or leave it out'),
        )
    return apply(R.nn.gelu, name, x)


def sigmoid(x: Tensor, name: str = "sigmoid") -> Tensor:
    """`1 / (1 + exp(-x))`."""
    return apply(R.sigmoid, name, x)


def softmax(x: Tensor, axis: int = -1, name: str = "softmax") -> Tensor:
    """The exponentials, divided by their sum along an axis."""
    return apply(R.nn.softmax, name, x, axis)


def softplus(
    x: Tensor, beta: float = 1.0, threshold: float = 20.0, name: str = "softplus"
) -> Tensor:
    """`log(1 + exp(beta * x)) / beta`, and `x` itself where `beta * x` is above `threshold`."""
    return apply(R.nn.softplus, name, x, beta, threshold)


def tanh(x: Tensor, name: str = "tanh") -> Tensor:
    """The hyperbolic tangent."""
    return apply(R.tanh, name, x)

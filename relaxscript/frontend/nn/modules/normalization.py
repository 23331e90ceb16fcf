"""Norms with weights of their own."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.frontend.nn import op
from relaxscript.frontend.nn.module import Module
from relaxscript.frontend.nn.parameter import Parameter
from relaxscript.frontend.nn.tensor import Tensor

__all__ = ["GroupNorm", "LayerNorm", "RMSNorm"]


class LayerNorm(Module):
    """`nn.op.layer_norm`; `weight` and `bias` are of `normalized_shape`, or there are none."""

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
        elementwise_affine: bool = True, dtype: str | None = None,
    ) -> None:  # fmt: skip
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape = tuple(shape)
        self.eps = eps
        self.weight = Parameter(self.normalized_shape, dtype) if elementwise_affine else None
        self.bias = Parameter(self.normalized_shape, dtype) if elementwise_affine else None

    def forward(self, x: Tensor) -> Tensor:
        """The elements normalized over the last axes."""
        return op.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """`nn.op.rms_norm` over `axes`, plus a bias; `weight` and `bias` are `(hidden_size,)`."""

    def __init__(
        self, hidden_size: int, axes: int | Sequence[int], epsilon: float = 1e-5,
        bias: bool = True, dtype: str | None = None,
    ) -> None:  # fmt: skip
        self.axes = axes
        self.epsilon = epsilon
        self.weight = Parameter((hidden_size,), dtype)
        self.bias = Parameter((hidden_size,), dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The elements divided by the root of the mean of their squares, times the weight."""
        found = op.rms_norm(x, self.weight, self.axes, self.epsilon)
        return found if self.bias is None else found + self.bias


class GroupNorm(Module):
    """`nn.op.group_norm`; `weight` and `bias` are `(num_channels,)`, or there are none."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
        dtype: str | None = None,
    ) -> None:  # fmt: skip
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.weight = Parameter((num_channels,), dtype) if affine else None
        self.bias = Parameter((num_channels,), dtype) if affine else None

    def forward(
        self, x: Tensor, channel_axis: int = 1, axes: Sequence[int] | None = None
    ) -> Tensor:
        """The elements normalized over groups of channels, and over `axes`."""
        return op.group_norm(
            x, self.num_groups, self.weight, self.bias, self.eps, channel_axis, axes
        )

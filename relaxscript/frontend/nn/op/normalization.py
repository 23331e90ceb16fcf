"""Elements relative to their means and variances."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.frontend.nn.shapes import as_shape
from relaxscript.frontend.nn.tensor import Tensor, apply, require_tensor
from relaxscript.ir.prim import PrimExpr
from relaxscript.script import relax as R

from .create import ones, zeros

__all__ = ["group_norm", "layer_norm", "rms_norm"]

_Dims = Sequence[int | PrimExpr]


def layer_norm(
    x: Tensor, normalized_shape: int | _Dims, weight: Tensor | None = None,
    bias: Tensor | None = None, eps: float = 1e-5, name: str = "layer_norm",
) -> Tensor:  # fmt: skip
    """The elements normalized over the last axes, which have this shape.

    Then they are multiplied by `weight`, and `bias` is added; each is of that shape.
    """
    require_tensor(x, "the operand of `layer_norm`")
    is_one = isinstance(normalized_shape, (int, PrimExpr))
    shape = as_shape((normalized_shape,) if is_one else normalized_shape, "`layer_norm`")
    axes = list(range(-len(shape), 0))
    weight = ones(shape, x.dtype, "weight") if weight is None else weight
    bias = zeros(shape, x.dtype, "bias") if bias is None else bias
    return apply(R.nn.layer_norm, name, x, weight, bias, axes=axes, epsilon=eps)


def rms_norm(
    x: Tensor, weight: Tensor, axes: int | Sequence[int], epsilon: float = 1e-5,
    name: str = "rms_norm",
) -> Tensor:  # fmt: skip
    """The elements divided by the root of the mean of their squares along axes, times `weight`."""
    return apply(R.nn.rms_norm, name, x, weight, axes=axes, epsilon=epsilon)


def group_norm(
    x: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float = 1e-5,
    channel_axis: int = 1, axes: Sequence[int] | None = None, name: str = "group_norm",
) -> Tensor:  # fmt: skip
    """The elements normalized over groups of channels, and over `axes`.

    These are all but the first and that of the channels unless said. Then each channel is
    multiplied by its element of `weight`, and that of `bias` is added.
    """
    require_tensor(x, "the operand of `group_norm`")
    channel = channel_axis % x.ndim if x.ndim > 0 else channel_axis
    if axes is None:
        axes = [axis for axis in range(1, x.ndim) if axis != channel]
    if weight is None or bias is None:
        channels = x.shape[channel : channel + 1]
        weight = ones(channels, x.dtype, "weight") if weight is None else weight
        bias = zeros(channels, x.dtype, "bias") if bias is None else bias
    return apply(
        R.nn.group_norm, name, x, weight, bias, num_groups=num_groups, channel_axis=channel,
        axes=axes, epsilon=eps,
    )  # fmt: skip

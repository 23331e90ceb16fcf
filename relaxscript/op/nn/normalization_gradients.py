"""Gradients of normalizations: by what is normalized, and by the factors and terms.

Floats of 16 bits or fewer are computed with in float32, as the normalizations are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.ir.relax import Expr
from relaxscript.op.gradients import R, cast_like, dtype_of, known_rank

__all__ = ["Normalized", "gradient_by_parameter", "normalized", "spread", "widened"]


class Normalized(NamedTuple):
    """A tensor without its mean over axes (where `centred`), times `rate`."""

    value: Expr
    rate: Expr
    axes: tuple[int, ...]
    centred: bool

    def gradient(self, grad: Expr) -> Expr:
        """The gradient by the tensor, from that by the value."""
        along = self.value * R.mean(grad * self.value, self.axes, True)
        found = grad - along
        if self.centred:
            found = found - R.mean(grad, self.axes, True)
        made: Expr = found * self.rate
        return made


def widened(x: Expr) -> Expr:
    """A tensor in the dtype in which it is computed with."""
    narrow = dtype_of(x).is_float and dtype_of(x).bits <= 16
    made: Expr = R.astype(x, "float32") if narrow else x
    return made


def normalized(x: Expr, axes: Sequence[int], epsilon: float, centred: bool = True) -> Normalized:
    """A tensor normalized over axes."""
    apart = x - R.mean(x, axes, True) if centred else x
    rate = R.rsqrt(R.mean(R.square(apart), axes, True) + epsilon)
    return Normalized(apart * rate, rate, tuple(axes), centred)


def spread(parameter: Expr, axes: Sequence[int], rank: int) -> Expr:
    """A parameter over `axes`, in the order in which they are named, as one over all axes."""
    order = sorted(range(len(axes)), key=lambda k: axes[k])
    others = [a for a in range(rank) if a not in axes]
    made: Expr = widened(parameter)
    made = made if order == list(range(len(axes))) else R.permute_dims(made, order)
    return R.expand_dims(made, others) if others else made


def gradient_by_parameter(grad: Expr, axes: Sequence[int], parameter: Expr, used: bool) -> Expr:
    """The gradient by a parameter over `axes`, from that by what it was spread to."""
    found: Expr
    if not used:
        found = R.zeros_like(parameter)
        return found
    found = R.sum(grad, [a for a in range(known_rank("data", grad)) if a not in axes])
    left = sorted(axes)
    if list(axes) != left:
        found = R.permute_dims(found, [left.index(a) for a in axes])
    return cast_like(found, parameter)

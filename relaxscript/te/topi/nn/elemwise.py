"""Activations by a largest value and a slope. Source: TVM `topi.nn.elemwise`."""

from __future__ import annotations

import functools
from typing import Any

from relaxscript.errors import OperandError
from relaxscript.te import activation
from relaxscript.te.compute import compute
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.broadcast import elementwise
from relaxscript.te.topi.operands import topi_function
from relaxscript.te.topi.tag import ELEMWISE

__all__ = ["leaky_relu", "prelu", "relu"]


@topi_function
def relu(x: Any) -> Any:
    """The elements that are above 0, and 0 for the others; NaN stays NaN."""
    return elementwise("topi.nn.relu", activation.relu, (x,), "compute", ELEMWISE)


@topi_function
def leaky_relu(x: Any, alpha: float) -> Any:
    """The elements that are above 0, and `alpha` times the others."""
    sloped = functools.partial(activation.leaky_relu, alpha=alpha)
    return elementwise("topi.nn.leaky_relu", sloped, (x,), "compute", ELEMWISE)


@topi_function
def prelu(x: Tensor, slope: Tensor, axis: int = 1) -> Any:
    """The elements that are above 0, and the others times the slope of their place along an axis.

    Raises `OperandError` for an axis that there is not.
    """
    if not -x.ndim <= axis < x.ndim:
        raise OperandError(
            "axis", f"is {axis}", also={"x": f"has {x.ndim} axes"}, code="RX0204",
            message="`topi.nn.prelu` has a slope for each place along an axis of the tensor",
        )  # fmt: skip
    return compute(
        x.shape, lambda *i: activation.prelu(x[i], slope[i[axis]]), name="compute", tag=ELEMWISE
    )

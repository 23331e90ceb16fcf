"""Activation functions of elements, each in the form that its operator's meaning has."""

from __future__ import annotations

import math
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.scalar_functions import FUNCTIONS, min_value

from .element import expm1, logistic, maximum, minimum, negative, select, widen, zero

__all__ = ["gelu", "gelu_tanh", "leaky_relu", "prelu", "relu", "selu", "silu", "softplus"]

FLOAT32 = DataType("float32")
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


def relu(x: PrimExpr) -> PrimExpr:
    """`max(x, 0)`."""
    return maximum(x, zero(x.dtype))


@widen
def leaky_relu(x: PrimExpr, alpha: float) -> PrimExpr:
    """`x` where it is above 0, `alpha * x` elsewhere."""
    return select(x > 0.0, x, x * alpha)


def prelu(x: PrimExpr, slope: PrimExpr) -> PrimExpr:
    """`x` where it is above 0, `slope * x` elsewhere."""
    # Not every narrow format has a 0 to compare with.
    wide = x if x.dtype.bits >= 32 else prim.cast(x, FLOAT32)
    return select(wide > 0.0, x, x * slope)


@widen
def gelu(x: PrimExpr) -> PrimExpr:
    """`x` times the standard normal distribution function, by the error function."""
    return _finite_below(x) * (FUNCTIONS["erf"](x * math.sqrt(0.5)) * 0.5 + 0.5)


@widen
def gelu_tanh(x: PrimExpr) -> PrimExpr:
    """`gelu` by a hyperbolic tangent, which is the sigmoid of twice as much."""
    inner = (x * x * 0.044715 + 1.0) * x * (2 * math.sqrt(2 / math.pi))
    return _finite_below(x) * logistic(inner)


@widen
def selu(x: PrimExpr) -> PrimExpr:
    """The scaled exponential linear unit."""
    below = expm1(minimum(x, 0.0)) * (SELU_ALPHA * SELU_SCALE)
    return below + maximum(x, 0.0) * SELU_SCALE


@widen
def silu(x: PrimExpr) -> PrimExpr:
    """`x` times its sigmoid."""
    return _finite_below(x) * logistic(x)


@widen
def softplus(x: PrimExpr, beta: float, threshold: float) -> PrimExpr:
    """`log(1 + exp(beta * x)) / beta`, and `x` itself above a threshold."""
    scaled = x * beta
    power = FUNCTIONS["exp"](negative(FUNCTIONS["abs"](scaled)))
    soft: Any = FUNCTIONS["log1p"](power) + maximum(scaled, 0.0)
    return select(scaled > threshold, x, prim.Div.make(soft, const(beta, x.dtype)))


def _finite_below(x: PrimExpr) -> PrimExpr:
    """`x`, the least finite number for minus infinity: times 0 that is 0."""
    return maximum(x, min_value(x.dtype))

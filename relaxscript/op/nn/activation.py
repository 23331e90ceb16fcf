"""Activation functions: each element of one tensor on its own, but for the softmax pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.error_function import gelu as exact_gelu
from relaxscript.op.gradients import R, of_element
from relaxscript.op.numeric import logistic, smooth, widen
from relaxscript.op.pieces import PIECE, apply_by_pieces
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.families import compute_elements, unary, unary_rule
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import along_axis, follow
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import Tensor
from relaxscript.opdef.shapes import axis_in, dims_of, require_dtype
from relaxscript.opdef.tensor_expressions import te, topi

__all__ = [
    "gelu", "gelu_tanh", "leakyrelu", "log_softmax", "relu", "selu", "silu", "softmax", "softplus",
]  # fmt: skip


def _activation(
    name: str,
    accepts: str,
    meaning: Any,
    doc: str,
    te: Any,
    grad: Any,
    ulp: float = 0,
    sums: float = 0,
) -> Operator:
    operator = unary(f"nn.{name}", accepts, meaning, doc, operand="data")
    operator.gradient(of_element(grad))
    compute_elements(operator, te, ulp, sums)
    return operator


def _relu(x: Any) -> Any:
    return np.maximum(x, np.zeros((), x.dtype))


def _gelu_tanh(x: Any) -> Any:
    inner = x * x
    inner *= 0.044715
    inner += 1
    inner *= x
    # (1 + tanh(z)) / 2 is the sigmoid of 2z, which does not cancel.
    inner *= 2 * math.sqrt(2 / math.pi)
    return _finite_below(x) * logistic(inner)


def _selu(x: Any) -> Any:
    below = np.minimum(x, 0)
    below = np.expm1(below)
    below *= te.activation.SELU_ALPHA * te.activation.SELU_SCALE
    below += np.maximum(x, 0) * te.activation.SELU_SCALE
    return below


def _silu(x: Any) -> Any:
    return _finite_below(x) * logistic(x)


def _finite_below(x: Any) -> Any:
    """`x`, the least finite number for minus infinity: times 0 that is 0."""
    return np.maximum(x, np.finfo(x.dtype).min)


def _gelu_slope(x: Expr) -> Expr:
    """The distribution function, and `x` times its density."""
    below = R.erf(x * math.sqrt(0.5)) * 0.5 + 0.5
    density = R.exp(R.square(x) * -0.5) * (1 / math.sqrt(2 * math.pi))
    slope: Expr = below + x * density
    return slope


def _gelu_tanh_slope(x: Expr) -> Expr:
    scale, square = 2 * math.sqrt(2 / math.pi), R.square(x)
    share = R.sigmoid(x * (square * 0.044715 + 1.0) * scale)
    slope: Expr = share + x * share * (1.0 - share) * (square * (3 * 0.044715) + 1.0) * scale
    return slope


# fmt: off
# ruff: noqa: E501
relu      = _activation("relu",      "number", _relu,      "`max(x, 0)`; NaN stays NaN.", te=lambda x: te.activation.relu(x), grad=lambda g, x, y: R.where(R.greater(x, 0.0), g, 0.0))
gelu      = _activation("gelu",      "float",  exact_gelu, "`x` times the standard normal distribution function, by the exact error function.", te=lambda x: te.activation.gelu(x), grad=lambda g, x, y: g * _gelu_slope(x), ulp=1, sums=2)
gelu_tanh = _activation("gelu_tanh", "float",  smooth(_gelu_tanh), "The approximation of gelu by a hyperbolic tangent.", te=lambda x: te.activation.gelu_tanh(x), grad=lambda g, x, y: g * _gelu_tanh_slope(x), ulp=6)
selu      = _activation("selu",      "float",  smooth(_selu),      "The scaled exponential linear unit (ONNX `Selu` with its default constants).", te=lambda x: te.activation.selu(x), grad=lambda g, x, y: g * R.where(R.greater(x, 0.0), te.activation.SELU_SCALE, y + te.activation.SELU_ALPHA * te.activation.SELU_SCALE), ulp=8)
silu      = _activation("silu",      "float",  smooth(_silu),      "`x` times its sigmoid.", te=lambda x: te.activation.silu(x), grad=lambda g, x, y: g * (R.sigmoid(x) * (1.0 - y) + y), ulp=6)
# fmt: on


@op("nn.leakyrelu")
def leakyrelu(data: Tensor, alpha: float = 0.01) -> Tensor:
    """`x` where it is above 0, `alpha * x` elsewhere."""
    sloped: Tensor = smooth(lambda x: np.where(x > 0, x, alpha * x))(data)
    return sloped


@op("nn.softplus")
def softplus(data: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """`log(1 + exp(beta * x)) / beta`, and `x` itself where `beta * x` is above `threshold`."""

    def rounded(x: Any) -> Any:
        scaled = x * x.dtype.type(beta)
        rest = np.log1p(np.exp(-np.abs(scaled)))
        rest += np.maximum(scaled, 0)
        rest /= x.dtype.type(beta)
        return np.where(scaled > threshold, x, rest)

    soft: Tensor = smooth(rounded)(data)
    return soft


leakyrelu.layout_rule(follow)
softplus.layout_rule(follow)
leakyrelu.infer_rule(unary_rule("float", operand="data"))
softplus.infer_rule(unary_rule("float", operand="data"))
compute_elements(leakyrelu, lambda x, **given: te.activation.leaky_relu(x, **given))
compute_elements(softplus, lambda x, **given: te.activation.softplus(x, **given), ulp=6)


def _shift(x: Any, axis: int) -> Any:
    # The largest is subtracted, so that no exponential overflows; an empty axis has none.
    # `reduce` is what `numpy.max` and `numpy.sum` call, after twice as long.
    low = np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    return np.subtract(x, low)


@widen
def _softmax(x: Any, axis: int) -> Any:
    e = _shift(x, axis)
    np.exp(e, out=e)
    return np.divide(e, np.add.reduce(e, axis=axis, keepdims=True), out=e)


@widen
def _log_softmax(x: Any, axis: int) -> Any:
    shifted = _shift(x, axis)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))


def _rows(function: Callable[..., Any], data: Any, axis: int) -> Any:
    """The function of rows along an axis."""
    if data.size <= PIECE:  # what `apply_by_pieces` does, without its cost
        return function(data, axis)
    return apply_by_pieces(lambda x: function(x, axis), data, (axis % data.ndim,))


@op("nn.softmax")
def softmax(data: Tensor, axis: int = -1) -> Tensor:
    """`exp(x)` divided by its sum along `axis`, without overflow."""
    found: Tensor = _rows(_softmax, data, axis)
    return found


@op("nn.log_softmax")
def log_softmax(data: Tensor, axis: int = -1) -> Tensor:
    """The logarithm of the softmax along `axis`, without overflow or loss of small values."""
    found: Tensor = _rows(_log_softmax, data, axis)
    return found


def _along_axis(context: InferContext, data: TensorStructInfo, axis: int = -1) -> StructInfo:
    require_dtype("data", data.dtype, "float")
    dims = dims_of(data)
    axis_in(axis, data.ndim if dims is None else len(dims), "axis", "data")
    return data


softmax.infer_rule(_along_axis)
log_softmax.infer_rule(_along_axis)
softmax.layout_rule(along_axis)
log_softmax.layout_rule(along_axis)


def _beside_one(data: Any, axis: int = -1) -> Any:
    """The size of a logarithm and of the sum of which it is one: near 1 its rounding counts."""
    return 1 + np.abs(log_softmax.meaning(data, axis))


# The bounds are for few elements: the meaning adds them up without a wider dtype.
@softmax.compute(ulp=6)
def _(context: ComputeContext, data: Any, axis: int) -> Any:
    return topi.nn.softmax(data, axis)


@log_softmax.compute(ulp=6, sums=2, terms=_beside_one)
def _(context: ComputeContext, data: Any, axis: int) -> Any:
    return topi.nn.log_softmax(data, axis)


# ---------------------------------------------------------------- gradients


@leakyrelu.gradient
def _(context: GradientContext, data: Expr, alpha: float) -> Gradients:
    grad = context.grad
    return (R.where(R.greater(data, 0.0), grad, grad * alpha),)


@softplus.gradient
def _(context: GradientContext, data: Expr, beta: float, threshold: float) -> Gradients:
    grad, scaled = context.grad, data * beta
    return (R.where(R.greater(scaled, threshold), grad, grad * R.sigmoid(scaled)),)


@softmax.gradient
def _(context: GradientContext, data: Expr, axis: int) -> Gradients:
    each = context.grad * context.out
    return (each - context.out * R.sum(each, axis, True),)


@log_softmax.gradient
def _(context: GradientContext, data: Expr, axis: int) -> Gradients:
    grad = context.grad
    return (grad - R.exp(context.out) * R.sum(grad, axis, True),)

"""Operators on each element of one tensor.

Source: numpy's functions of the same names; `round` is to even, as in ONNX `Round`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType, converted
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.families import compute_elements, unary
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import (
    AnyOrder,
    InferLayoutOutput,
    LayoutContext,
    NLayout,
    takes_packed,
)
from relaxscript.opdef.operands import wrong_kind
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Tensor, Value
from relaxscript.opdef.shapes import require_dtype
from relaxscript.opdef.tensor_expressions import te
from relaxscript.opdef.traits import Trait

from .error_function import erf as error_function
from .gradients import R, constant, of_element
from .numeric import floats_only, sigmoid as logistic, widen

__all__ = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_not", "ceil", "clip", "cos",
    "cosh", "erf", "exp", "floor", "isfinite", "isinf", "isnan", "log", "logical_not", "negative",
    "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
    "trunc",
]  # fmt: skip

_BOOL = DataType("bool")
_BY_NUMPY = frozenset({Trait.NUMPY_IS_FASTER})
_DOUBLES_BY_NUMPY = frozenset({Trait.NUMPY_IS_FASTER_IN_FLOAT64})
_TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)


@widen
def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


# fmt: off
# ruff: noqa: E501
abs         = unary("abs",         "number", np.abs,                  "The distance from 0; that of the smallest integer wraps around.", "abs", te=lambda x: te.element.absolute(x), grad=of_element(lambda g, x, y: g * R.sign(x)))
acos        = unary("acos",        "float",  np.arccos,               "The arc cosine, in radians from 0 to pi.", te=lambda x: te.acos(x), ulp=4, traits=_BY_NUMPY, grad=of_element(lambda g, x, y: -g * R.rsqrt(1.0 - R.square(x))))
acosh       = unary("acosh",       "float",  np.arccosh,              "The inverse hyperbolic cosine.", te=lambda x: te.acosh(x), ulp=4, traits=_BY_NUMPY, grad=of_element(lambda g, x, y: g * R.rsqrt(R.square(x) - 1.0)))
asin        = unary("asin",        "float",  np.arcsin,               "The arc sine, in radians from -pi/2 to pi/2.", te=lambda x: te.asin(x), ulp=4, traits=_BY_NUMPY, grad=of_element(lambda g, x, y: g * R.rsqrt(1.0 - R.square(x))))
asinh       = unary("asinh",       "float",  np.arcsinh,              "The inverse hyperbolic sine.", te=lambda x: te.asinh(x), ulp=4, traits=_BY_NUMPY, grad=of_element(lambda g, x, y: g * R.rsqrt(R.square(x) + 1.0)))
atan        = unary("atan",        "float",  np.arctan,               "The arc tangent, in radians from -pi/2 to pi/2.", te=lambda x: te.atan(x), ulp=4, traits=_BY_NUMPY, grad=of_element(lambda g, x, y: g / (R.square(x) + 1.0)))
atanh       = unary("atanh",       "float",  np.arctanh,              "The inverse hyperbolic tangent.", te=lambda x: te.atanh(x), ulp=4, traits=_BY_NUMPY, grad=of_element(lambda g, x, y: g / (1.0 - R.square(x))))
bitwise_not = unary("bitwise_not", "bits",   np.bitwise_not,          "Every bit inverted.", "~", te=lambda x: te.element.bitwise_not(x))
ceil        = unary("ceil",        "number", floats_only(np.ceil),    "Rounded up to an integer.", te=lambda x: te.ceil(x), grad=constant)
cos         = unary("cos",         "float",  np.cos,                  "The cosine of an angle in radians.", te=lambda x: te.cos(x), ulp=4, grad=of_element(lambda g, x, y: -g * R.sin(x)))
cosh        = unary("cosh",        "float",  np.cosh,                 "The hyperbolic cosine.", te=lambda x: te.cosh(x), ulp=4, traits=_BY_NUMPY, grad=of_element(lambda g, x, y: g * R.sinh(x)))
erf         = unary("erf",         "float",  error_function,          "The Gauss error function, within 2 units in the last place.", te=lambda x: te.erf(x), ulp=3, grad=of_element(lambda g, x, y: g * R.exp(-R.square(x)) * _TWO_OVER_SQRT_PI))
exp         = unary("exp",         "float",  np.exp,                  "e to the power of `x`.", te=lambda x: te.exp(x), ulp=3, traits=_DOUBLES_BY_NUMPY, grad=of_element(lambda g, x, y: g * y))
floor       = unary("floor",       "number", floats_only(np.floor),   "Rounded down to an integer.", te=lambda x: te.floor(x), grad=constant)
log         = unary("log",         "float",  np.log,                  "The natural logarithm; NaN of negative numbers.", te=lambda x: te.log(x), ulp=4, traits=_DOUBLES_BY_NUMPY, grad=of_element(lambda g, x, y: g / x))
logical_not = unary("logical_not", "bool",   np.logical_not,          "True where `x` is false.", "not", te=lambda x: te.element.logical_not(x))
negative    = unary("negative",    "number", np.negative,             "`-x`; integers wrap around.", "unary -", te=lambda x: te.element.negative(x), grad=of_element(lambda g, x, y: -g))
round       = unary("round",       "number", floats_only(np.rint),    "Rounded to the nearest integer, halves to the even one.", te=lambda x: te.nearbyint(x), grad=constant)
rsqrt       = unary("rsqrt",       "float",  _rsqrt,                  "1 divided by the square root.", te=lambda x: te.element.rsqrt(x), grad=of_element(lambda g, x, y: g * y * y * y * -0.5))
sigmoid     = unary("sigmoid",     "float",  logistic,                "The logistic function 1 / (1 + exp(-x)).", te=lambda x: te.element.sigmoid(x), ulp=5, grad=of_element(lambda g, x, y: g * y * (1.0 - y)))
sign        = unary("sign",        "number", np.sign,                 "-1, 0 or 1 as `x` is below, at or above 0; NaN of NaN.", te=lambda x: te.element.sign(x), grad=constant)
sin         = unary("sin",         "float",  np.sin,                  "The sine of an angle in radians.", te=lambda x: te.sin(x), ulp=4, grad=of_element(lambda g, x, y: g * R.cos(x)))
sinh        = unary("sinh",        "float",  np.sinh,                 "The hyperbolic sine.", te=lambda x: te.sinh(x), ulp=4, traits=_BY_NUMPY, grad=of_element(lambda g, x, y: g * R.cosh(x)))
square      = unary("square",      "number", np.square,               "`x * x`; integers wrap around.", te=lambda x: te.element.square(x), grad=of_element(lambda g, x, y: g * x * 2.0))
sqrt        = unary("sqrt",        "float",  np.sqrt,                 "The square root; NaN of negative numbers.", te=lambda x: te.sqrt(x), grad=of_element(lambda g, x, y: g * 0.5 / y))
tan         = unary("tan",         "float",  np.tan,                  "The tangent of an angle in radians.", te=lambda x: te.tan(x), ulp=4, traits=_BY_NUMPY, grad=of_element(lambda g, x, y: g * (R.square(y) + 1.0)))
tanh        = unary("tanh",        "float",  np.tanh,                 "The hyperbolic tangent.", te=lambda x: te.tanh(x), ulp=4, traits=_DOUBLES_BY_NUMPY, grad=of_element(lambda g, x, y: g * (1.0 - R.square(y))))
trunc       = unary("trunc",       "number", floats_only(np.trunc),   "Rounded towards 0 to an integer.", te=lambda x: te.trunc(x), grad=constant)
isfinite    = unary("isfinite",    "number", np.isfinite,             "True where `x` is neither infinite nor NaN.", result=_BOOL, te=lambda x: te.isfinite(x))
isinf       = unary("isinf",       "number", np.isinf,                "True where `x` is infinite.",                 result=_BOOL, te=lambda x: te.isinf(x))
isnan       = unary("isnan",       "number", np.isnan,                "True where `x` is NaN.",                      result=_BOOL, te=lambda x: te.isnan(x))
# fmt: on


@op()
def clip(x: Tensor, min: Value, max: Value) -> Tensor:
    """`x` held between the scalars `min` and `max`, which are converted to its dtype.

    Where `min` is above `max` the result is `max`; NaN stays NaN.
    """
    low, high = (converted(np.asarray(_number(bound)), x.dtype) for bound in (min, max))
    return np.asarray(np.minimum(np.maximum(x, low), high))


def _number(bound: Any) -> Any:
    return getattr(bound, "value", bound)


@clip.infer_rule
def _(context: InferContext, x: TensorStructInfo, min: StructInfo, max: StructInfo) -> StructInfo:
    require_dtype("x", x.dtype, "number")
    for name, info in (("min", min), ("max", max)):
        if not isinstance(info, PrimStructInfo):
            raise wrong_kind(name, info, "prim")
    return x


compute_elements(clip, lambda x, low, high: te.element.clip(x, low, high))


@clip.layout_rule
@takes_packed
def _(context: LayoutContext, x: AnyOrder, min: NLayout, max: NLayout) -> InferLayoutOutput:
    return InferLayoutOutput((x, min, max), x)


@clip.gradient
def _(context: GradientContext, x: Expr, min: Expr, max: Expr) -> Gradients:
    inside = R.logical_and(R.greater_equal(x, min), R.less_equal(x, max))
    return R.where(inside, context.grad, 0.0), None, None

"""Operators on two tensors of one dtype, element by element, with numpy's broadcasting.

Source: numpy's functions of the same names; division of integers as in C (TVM's `divide`, `mod`).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from relaxscript.opdef.families import compute_elements, elementwise
from relaxscript.opdef.tensor_expressions import te
from relaxscript.opdef.traits import Trait

from .gradients import R, constant, of_elements
from .pieces import apply_elementwise

__all__ = [
    "add", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "floor_divide", "floor_mod",
    "left_shift", "log_add_exp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "mod",
    "multiply", "power", "right_shift", "subtract",
]  # fmt: skip


def _divide(x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return np.true_divide(x, y)
    quotient = np.floor_divide(x, y)
    inexact = np.remainder(x, y) != 0
    return quotient + (inexact & ((x < 0) != (y < 0))).astype(x.dtype)


def _floor_divide(x: Any, y: Any) -> Any:
    if x.dtype != np.float32:
        return np.floor_divide(x, y)
    # numpy's difference of `x` and the remainder has no room in float32: one too few comes out.
    return apply_elementwise(functools.partial(np.floor_divide, dtype=np.float64), np.float32, x, y)


def _power(x: Any, y: Any) -> Any:
    if x.dtype.kind != "i":
        return np.power(x, y)
    # 1 / x ** -y, rounded towards zero as in C: only 1 and -1 leave anything.
    odd = (y & 1).astype(bool)
    inverse = np.where(x == 1, 1, np.where(x == -1, np.where(odd, -1, 1), 0)).astype(x.dtype)
    return np.where(y < 0, inverse, np.power(x, np.maximum(y, 0)))


def _log_add_exp(x: Any, y: Any) -> Any:
    if x.dtype.itemsize > 2:
        return np.logaddexp(x, y)
    return apply_elementwise(
        lambda a, b: np.logaddexp(a.astype(np.float32), b.astype(np.float32)), x.dtype, x, y
    )


# fmt: off
# ruff: noqa: E501
add          = elementwise("add",          "number",  np.add,          "The sum `x1 + x2`; integers wrap around.", "+", te=lambda a, b: te.element.add(a, b), grad=of_elements(lambda g, a, b, y: (g, g)))
subtract     = elementwise("subtract",     "number",  np.subtract,     "The difference `x1 - x2`; integers wrap around.", "-", te=lambda a, b: te.element.subtract(a, b), grad=of_elements(lambda g, a, b, y: (g, -g)))
multiply     = elementwise("multiply",     "number",  np.multiply,     "The product `x1 * x2`, element by element; integers wrap around.", "*", te=lambda a, b: te.element.multiply(a, b), grad=of_elements(lambda g, a, b, y: (g * b, g * a)))
divide       = elementwise("divide",       "number",  _divide,         "The quotient `x1 / x2`; that of integers is rounded towards zero, as in C.", "/", te=lambda a, b: te.element.divide(a, b), grad=of_elements(lambda g, a, b, y: (g / b, -g * y / b)))
floor_divide = elementwise("floor_divide", "number",  _floor_divide,   "The quotient rounded down, Python's `x1 // x2`.", "//", te=lambda a, b: te.element.floor_divide(a, b), grad=constant)
mod          = elementwise("mod",          "number",  np.fmod,         "The remainder of the division rounded towards zero; its sign is that of `x1`, as in C.", te=lambda a, b: te.element.mod(a, b), grad=of_elements(lambda g, a, b, y: (g, -g * R.trunc(a / b))))
floor_mod    = elementwise("floor_mod",    "number",  np.remainder,    "The remainder of the division rounded down, Python's `x1 % x2`; its sign is that of `x2`.", "%", te=lambda a, b: te.element.floor_mod(a, b), grad=of_elements(lambda g, a, b, y: (g, -g * R.floor(a / b))))
power        = elementwise("power",        "number",  _power,          "`x1` to the power of `x2`; a negative power of an integer is rounded towards zero.", "**", te=lambda a, b: te.element.power(a, b), ulp=4, grad=of_elements(lambda g, a, b, y: (g * b * a ** (b - 1.0), g * y * R.log(a))))
atan2        = elementwise("atan2",        "float",   np.arctan2,      "The angle of the point `(x2, x1)`, in radians from -pi to pi.", te=lambda a, b: te.element.atan2(a, b), ulp=4, traits=frozenset({Trait.NUMPY_IS_FASTER}), grad=of_elements(lambda g, a, b, y: (g * b / (R.square(a) + R.square(b)), -g * a / (R.square(a) + R.square(b)))))
log_add_exp  = elementwise("log_add_exp",  "float",   _log_add_exp,    "`log(exp(x1) + exp(x2))`, without overflow.", grad=of_elements(lambda g, a, b, y: (g * R.exp(a - y), g * R.exp(b - y))))
maximum      = elementwise("maximum",      "any",     np.maximum,      "The larger of `x1` and `x2`; NaN where either is.", te=lambda a, b: te.element.maximum(a, b), grad=of_elements(lambda g, a, b, y: (R.where(R.less(a, b), 0.0, g), R.where(R.less(a, b), g, 0.0))))
minimum      = elementwise("minimum",      "any",     np.minimum,      "The smaller of `x1` and `x2`; NaN where either is.", te=lambda a, b: te.element.minimum(a, b), grad=of_elements(lambda g, a, b, y: (R.where(R.greater(a, b), 0.0, g), R.where(R.greater(a, b), g, 0.0))))
logical_and  = elementwise("logical_and",  "bool",    np.logical_and,  "True where both `x1` and `x2` are true; both are evaluated.", "and", te=lambda a, b: te.element.logical_and(a, b))
logical_or   = elementwise("logical_or",   "bool",    np.logical_or,   "True where `x1` or `x2` is true; both are evaluated.", "or", te=lambda a, b: te.element.logical_or(a, b))
logical_xor  = elementwise("logical_xor",  "bool",    np.logical_xor,  "True where exactly one of `x1` and `x2` is true.", te=lambda a, b: te.element.logical_xor(a, b))
bitwise_and  = elementwise("bitwise_and",  "bits",    np.bitwise_and,  "The bits that are set in both `x1` and `x2`.", "&", te=lambda a, b: te.element.bitwise_and(a, b))
bitwise_or   = elementwise("bitwise_or",   "bits",    np.bitwise_or,   "The bits that are set in `x1` or `x2`.", "|", te=lambda a, b: te.element.bitwise_or(a, b))
bitwise_xor  = elementwise("bitwise_xor",  "bits",    np.bitwise_xor,  "The bits that are set in exactly one of `x1` and `x2`.", "^", te=lambda a, b: te.element.bitwise_xor(a, b))
left_shift   = elementwise("left_shift",   "integer", np.left_shift,   "`x1` with its bits moved up by `x2`; bits that leave are lost.", "<<", te=lambda a, b: te.element.left_shift(a, b))
right_shift  = elementwise("right_shift",  "integer", np.right_shift,  "`x1` with its bits moved down by `x2`; the sign stays.", ">>", te=lambda a, b: te.element.right_shift(a, b))
# fmt: on

# The logarithm of the sum may cancel what is larger.
compute_elements(log_add_exp, lambda a, b: te.element.log_add_exp(a, b), ulp=4, sums=4)

"""Functions of one tensor, element by element.

Source: TVM `topi.math`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.te import element
from relaxscript.te.compute import dtype_of
from relaxscript.te.tensor import TENSOR_OPERATORS, as_element

from .broadcast import elementwise
from .operands import topi_function
from .tag import ELEMWISE

__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_not",
    "cast",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "erf",
    "exp",
    "floor",
    "identity",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log2",
    "log10",
    "logical_not",
    "negative",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]  # fmt: skip


def _unary(name: str, function: Callable[[Any], Any], doc: str) -> Callable[..., Any]:
    @topi_function
    def unary(x: Any) -> Any:
        return elementwise(f"topi.{name}", function, (x,), f"T_{name}", ELEMWISE)

    unary.__name__ = unary.__qualname__ = name
    unary.__doc__ = doc
    return unary


def _intrinsic(name: str, doc: str) -> Callable[..., Any]:
    return _unary(name, FUNCTIONS[name], doc)


abs = _intrinsic("abs", "The absolute values.")
acos = _intrinsic("acos", "The angles, in radians, of which these are the cosines.")
acosh = _intrinsic("acosh", "The inverse of `cosh`.")
asin = _intrinsic("asin", "The angles, in radians, of which these are the sines.")
asinh = _intrinsic("asinh", "The inverse of `sinh`.")
atan = _intrinsic("atan", "The angles, in radians, of which these are the tangents.")
atanh = _intrinsic("atanh", "The inverse of `tanh`.")
bitwise_not = _unary("bitwise_not", element.bitwise_not, "The bits, each the other way.")
ceil = _intrinsic("ceil", "The least whole numbers that are not less.")
cos = _intrinsic("cos", "The cosines of angles in radians.")
cosh = _intrinsic("cosh", "The hyperbolic cosines.")
erf = _intrinsic("erf", "The error function.")
exp = _intrinsic("exp", "e to the power of the elements.")
floor = _intrinsic("floor", "The greatest whole numbers that are not greater.")
identity = _unary("identity", lambda x: x, "The elements as they are.")
isfinite = _intrinsic("isfinite", "Whether elements are neither infinite nor NaN.")
isinf = _intrinsic("isinf", "Whether elements are infinite.")
isnan = _intrinsic("isnan", "Whether elements are NaN.")
log = _intrinsic("log", "The natural logarithms.")
log10 = _intrinsic("log10", "The logarithms to base 10.")
log2 = _intrinsic("log2", "The logarithms to base 2.")
logical_not = _unary("logical_not", element.logical_not, "Whether elements are false.")
negative = _unary("negative", element.negative, "The elements with the other sign.")
round = _unary("round", FUNCTIONS["nearbyint"], "The nearest whole numbers, of two the even one.")
rsqrt = _unary("rsqrt", element.rsqrt, "One over the square roots.")
sigmoid = _unary("sigmoid", element.sigmoid, "1 / (1 + exp(-x)).")
sign = _unary("sign", element.sign, "-1, 0 or 1 by the sign of the elements; NaN stays NaN.")
sin = _intrinsic("sin", "The sines of angles in radians.")
sinh = _intrinsic("sinh", "The hyperbolic sines.")
sqrt = _intrinsic("sqrt", "The square roots.")
square = _unary("square", element.square, "The elements times themselves.")
tan = _intrinsic("tan", "The tangents of angles in radians.")
tanh = _intrinsic("tanh", "The hyperbolic tangents.")
trunc = _intrinsic("trunc", "The elements without what is behind the point.")

TENSOR_OPERATORS["~"] = bitwise_not


@topi_function
def clip(x: Any, a_min: Any, a_max: Any) -> Any:
    """The elements, those below `a_min` and above `a_max` replaced by these."""
    # A plain number takes the dtype of the elements.
    bounds = [
        bound if isinstance(bound, (bool, int, float)) else as_element(bound)
        for bound in (a_min, a_max)
    ]

    def bounded(e: PrimExpr) -> PrimExpr:
        low, high = (prim.like(bound, e) for bound in bounds)
        return element.clip(e, low, high)

    return elementwise("topi.clip", bounded, (x,), "compute", ELEMWISE)


@topi_function
def cast(x: Any, dtype: Any, span: Any = None) -> Any:
    """The elements in another dtype, with C's rules."""
    wanted = dtype_of(dtype)
    return elementwise("topi.cast", lambda e: prim.cast(e, wanted), (x,), "T_cast", ELEMWISE)


TENSOR_OPERATORS["astype"] = cast

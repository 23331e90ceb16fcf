"""exp, erf and tanh to fewer digits, in fewer steps. Source: TVM `topi.math` for the names.

Each is a row of sums and products in float32, without a branch or a call. What is narrower is
rounded once, at the end. Other dtypes get the functions to all digits. Bounds are of what the
steps give in float32, which rounds each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir.prim import PrimExpr, Select, const
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.te.element import widen

from .broadcast import elementwise
from .operands import topi_function
from .tag import ELEMWISE

__all__ = ["fast_erf", "fast_exp", "fast_tanh"]

_INT32 = DataType("int32")

LOG2_E = 1.44269504088896341
# ln 2 in two parts; the product of the first with any exponent is exact.
LN_2 = (0.693145751953125, 1.428606765330187e-06)
# What is added to this becomes a whole number, in the lowest bits: the exponent of a float.
ROUND = 1.5 * 2.0**23 + 127
# Outside, what belongs to the exponents 0 and infinity: so far the lowest bits are right.
EXP_LOW, EXP_HIGH = -88.0, 88.9
# exp(r) for |r| <= ln(2) / 2, fitted to the least relative error, as all that follow.
EXP = (
    1.0, 0.9999997019767761, 0.4999914765357971, 0.1666763871908188, 0.041898299008607864,
    0.00829024612903595,
)  # fmt: skip
# tanh(x) / x for |x| <= 8, as a quotient of polynomials of x**2.
TANH_ONE = 8.0
TANH = (
    0.9999997615814209, 0.1271231472492218, 0.002696413081139326, 7.1625163400312886e-06,
    -6.14230488693579e-09,
)  # fmt: skip
TANH_BELOW = (1.0, 0.4604547619819641, 0.022850316017866135, 0.00019674554641824216)
# erf(x) / x for |x| <= 3.7, in the same way.
ERF_ONE = 3.7
ERF = (
    1.128378987312317, 0.3228690028190613, 0.06643017381429672, 0.008511687628924847,
    0.0002210909588029608, -1.3428947340798914e-06,
)  # fmt: skip
ERF_BELOW = (
    1.0, 0.6194617748260498, 0.1653946191072464, 0.024467121809720993, 0.002006783150136471,
)  # fmt: skip


@topi_function
def fast_exp(x: Any) -> Any:
    """e to the power of the elements, to 4e-7 of it.

    Below -87.68 it is 0, above 88.37 infinite. Of NaN it is NaN.
    """
    return _elements("fast_exp", exp_element, FUNCTIONS["exp"], x)


@topi_function
def fast_erf(x: Any) -> Any:
    """The error function of the elements, to 8e-7 of it.

    It may be 3e-7 above 1. Of infinity it is near 1, of NaN it is NaN, and -0 stays -0.
    """
    return _elements("fast_erf", _erf, FUNCTIONS["erf"], x)


@topi_function
def fast_tanh(x: Any) -> Any:
    """The hyperbolic tangent of the elements, to 8e-7 of it.

    It may be 3e-7 above 1. Of infinity it is near 1, of NaN it is NaN, and -0 stays -0.
    """
    return _elements("fast_tanh", _tanh, FUNCTIONS["tanh"], x)


def is_fast(dtype: DataType) -> bool:
    """True for floats of 32 bits and fewer: others have no function to fewer digits."""
    return dtype.is_float and dtype.bits <= 32


def _elements(
    name: str, fast: Callable[[PrimExpr], PrimExpr], exact: Callable[[PrimExpr], PrimExpr], x: Any
) -> Any:
    def function(e: PrimExpr) -> PrimExpr:
        return widen(fast)(e) if is_fast(e.dtype) else exact(e)

    return elementwise(f"topi.{name}", function, (x,), f"T_{name}", ELEMWISE)


def exp_element(x: PrimExpr) -> PrimExpr:
    """e to the power of a float32.

    With n the integer nearest to x / ln 2, exp(x) = 2**n * exp(x - n ln 2).
    """
    y = _clamp(x, EXP_LOW, EXP_HIGH)
    shifted = _fused(y, LOG2_E, ROUND)
    n = shifted - ROUND
    left = _fused(n, -LN_2[1], _fused(n, -LN_2[0], y))
    bits = FUNCTIONS["reinterpret"](_INT32.with_lanes(x.dtype.lanes), shifted)
    power = FUNCTIONS["reinterpret"](x.dtype, bits << const(23, bits.dtype))
    return _polynomial(left, EXP) * power


def _tanh(x: PrimExpr) -> PrimExpr:
    return _odd_quotient(_clamp(x, -TANH_ONE, TANH_ONE), TANH, TANH_BELOW)


def _erf(x: PrimExpr) -> PrimExpr:
    return _odd_quotient(_clamp(x, -ERF_ONE, ERF_ONE), ERF, ERF_BELOW)


def _odd_quotient(x: PrimExpr, above: Sequence[float], below: Sequence[float]) -> PrimExpr:
    square = x * x
    return x * _polynomial(square, above) / _polynomial(square, below)


def _polynomial(x: PrimExpr, coefficients: Sequence[float]) -> PrimExpr:
    """The polynomial with these coefficients, that of the lowest power first, by Horner's rule."""
    *rest, last = coefficients
    found: PrimExpr = const(last, x.dtype)
    for coefficient in reversed(rest):
        found = _fused(found, x, coefficient)
    return found


def _fused(a: PrimExpr, b: PrimExpr | float, c: PrimExpr | float) -> PrimExpr:
    """`a * b + c`, rounded once."""
    operands = (e if isinstance(e, PrimExpr) else const(e, a.dtype) for e in (a, b, c))
    return FUNCTIONS["call_llvm_pure_intrin"](a.dtype, "llvm.fma", *operands)


def _clamp(x: PrimExpr, low: float, high: float) -> PrimExpr:
    """`x`, or the limit that it exceeds; NaN stays."""
    below = Select.make(x > high, const(high, x.dtype), x)
    return Select.make(x < low, const(low, x.dtype), below)

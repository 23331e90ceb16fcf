"""log and log2: the exponent, and a polynomial of what the mantissa is more than one.

Source: the classic reduction to [2/3, 4/3), as in N. Brisebarre, J.-M. Muller et al., "Handbook of
Floating-Point Arithmetic". The polynomials are fitted to the least relative error.
"""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .steps import LetChain, bits_of, float_of, fma, polynomial, select

__all__ = ["SplitFloat", "log", "log2", "split"]

INF, NAN = float("inf"), float("nan")
NORMAL = 2.0**-126  # the least normal number
TWO_THIRDS = 0x3F2AAAAB  # its bits
EXPONENT = -0x800000  # the bits of sign and exponent
LN_2 = 0.693147182464599609375
# 1 / ln 2 in two parts.
LOG2_E = (1.44269502162933349609375, 1.9259629911266175e-08)

# (log(1 + f) - f) / f**2 and (log2(1 + f) - f / ln 2) / f**2 for f from -1/3 to 1/3.
LOG = (
    -0.5, 0.3333321511745453, -0.2499980330467224, 0.2001044899225235, -0.16680246591567993,
    0.1400521695613861, -0.12187445163726807, 0.13987509906291962, -0.1287839263677597,
)  # fmt: skip
LOG2 = (
    -0.7213475108146667, 0.4808967113494873, -0.3606714904308319, 0.2886865735054016,
    -0.2406337559223175, 0.20209665596485138, -0.17592114210128784, 0.2016061246395111,
    -0.18552233278751373,
)  # fmt: skip


class SplitFloat(NamedTuple):
    """A positive number as `mantissa * 2**exponent`; both are floats."""

    mantissa: PrimExpr
    exponent: PrimExpr


def split(steps: LetChain, x: PrimExpr, start: int) -> SplitFloat:
    """A positive number with a mantissa from `start`, which is given by its bits, to twice that.

    Denormal numbers are made normal first. What it gives for others than positive finite numbers
    means nothing.
    """
    denormal = steps.let(x < NORMAL)
    bits = steps.let(bits_of(select(denormal, x * 2.0**23, x)))
    above = steps.let((bits - start) & EXPONENT)
    exponent = prim.cast(above >> 23, DataType("float32").with_lanes(x.dtype.lanes))
    exponent = exponent - select(denormal, 23.0, _zero(x))
    return SplitFloat(steps.let(float_of(bits - above)), steps.let(exponent))


def log(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """The natural logarithm of `x`, to 0.94 ulp.

    With x = m * 2**e, log(x) = e ln 2 + log(m), and m - 1 is exact. -inf of zero, NaN of what is
    less.
    """
    mantissa, exponent = split(steps, x, TWO_THIRDS)
    f = steps.let(mantissa - 1.0)
    found = fma(exponent, LN_2, fma(f * f, polynomial(f, LOG), f))
    return _where_defined(x, found)


def log2(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """The logarithm of `x` to the base of 2, to 1.42 ulp; that of a power of two is exact."""
    mantissa, exponent = split(steps, x, TWO_THIRDS)
    f = steps.let(mantissa - 1.0)
    small = f * fma(f, polynomial(f, LOG2), LOG2_E[1])
    return _where_defined(x, exponent + fma(f, LOG2_E[0], small))


def _where_defined(x: PrimExpr, found: PrimExpr) -> PrimExpr:
    """The logarithm of positive finite numbers, and what it is of the others."""
    found = select(x < INF, found, x)
    found = select(x < 0.0, NAN, found)
    return select(prim.EQ.make(x, _zero(x)), -INF, found)


def _zero(x: PrimExpr) -> PrimExpr:
    return prim.const(0.0, x.dtype)

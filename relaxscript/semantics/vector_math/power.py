"""pow and rsqrt.

Source: ISO C, Annex F.9.4.4, for the results of pow for zeros, infinities and NaN.
"""

from __future__ import annotations

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS as T

from .logarithm import split
from .steps import LetChain, bits_of, float_of, fma, like, polynomial, select

__all__ = ["pow", "rsqrt"]

INF, NAN = float("inf"), float("nan")
ROOT_OF_HALF = 0x3F3504F3  # the bits of sqrt(1/2)
# A number to which a small one can only be added as a whole one, in the lowest bits.
ROUND = 1.5 * 2.0**52

# log2((1 + z) / (1 - z)) / z as a polynomial of z**2, for |z| <= 0.1716.
LOG2 = (
    2.885390081790167, 0.9617966732479609, 0.5770836018170326, 0.41167175311347143,
    0.3407473651545066,
)  # fmt: skip
# 2**r for |r| <= 1/2.
EXP2 = (
    1.0000000005550813, 0.6931472057670378, 0.24022646885845786, 0.0555032871196968,
    0.009618489269684814, 0.001339995755005227, 0.00015345781417147955,
)  # fmt: skip


def pow(steps: LetChain, x: PrimExpr, y: PrimExpr) -> PrimExpr:
    """`x` to the power of `y`, to 0.54 ulp.

    |x|**y = 2**(y log2 |x|) in float64, rounded once: an error of the logarithm counts as often as
    `y` says, and float32 has no room for that. Signs and special operands come after.
    """
    a = steps.let(T["fabs"](x))
    power = steps.let(_power_of_two(steps, prim.cast(y, _wide(x)) * _log2(steps, a)))
    whole = steps.let(prim.EQ.make(T["nearbyint"](y), y))
    half = steps.let(y * 0.5)
    odd = prim.And.make(whole, prim.NE.make(T["nearbyint"](half), half))
    negative = select(odd, bits_of(x) & -(1 << 31), like(bits_of(x), 0))
    found = float_of(bits_of(power) | negative)
    rootless = prim.And.make(prim.And.make(x < 0.0, x > -INF), prim.Not.make(whole))
    found = select(rootless, NAN, found)
    one = like(x, 1.0)
    endless = prim.And.make(prim.EQ.make(a, one), prim.EQ.make(T["fabs"](y), like(y, INF)))
    trivial = prim.Or.make(prim.EQ.make(x, one), prim.EQ.make(y, like(y, 0.0)))
    return select(prim.Or.make(trivial, endless), 1.0, found)


def rsqrt(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """1 / sqrt(x), to 1.50 ulp: both are instructions that round once."""
    return like(x, 1.0) / T["sqrt"](x)


def _wide(x: PrimExpr) -> DataType:
    return DataType("float64").with_lanes(x.dtype.lanes)


def _log2(steps: LetChain, a: PrimExpr) -> PrimExpr:
    """The logarithm of a number that is not negative, in float64: with z = f / (2 + f), a series.

    -inf of zero, and infinity and NaN stay.
    """
    mantissa, exponent = split(steps, a, ROOT_OF_HALF)
    f = steps.let(prim.cast(mantissa, _wide(a)) - 1.0)
    z = steps.let(f / (f + 2.0))
    found = fma(z, polynomial(steps.let(z * z), LOG2), prim.cast(exponent, _wide(a)))
    found = select(a < INF, found, prim.cast(a, _wide(a)))
    return select(prim.EQ.make(a, like(a, 0.0)), -INF, found)


def _power_of_two(steps: LetChain, t: PrimExpr) -> PrimExpr:
    """2**t as a float32; beyond what it can hold, exponents are as good as those at its ends."""
    t = steps.let(t)
    t = steps.let(select(t > 130.0, 130.0, t))
    t = steps.let(select(t < -160.0, -160.0, t))
    shifted = steps.let(t + ROUND)
    p = polynomial(steps.let(t - (shifted - ROUND)), EXP2)
    scale = float_of((bits_of(shifted) << 52) + (1023 << 52))
    return prim.cast(p * scale, DataType("float32").with_lanes(t.dtype.lanes))

"""sin and cos: the argument less a multiple of pi / 2, and a polynomial of the rest.

Arguments up to `LIMIT` are reduced by products with pi / 2 in three parts. Larger ones are reduced
by those bits of 2 / pi that matter to them, in integers. That happens only where a vector has such
a lane; the other lanes are what they are in a vector without.

Source: W. J. Cody, W. Waite, "Software Manual for the Elementary Functions"; M. H. Payne, R. N.
Hanek, "Radian Reduction for Trigonometric Functions" (1983).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS as T

from .steps import LetChain, any_lane, bits_of, float_of, fma, like, polynomial, select

__all__ = ["cos", "sin"]

LIMIT = 2.0**18
INF = float("inf")
TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
# A number to which a small one can only be added as a whole one, in the lowest bits.
ROUND = 1.5 * 2.0**23

# (sin(r) / r - 1) / r**2 and cos(r) as polynomials of r**2, for |r| a little beyond pi / 4.
SIN = (-0.16666653752326965, 0.00833209976553917, -0.0001950651203515008)
COS = (1.0, -0.5, 0.04166664183139801, -0.0013887130189687014, 2.4412085622316226e-05)

# 2 / pi behind seven zeros, in words of 32 bits. The words begin with the bit that matters least to
# numbers from `LIMIT` on and yet matters: before it are multiples of four times 2 / pi.
WORDS = (
    0x0145F306, 0xDC9C882A, 0x53F84EAF, 0xA3EA69BB, 0x81B6C52B, 0x32788720, 0x83FCA2C7,
)  # fmt: skip
HALF_PI_BY_2_62 = 3.4061215800865545e-19


class Reduced(NamedTuple):
    """An angle as a number of quarter turns, int32, and a rest in radians, float32."""

    quarters: PrimExpr
    rest: PrimExpr


def sin(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """The sine of `x`, to 1.56 ulp; NaN of infinities."""
    return _turned(steps, x, cosine=False)


def cos(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """The cosine of `x`, to 1.56 ulp; NaN of infinities."""
    return _turned(steps, x, cosine=True)


def _turned(steps: LetChain, x: PrimExpr, cosine: bool) -> PrimExpr:
    a = steps.let(T["fabs"](x))
    is_large = steps.let(prim.And.make(a > LIMIT, a < INF))
    near = _reduce(steps, a)
    small, large = LetChain(), LetChain()
    far = _reduce_large(large, a)
    chosen = Reduced(
        select(is_large, far.quarters, near.quarters), select(is_large, far.rest, near.rest)
    )
    return T["if_then_else"](
        any_lane(is_large),
        large.then(_value(large, x, chosen, cosine)),
        small.then(_value(small, x, near, cosine)),
    )


def _reduce(steps: LetChain, a: PrimExpr) -> Reduced:
    """The first difference is exact, the second is rounded once, the third hardly."""
    shifted = steps.let(fma(a, TWO_OVER_PI, ROUND))
    n = steps.let(shifted - ROUND)
    rest = a
    for part in HALF_PI:
        rest = fma(n, -part, rest)
    return Reduced(bits_of(shifted), steps.let(rest))


def _reduce_large(steps: LetChain, a: PrimExpr) -> Reduced:
    """The product of the mantissa and 96 bits of 2 / pi, of which the upper 64 are computed.

    The first two of them are the quarters, the others the rest. No float32 is so near a multiple of
    pi / 2 that more bits would matter.
    """
    lanes = a.dtype.lanes
    wide = DataType("uint64").with_lanes(lanes)
    bits = steps.let(T["reinterpret"](DataType("uint32").with_lanes(lanes), a))
    begin = steps.let((bits >> 23) - (127 + 18))
    window = _words_from(steps, begin >> 5, begin & 31)
    mantissa = steps.let(prim.cast((bits & 0x7FFFFF) | 0x800000, wide))
    first, second, third = (mantissa * prim.cast(word, wide) for word in window)
    product = steps.let((third >> 32) + second + (first << 32))
    quarters = steps.let((product + (1 << 61)) >> 62)
    signed = T["reinterpret"](DataType("int64").with_lanes(lanes), product - (quarters << 62))
    rest = prim.cast(signed, DataType("float64").with_lanes(lanes)) * HALF_PI_BY_2_62
    number = DataType("int32").with_lanes(lanes)
    return Reduced(prim.cast(quarters, number), steps.let(prim.cast(rest, a.dtype)))


def _words_from(steps: LetChain, word: PrimExpr, bit: PrimExpr) -> list[PrimExpr]:
    """Three words of 2 / pi from some bit of some word on."""
    word, bit = steps.let(word), steps.let(bit)
    found = []
    for k in range(4):
        chosen = like(word, WORDS[k + 3])
        for j in (2, 1, 0):
            chosen = select(prim.EQ.make(word, like(word, j)), WORDS[k + j], chosen)
        found.append(steps.let(chosen))
    behind = steps.let(32 - bit)
    return [steps.let((a << bit) | (b >> behind)) for a, b in pairwise(found)]


def _value(steps: LetChain, x: PrimExpr, angle: Reduced, cosine: bool) -> PrimExpr:
    """The function of an angle |x|; sin takes the sign of `x`."""
    quarters, r = steps.let(angle.quarters), steps.let(angle.rest)
    s = steps.let(r * r)
    of_sin = fma(polynomial(s, SIN) * s, r, r)
    of_cos = polynomial(s, COS)
    odd = prim.NE.make(quarters & 1, like(quarters, 0))
    if cosine:
        return _with_sign(select(odd, of_sin, of_cos), (quarters + 1) << 30)
    return _with_sign(select(odd, of_cos, of_sin), (quarters << 30) ^ bits_of(x))


def _with_sign(value: PrimExpr, bits: PrimExpr) -> PrimExpr:
    """A value whose sign is changed where the sign of the bits is set."""
    return float_of(bits_of(value) ^ (bits & -(1 << 31)))

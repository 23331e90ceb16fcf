"""exp and exp2: a power of two, times a polynomial of what is left of the exponent.

Source: W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", for the reduction in
two parts. The polynomials are fitted to the least relative error, with coefficients in float32.
"""

from __future__ import annotations

from relaxscript.ir.prim import PrimExpr

from .steps import LetChain, bits_of, float_of, fma, polynomial, select

__all__ = ["exp", "exp2", "exp_of_normal"]

LOG2_E = 1.44269504088896341
# ln 2 in two parts; the product of the first with any exponent is exact.
LN_2 = (0.693145751953125, 1.428606765330187e-06)
# A number to which a small one can only be added as a whole one, in the lowest bits. There it joins
# what is added to this one: the exponent of one, or of each of two factors.
ROUND = 1.5 * 2.0**23
ROUND_OF_ONE, ROUND_OF_TWO = ROUND + 127, ROUND + 2 * 127

# exp(r) for |r| <= ln(2) / 2, to 0.05 * 2**-24, and 2**r for |r| <= 1/2, to 0.05 * 2**-24.
EXP = (
    1.0, 1.0, 0.4999999403953552, 0.1666652113199234, 0.04166826978325844, 0.008368680253624916,
    0.001382041140459478,
)  # fmt: skip
EXP2 = (
    1.0, 0.6931471824645996, 0.24022647738456726, 0.05550359562039375, 0.009618501178920269,
    0.0013390982057899237, 0.00015328536392189562,
)  # fmt: skip


def exp(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """e to the power of `x`, to 0.90 ulp.

    With n the integer nearest to x / ln 2, exp(x) = 2**n * exp(x - n ln 2). Two factors make
    2**n, since it may be no float32; the second product is what rounds to a denormal number.
    """
    y = _clamp(steps, x, -104.0, 89.0)
    shifted = steps.let(fma(y, LOG2_E, ROUND_OF_TWO))
    p = _reduced_exp(steps, y, steps.let(shifted - ROUND_OF_TWO))
    return _times_power_of_two(steps, p, shifted)


def exp2(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """2 to the power of `x`, to 0.88 ulp; integer powers are exact."""
    y = _clamp(steps, x, -150.0, 128.0)
    shifted = steps.let(y + ROUND_OF_TWO)
    p = polynomial(steps.let(y - (shifted - ROUND_OF_TWO)), EXP2)
    return _times_power_of_two(steps, p, shifted)


def exp_of_normal(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """e to the power of `x` where the result is a normal number, as for |x| <= 87."""
    shifted = steps.let(fma(x, LOG2_E, ROUND_OF_ONE))
    p = _reduced_exp(steps, x, steps.let(shifted - ROUND_OF_ONE))
    return p * float_of(bits_of(shifted) << 23)


def _reduced_exp(steps: LetChain, x: PrimExpr, n: PrimExpr) -> PrimExpr:
    """exp of what n times ln 2 leaves."""
    r = steps.let(fma(n, -LN_2[1], fma(n, -LN_2[0], x)))
    return polynomial(r, EXP)


def _clamp(steps: LetChain, x: PrimExpr, low: float, high: float) -> PrimExpr:
    """`x`, or the limit that it exceeds; NaN stays."""
    y = steps.let(select(x > high, high, x))
    return steps.let(select(y < low, low, y))


def _times_power_of_two(steps: LetChain, p: PrimExpr, shifted: PrimExpr) -> PrimExpr:
    """`p` times the power that the lowest bits say, which is split into two nearly equal factors.

    A shift by 23 leaves nothing above these bits.
    """
    bits = steps.let(bits_of(shifted))
    half = steps.let(bits >> 1)
    return p * float_of(half << 23) * float_of((bits - half) << 23)

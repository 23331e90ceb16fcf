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
# A number to which a small one can only be added as a whole one, in the lowest bits.
ROUND = 1.5 * 2.0**23
ROUND_BITS = 0x4B400000

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
    shifted = steps.let(fma(y, LOG2_E, ROUND))
    return _times_power_of_two(steps, _reduced_exp(steps, y, shifted), shifted)


def exp2(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """2 to the power of `x`, to 0.88 ulp; integer powers are exact."""
    y = _clamp(steps, x, -150.0, 128.0)
    shifted = steps.let(y + ROUND)
    p = polynomial(steps.let(y - (shifted - ROUND)), EXP2)
    return _times_power_of_two(steps, p, shifted)


def exp_of_normal(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """e to the power of `x` where the result is a normal number, as for |x| <= 87."""
    shifted = steps.let(fma(x, LOG2_E, ROUND))
    p = steps.let(_reduced_exp(steps, x, shifted))
    return p * float_of((bits_of(shifted) - (ROUND_BITS - 127)) << 23)


def _reduced_exp(steps: LetChain, x: PrimExpr, shifted: PrimExpr) -> PrimExpr:
    """exp of what a multiple of ln 2 leaves."""
    n = steps.let(shifted - ROUND)
    r = steps.let(fma(n, -LN_2[1], fma(n, -LN_2[0], x)))
    return polynomial(r, EXP)


def _clamp(steps: LetChain, x: PrimExpr, low: float, high: float) -> PrimExpr:
    """`x`, or the limit that it exceeds; NaN stays."""
    y = steps.let(select(x > high, high, x))
    return steps.let(select(y < low, low, y))


def _times_power_of_two(steps: LetChain, p: PrimExpr, shifted: PrimExpr) -> PrimExpr:
    n = steps.let(bits_of(shifted) - ROUND_BITS)
    half = steps.let(n >> 1)
    first, second = (float_of((part + 127) << 23) for part in (half, n - half))
    return p * first * second

"""tanh, sigmoid and erf: polynomials near zero, and exp of what is further away.

The polynomials are fitted to the least error of the results, with coefficients in float32.
"""

from __future__ import annotations

from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS as T

from .exponential import exp, exp_of_normal
from .steps import LetChain, fma, like, polynomial, select

__all__ = ["erf", "sigmoid", "tanh"]

# (tanh(x) / x - 1) / x**2 as a polynomial of x**2, for |x| <= 0.8.
TANH = (
    -0.33333298563957214, 0.13332241773605347, -0.0538535974919796, 0.02130652777850628,
    -0.007414176594465971, 0.0015870444476604462,
)  # fmt: skip
TANH_SMALL, TANH_ONE = 0.8, 9.02

# erf(x) / x - 1 as a polynomial of x**2, for |x| <= 1.
ERF_SMALL = (
    0.12837916612625122, -0.3761262595653534, 0.11283578723669052, -0.026853349059820175,
    0.005187171511352062, -0.0007997995708137751, 7.807595102349296e-05,
)  # fmt: skip
# -log(1 - erf(x)) / x - 1 for x from 1 to 4; beyond, erf(x) is 1.
ERF = (
    0.1286829113960266, 0.635013997554779, 0.10646022111177444, -0.023951472714543343,
    0.0037307334132492542, -0.0003442278830334544, 1.3345820661925245e-05,
)  # fmt: skip
ERF_ONE = 4.0


def tanh(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """The hyperbolic tangent of `x`, to 1.04 ulp.

    tanh(x) = 1 - 2 / (exp(2x) + 1), which loses too much near zero: a polynomial is there.
    """
    a = steps.let(T["fabs"](x))
    bounded = select(a > TANH_ONE, TANH_ONE, a)
    power = exp_of_normal(steps, steps.let(bounded + bounded))
    large = 1.0 - like(x, 2.0) / (power + 1.0)
    s = steps.let(a * a)
    small = fma(polynomial(s, TANH) * s, a, a)
    return T["copysign"](select(a < TANH_SMALL, small, large), x)


def sigmoid(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """1 / (1 + exp(-x)), to 1.97 ulp.

    exp is taken of -|x| only, so that it cannot overflow: exp(x) / (1 + exp(x)) is the same. What
    rounding the sum has lost is made good after the division.
    """
    one = like(x, 1.0)
    power = steps.let(exp(steps, steps.let(0.0 - T["fabs"](x))))
    total = steps.let(power + one)
    lost = power - (total - one)
    negative = steps.let(x < 0.0)
    found = steps.let(select(negative, power, one) / total)
    reciprocal = select(negative, one - found, found)
    return fma(found, 0.0 - lost * reciprocal, found)


def erf(steps: LetChain, x: PrimExpr) -> PrimExpr:
    """The error function of `x`, to 1.00 ulp.

    From 1 on it is 1 - exp(-q(|x|)) with a polynomial q, below a polynomial by itself.
    """
    a = steps.let(T["fabs"](x))
    bounded = steps.let(select(a > ERF_ONE, ERF_ONE, a))
    q = fma(polynomial(bounded, ERF), bounded, bounded)
    large = 1.0 - exp_of_normal(steps, steps.let(0.0 - q))
    s = steps.let(a * a)
    small = fma(polynomial(s, ERF_SMALL), a, a)
    return T["copysign"](select(a < 1.0, small, large), x)

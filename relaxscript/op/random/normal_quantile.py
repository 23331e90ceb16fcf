"""The quantiles of the standard normal distribution, by arithmetic that is exact to the last bit.

Sums, products, quotients and square roots are rounded alike by every machine, and logarithms are
not. So the logarithm is made of these, too. Source: M. Wichura, "Algorithm AS 241: the percentage
points of the normal distribution" (1988).
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "FAR", "LN2_HIGH", "LN2_LOW", "MIDDLE", "TAIL", "TERMS", "natural_logarithm", "normal_quantile",
]  # fmt: skip

# Quotients of polynomials, the highest power first: in the middle, beyond that, and far out.
MIDDLE = (
    (
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
        4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
        1.3314166789178437745e2, 3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
        2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
        4.2313330701600911252e1, 1.0,
    ),
)  # fmt: skip
TAIL = (
    (
        7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
        1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
        4.63033784615654529590e0, 1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
        1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
        2.05319162663775882187e0, 1.0,
    ),
)  # fmt: skip
FAR = (
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
        2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
        5.46378491116411436990e0, 6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
        7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
        5.99832206555887937690e-1, 1.0,
    ),
)  # fmt: skip
# ln 2 as a number of few bits, of which multiples are exact, and what is left.
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
TERMS = 14


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    total: Any = np.full(x.shape, coefficients[0])
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def _quotient(parts: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    return _polynomial(parts[0], x) / _polynomial(parts[1], x)


def natural_logarithm(x: Any) -> Any:
    """The natural logarithm of positive normal numbers, by its series about 1."""
    share, power = np.frexp(x)
    low = share < np.sqrt(0.5)
    share = np.where(low, share * 2, share)
    power = (power - low).astype(np.float64)
    ratio = (share - 1) / (share + 1)
    series = _polynomial(tuple(1 / (2 * n + 1) for n in reversed(range(TERMS))), ratio * ratio)
    return power * LN2_HIGH + (power * LN2_LOW + 2 * ratio * series)


def normal_quantile(p: Any) -> Any:
    """The number that a standard normal one is below with probability `p`, between 0 and 1."""
    q = p - 0.5
    r = np.sqrt(-natural_logarithm(np.where(q < 0, p, 1 - p)))
    far = np.where(r <= 5, _quotient(TAIL, r - 1.6), _quotient(FAR, r - 5))
    middle = q * _quotient(MIDDLE, 0.180625 - q * q)
    return np.where(np.abs(q) <= 0.425, middle, np.where(q < 0, -far, far))

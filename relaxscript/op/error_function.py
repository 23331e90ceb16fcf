"""The Gauss error function, its complement, and the normal distribution, on whole arrays.

float64 goes by ranges, with the rational approximations and coefficients of FDLIBM 5.3 (Sun
Microsystems 1993, `s_erf.c`; their form is that of W. J. Cody, "Rational Chebyshev approximations
for the error function", Mathematics of Computation 23, 1969). Between 0.84 and 1.25 it is a
Chebyshev fit of the logarithm. What a Gaussian is multiplied by is in its exponent. So the only
errors that are not damped are those of the exponential and of the last operation.

Narrower types are computed in float64 and rounded once. Each has one rational approximation, of
Cody's form, whose error is below 2**-28. All work on pieces that stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

__all__ = ["erf", "erfc", "gelu"]

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Floats = NDArray[np.float64]
    _Kernel = Callable[[_Floats], _Floats]
_PIECE = 16_384  # elements; the few float64 arrays of a piece fit the second cache

_SQRT_HALF = 0.7071067811865476
_SQRT_HALF_HIGH = 0.7071067690849304  # its first 24 bits
_SQRT_HALF_LOW = 1.210161710447897e-08  # and what they leave
_LOG_SQRT_HALF = -0.34657359027997264
_REST_SHIFT = -0.90625  # about `_FAR_SHIFT + _LOG_SQRT_HALF`, in few bits
_TWO_OVER_SQRT_PI = 1.1283791670955126

# Below 0.84375: erf(x) = x + x * p(x * x) / q(x * x).
_NEAR = 0.84375
_NEAR_P = (
    1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
    -5.77027029648944159157e-03, -2.37630166566501626084e-05,
)  # fmt: skip
_NEAR_Q = (
    1.0, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
    1.32494738004321644526e-04, -3.96022827877536812320e-06,
)  # fmt: skip

# Below 1.25: erfc(x) = exp(-x * x - 0.875 + p(x - 1.046875)); |error of p| < 2**-61.
_FAR = 1.25
_MIDDLE, _MIDDLE_SHIFT = 1.046875, -0.875
_MIDDLE_P = (
    -0.00421660979380091064, -0.624528695448170837, 0.151178476233599484, -0.0397227225833498504,
    0.00957816219278244894, -0.00191009409781794727, 0.000244355696382954856,
    0.0000168252688783855907, -0.0000232987581914568189, 8.64644169228829843e-6,
    -1.93794801991087051e-6, 1.56606667190552654e-7,
)  # fmt: skip

# Above: erfc(x) = exp(-x * x - 0.5625 + p(1 / (x * x)) / q(1 / (x * x))) / x, on two ranges.
_FAR_SHIFT = -0.5625
_FARTHER = 1 / 0.35
_FAR_P = (
    -9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e01,
    -6.23753324503260060396e01, -1.62396669462573470355e02, -1.84605092906711035994e02,
    -8.12874355063065934246e01, -9.81432934416914548592e00,
)  # fmt: skip
_FAR_Q = (
    1.0, 1.96512716674392571292e01, 1.37657754143519042600e02, 4.34565877475229228821e02,
    6.45387271733267880336e02, 4.29008140027567833386e02, 1.08635005541779435134e02,
    6.57024977031928170135e00, -6.04244152148580987438e-02,
)  # fmt: skip
_FARTHER_P = (
    -9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e01,
    -1.60636384855821916062e02, -6.37566443368389627722e02, -1.02509513161107724954e03,
    -4.83519191608651397019e02,
)  # fmt: skip
_FARTHER_Q = (
    1.0, 3.03380607434824582924e01, 3.25792512996573918826e02, 1.53672958608443695994e03,
    3.19985821950859553908e03, 2.55305040643316442583e03, 4.74528541206955367215e02,
    -2.24409524465858183362e01,
)  # fmt: skip
_NOTHING_LEFT = 28.0  # erfc is 0 from here on, and from the next on in float32
_NOTHING_LEFT_NARROW = 10.3
_ONE_LEFT_NARROW = 3.95  # erf is 1 from here on in float32

# For narrower types: erf(x) = x * p(x * x) / q(x * x), and exp(x * x) * erfc(x) = p(x) / q(x).
_ERF_P = (
    1.12837916971795872, 0.192615052893501198, 0.0556416695054132069, 0.00420601877104510191,
    0.000407666965180960924, 6.65915702348755957e-6,
)  # fmt: skip
_ERF_Q = (
    1.0, 0.504034071655082622, 0.117321903937120474, 0.0162424347652041837,
    0.00141236061476879946, 0.0000716152941513681983, 2.53011632663478696e-7,
)  # fmt: skip
_ERFC_P = (
    0.999999999916056868, 1.43522190577420206, 1.00190177257616297, 0.403152766249728206,
    0.0930733420391634314, 0.010053280881258075,
)  # fmt: skip
_ERFC_Q = (
    1.0, 2.56360106152448784, 2.89461604976830549, 1.85802683269618611, 0.723501570068742318,
    0.164967144271483292, 0.0178189987098422467,
)  # fmt: skip


def erf(x: Any) -> Any:
    """The error function of floats, within 2 units in the last place of their dtype."""
    return _by_pieces(x, _erf, _erf_narrow)


def erfc(x: Any) -> Any:
    """`1 - erf(x)` without cancellation, within 2 units in the last place."""
    return _by_pieces(x, _erfc, _erfc_narrow)


def gelu(x: Any) -> Any:
    """`x` times the standard normal distribution function, without cancellation.

    Within 1 unit in the last place of the dtype; of float64 within 3.
    """
    return _by_pieces(x, _gelu, _gelu_narrow)


def _by_pieces(x: Any, wide: _Kernel, narrow: _Kernel) -> Any:
    kernel = wide if x.dtype == np.float64 else narrow
    # float64 has more bits than float32 and the smaller types twice over: these are rounded once.
    via = x.dtype if x.dtype.itemsize >= 4 else np.dtype(np.float32)
    source = np.ascontiguousarray(x).reshape(-1)
    result = np.empty(source.shape, x.dtype)
    for start in range(0, source.size, _PIECE):
        piece = slice(start, start + _PIECE)
        result[piece] = kernel(source[piece].astype(np.float64)).astype(via)
    return result.reshape(x.shape)


def _polynomial(x: _Floats, coefficients: Sequence[float]) -> _Floats:
    """The sum of `coefficients[i] * x**i`."""
    value: _Floats = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        value += coefficient
        value *= x
    value += coefficients[0]
    return value


def _quotient(x: _Floats, p: Sequence[float], q: Sequence[float]) -> _Floats:
    value = _polynomial(x, p)
    value /= _polynomial(x, q)
    return value


# ---------------------------------------------------------------- float32 and narrower


def _erf_narrow(x: _Floats) -> _Floats:
    x = np.minimum(np.maximum(x, -_ONE_LEFT_NARROW), _ONE_LEFT_NARROW)
    value = _quotient(x * x, _ERF_P, _ERF_Q)
    value *= x
    return value


def _erfc_narrow(x: _Floats) -> _Floats:
    value = _upper_narrow(np.abs(x))
    return np.where(x < 0, 2 - value, value)


def _upper_narrow(x: _Floats) -> _Floats:
    """erfc of numbers from 0 on, which are written over."""
    np.minimum(x, _NOTHING_LEFT_NARROW, out=x)
    value = _quotient(x, _ERFC_P, _ERFC_Q)
    np.multiply(x, x, out=x)
    np.negative(x, out=x)
    value *= np.exp(x, out=x)
    return value


def _gelu_narrow(x: _Floats) -> _Floats:
    # Above zero `x` less what is left of the other side: both halves are one function of |x|.
    size = np.abs(x)
    size *= _SQRT_HALF
    np.minimum(size, _NOTHING_LEFT_NARROW, out=size)
    rest = size * _SQRT_HALF
    rest *= _upper_narrow(size)
    np.maximum(x, 0, out=x)
    x -= rest
    return x


# ---------------------------------------------------------------- float64, by ranges


def _set(result: _Floats, where: Any, function: _Kernel, x: _Floats) -> None:
    if where.any():
        result[where] = function(x[where])


def _erf(x: _Floats) -> _Floats:
    size = np.abs(x)
    result = np.full_like(size, np.nan)
    _set(result, size < _NEAR, lambda v: v + v * _quotient(v * v, _NEAR_P, _NEAR_Q), size)
    _set(result, size >= _NEAR, lambda v: 1 - _upper(np.minimum(v, 6)), size)
    return np.copysign(result, x)


def _erfc(x: _Floats) -> _Floats:
    value = _upper(np.abs(x))
    near = x < 0
    value[near] = np.where(x[near] > -_NEAR, 1 + _erf(-x[near]), 2 - value[near])
    return value


def _upper(x: _Floats) -> _Floats:
    """erfc of numbers from 0 on."""
    result = np.full_like(x, np.nan)
    _set(result, x < _NEAR, _upper_near, x)
    _set(result, (x >= _NEAR) & (x < _FAR), _upper_middle, x)
    _set(result, x >= _FAR, _upper_far, x)
    return result


def _upper_near(x: _Floats, less: float | _Floats = 0.0) -> _Floats:
    """erfc of `x`, and `less` subtracted before the result is rounded."""
    product = x * _quotient(x * x, _NEAR_P, _NEAR_Q) + less
    # The first difference is exact in both.
    return np.where(x < 0.5, 0.5 - ((x - 0.5) + product), (1 - x) - product)


def _upper_middle(x: _Floats, less: float | _Floats = 0.0) -> _Floats:
    value, rest = _gaussian(x, 1.0, _MIDDLE_SHIFT, _polynomial(x - _MIDDLE, _MIDDLE_P))
    return value + (value * rest - less)


def _upper_far(x: _Floats) -> _Floats:
    x = np.minimum(x, _NOTHING_LEFT)
    value, rest = _gaussian(x, 1.0, _FAR_SHIFT, _far_exponent(1 / (x * x)))
    # The quotient and what its rounding left: the product of halves of 26 bits is exact.
    quotient = value / x
    a, b = _first_bits(quotient), _first_bits(x)
    left = ((value - a * b) - a * (x - b)) - (quotient - a) * x
    return quotient + (left / x + quotient * rest)


def _far_exponent(y: _Floats) -> _Floats:
    result = np.empty_like(y)
    farther = y <= 1 / _FARTHER**2
    _set(result, ~farther, lambda v: _quotient(v, _FAR_P, _FAR_Q), y)
    _set(result, farther, lambda v: _quotient(v, _FARTHER_P, _FARTHER_Q), y)
    return result


def _gaussian(x: _Floats, scale: float, shift: float, further: _Floats) -> tuple[_Floats, _Floats]:
    """`exp(-scale * x * x + shift + further)` as a number `e` and a small `r`: `e * (1 + r)`.

    The square of the first bits of `x` is exact, and so is `shift` added to it.
    """
    first = (x.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
    exact = first * first * -scale + shift
    further = further + (first - x) * (first + x) * scale
    exponent = exact + further
    return np.exp(exponent), further - (exponent - exact)


def _first_bits(x: _Floats) -> _Floats:
    return (x.view(np.uint64) & np.uint64(0xFFFFFFFFF8000000)).view(np.float64)


def _gelu(x: _Floats) -> _Floats:
    size = np.abs(x)
    rest = np.full_like(size, np.nan)
    far = size >= _FAR / _SQRT_HALF
    _set(rest, ~far, _rest_near, size)
    _set(rest, far, _rest_far, size)
    return np.maximum(x, 0) - rest


def _rest_near(x: _Floats) -> _Floats:
    """`x * erfc(x / sqrt(2)) / 2` for small `x`; what the argument lost is made up for."""
    scaled = x * _SQRT_HALF
    a = _first_bits(x)
    left = ((a * _SQRT_HALF_HIGH - scaled) + (x - a) * _SQRT_HALF_HIGH) + x * _SQRT_HALF_LOW
    less = left * _TWO_OVER_SQRT_PI * np.exp(-scaled * scaled)
    near = scaled < _NEAR
    result = np.empty_like(x)
    result[near] = _upper_near(scaled[near], less[near])
    result[~near] = _upper_middle(scaled[~near], less[~near])
    result *= x * 0.5
    return result


def _rest_far(x: _Floats) -> _Floats:
    """The same for large `x`, by which erfc divides; 1 / sqrt(2) is in the exponent too."""
    x = np.minimum(x, _NOTHING_LEFT / _SQRT_HALF)
    further = _far_exponent(2 / (x * x)) + (_FAR_SHIFT + _LOG_SQRT_HALF - _REST_SHIFT)
    value, rest = _gaussian(x, 0.5, _REST_SHIFT, further)
    return value + value * rest

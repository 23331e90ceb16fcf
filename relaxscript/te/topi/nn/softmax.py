"""Exponentials as shares of their sums. Source: TVM `topi.nn.softmax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from relaxscript.ir.prim import PrimExpr, cast, const
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.te import reduction as rules
from relaxscript.te.compute import compute
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.fast_math import exp_element
from relaxscript.te.topi.operands import require_dtype, topi_function
from relaxscript.te.topi.reduction import accumulator, axes_of, reduced

__all__ = ["fast_softmax", "log_softmax", "softmax"]


class _Parts(NamedTuple):
    """The elements without the largest along an axis, and what belongs to those along the axis."""

    axis: int
    shifted: Callable[[Sequence[PrimExpr]], PrimExpr]
    outside: Callable[[Sequence[PrimExpr]], tuple[PrimExpr, ...]]


def _parts(callee: str, x: Tensor, axis: int) -> _Parts:
    """Subtract the largest element along an axis, so that no exponential overflows."""
    (along,) = axes_of(callee, x, axis)
    require_dtype(callee, "x", x.dtype, "float")
    # As the meaning: what is narrower than float32 is rounded once, at the end.
    wide = x.dtype if x.dtype.bits > 16 else accumulator(x.dtype)

    def outside(at: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
        return (*at[:along], *at[along + 1 :])

    largest = reduced(
        x.shape, (along,), False, lambda at, over: rules.max(cast(x[tuple(at)], wide), axis=over),
        "T_softmax_maxelem",
    )  # fmt: skip
    return _Parts(along, lambda at: cast(x[tuple(at)], wide) - largest[outside(at)], outside)


def _sum_along(x: Tensor, axis: int, element: Callable[[Sequence[PrimExpr]], PrimExpr]) -> Tensor:
    """The sums of elements along an axis, in a wide dtype."""
    wide = accumulator(x.dtype)
    made: Tensor = reduced(
        x.shape, (axis,), False, lambda at, over: rules.sum(cast(element(at), wide), axis=over),
        "T_softmax_expsum",
    )  # fmt: skip
    return made


def _tensor(x: Tensor, element: Callable[[Sequence[PrimExpr]], PrimExpr], name: str) -> Tensor:
    names = [f"i{axis}" for axis in range(x.ndim)]
    made: Tensor = compute(x.shape, lambda *i: element(i), name=name, varargs_names=names)
    return made


@topi_function
def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """The exponentials divided by their sum along an axis, without overflow."""
    return _shares("topi.nn.softmax", x, axis, FUNCTIONS["exp"])


@topi_function
def fast_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """The same with exponentials to fewer digits, as `topi.fast_exp` gives them: to 1e-6 of it.

    Shares below 1e-38 are 0. Of float64 it is `softmax`.
    """
    exp = exp_element if x.dtype.bits <= 32 else FUNCTIONS["exp"]
    return _shares("topi.nn.fast_softmax", x, axis, exp)


def _shares(callee: str, x: Tensor, axis: int, exp: Callable[[PrimExpr], PrimExpr]) -> Tensor:
    parts = _parts(callee, x, axis)
    powers = _tensor(x, lambda at: exp(parts.shifted(at)), "T_softmax_exp")
    sums = _sum_along(x, parts.axis, lambda at: powers[tuple(at)])

    # A product, so that one division does for all exponentials of a sum. It is 1 at least, or NaN.
    def share(at: Sequence[PrimExpr]) -> PrimExpr:
        power = powers[tuple(at)]
        one = const(1, power.dtype)
        return cast(power * (one / cast(sums[parts.outside(at)], power.dtype)), x.dtype)

    return _tensor(x, share, "T_softmax_norm")


@topi_function
def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """The logarithms of the softmax along an axis, without overflow or loss of small values."""
    parts = _parts("topi.nn.log_softmax", x, axis)
    sums = _sum_along(x, parts.axis, lambda at: FUNCTIONS["exp"](parts.shifted(at)))

    def logarithm(at: Sequence[PrimExpr]) -> PrimExpr:
        low = parts.shifted(at)
        total = cast(sums[parts.outside(at)], low.dtype)
        return cast(low - FUNCTIONS["log"](total), x.dtype)

    return _tensor(x, logarithm, "T_log_softmax_norm")

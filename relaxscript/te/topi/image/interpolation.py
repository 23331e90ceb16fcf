"""Elements between those of a tensor: sums of what is around a place, with weights.

An element of weight 0 counts for nothing, even one that is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS, if_then_else
from relaxscript.te.compute import compute
from relaxscript.te.tensor import Tensor

__all__ = [
    "FLOAT64", "Tap", "cubic_weights", "float_of", "held", "is_inside", "linear_weights", "rounded",
    "tabulate", "weighted",
]  # fmt: skip

FLOAT64 = DataType("float64")

# The index of an element along an axis, and its weight.
Tap = tuple[PrimExpr, PrimExpr]


def float_of(e: PrimExpr) -> PrimExpr:
    """An integer or float in float64, in which places and sums are computed."""
    return prim.cast(e, FLOAT64)


def linear_weights(t: PrimExpr) -> list[PrimExpr]:
    """The weights of the two elements around a place, `t` behind the first of them."""
    return [1.0 - t, t]


def cubic_weights(t: PrimExpr, alpha: float) -> list[PrimExpr]:
    """The weights of the four elements around a place, `t` behind the second of them."""
    t2, t3 = t * t, t * t * t
    return [
        (t3 - t2 * 2.0 + t) * alpha,
        t3 * (alpha + 2) - t2 * (alpha + 3) + 1.0,
        t3 * -(alpha + 2) + t2 * (2 * alpha + 3) - t * alpha,
        (t2 - t3) * alpha,
    ]


def tabulate(
    shape: Sequence[PrimExpr], place: Callable[..., PrimExpr],
    taps: Callable[[PrimExpr], list[Tap]], letter: str,
) -> list[tuple[Tensor, Tensor]]:  # fmt: skip
    """Tensors of the indices and weights that some places along the axis `letter` have around."""
    names = [f"ax{axis}" for axis in range(len(shape))]
    places = compute(shape, place, name=f"place_{letter}", varargs_names=names)

    def around(*at: PrimExpr) -> list[PrimExpr]:
        return [e for tap in taps(places[at]) for e in tap]

    made = compute(shape, around, name=f"around_{letter}", varargs_names=names)
    return list(zip(made[::2], made[1::2]))


def held(place: PrimExpr, size: PrimExpr) -> PrimExpr:
    """A place along an axis held inside of it, as an index."""
    last = float_of(size) - 1
    return prim.cast(prim.Max(prim.Min(place, last), prim.const(0, FLOAT64)), size.dtype)


def is_inside(place: PrimExpr, size: PrimExpr) -> PrimExpr:
    """True for the place of an element of an axis."""
    return prim.And(place >= 0.0, place <= float_of(size) - 1)


def weighted(e: PrimExpr, weight: PrimExpr) -> PrimExpr:
    """An element times its weight."""
    zero = prim.const(0, FLOAT64)
    return if_then_else(prim.EQ(weight, zero), zero, e * weight)


def rounded(e: PrimExpr, dtype: DataType) -> PrimExpr:
    """A float64 as an element, integers rounded to even; the outermost for what is beyond."""
    return prim.cast(FUNCTIONS["nearbyint"](e) if dtype.is_integer else e, dtype)

"""The rules that find where the largest or the smallest of some values is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.te.reduction import comm_reducer

__all__ = ["place_of_extreme"]

_Pair = tuple[PrimExpr, PrimExpr]


def place_of_extreme(
    dtype: DataType, largest: bool, last: bool = False
) -> Callable[..., tuple[PrimExpr, PrimExpr]]:
    """The reduction of places and values to the place of the most extreme value, and that value.

    NaN is more extreme than every number. Of equal values the first place counts, or the last. The
    place of nothing is -1.
    """
    isnan = FUNCTIONS["isnan"]

    def combine(a: _Pair, b: _Pair) -> _Pair:
        (i, x), (j, y) = a, b
        beyond, same = (x > y if largest else x < y), x.equal(y)
        if dtype.is_float:
            beyond = prim.Or(beyond, prim.And(isnan(x), prim.Not(isnan(y))))
            same = prim.Or(same, prim.And(isnan(x), isnan(y)))
        earlier = i > j if last else i < j
        stays = prim.Or(beyond, prim.And(same, earlier))
        # What has no place is nothing.
        stays = prim.Or(j < 0, prim.And(i >= 0, stays))
        return prim.Select(stays, i, j), prim.Select(stays, x, y)

    def nothing(place: str, value: str) -> _Pair:
        return const(-1, place), const(0, value)

    reducer: Callable[..., Any] = comm_reducer(combine, nothing, "argmax" if largest else "argmin")
    return reducer

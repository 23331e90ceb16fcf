"""Gradients of images that are sampled: by their elements and by the places of the grid.

Each sample is a sum over taps, elements around a place with weights that depend on it. An element
gets what its taps are given; a place gets it times the slopes of the weights. All is computed in
float64, as the samples are.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr
from relaxscript.op.gradients import R, known_dims, length_of, numbers_below
from relaxscript.opdef.tensor_expressions import topi

__all__ = ["sampled_gradients"]


class _Tap(NamedTuple):
    """The index of an element near each place along an axis, its weight, and the slope of that."""

    element: Expr
    weight: Any
    slope: Any


def sampled_gradients(
    grad: Expr, data: Expr, grid: Expr, method: str, padding: str, aligned: bool
) -> tuple[Expr, Expr]:
    """The gradients by plain data and by the grid, in float64."""
    sizes = known_dims("data", data)[2:]
    axes = len(sizes)
    last = [0, *range(2, axes + 2), 1]
    # Channels are the last axis, so that places are those of all axes before.
    elements, given = (R.permute_dims(R.astype(x, "float64"), last) for x in (data, grad))
    wide = R.astype(grid, "float64")
    columns = [
        R.squeeze(R.strided_slice(wide, [1], [axes - 1 - axis], [axes - axis]), 1)
        for axis in range(axes)
    ]
    taps = [_taps(x, size, method, padding, aligned) for x, size in zip(columns, sizes)]
    by_data: Expr = R.zeros_like(elements)
    by_places: list[Any] = [0.0] * axes
    for chosen in itertools.product(*taps):
        places, inside = _places(chosen, sizes)
        weight = _product([tap.weight for tap in chosen])
        share = R.where(inside, weight, 0.0)
        numbered = _with_samples(places, known_dims("grid", grid)[0])
        by_data = R.scatter_nd(by_data, numbered, given * R.expand_dims(share, -1), "add")
        along = R.where(inside, R.sum(R.gather_nd(elements, numbered) * given, [-1]), 0.0)
        for axis, tap in enumerate(chosen):
            others = _product([t.weight for a, t in enumerate(chosen) if a != axis])
            by_places[axis] = along * tap.slope * others + by_places[axis]
    made = R.stack(list(reversed(by_places)), 1)
    back = [0, axes + 1, *range(1, axes + 1)]
    return R.permute_dims(by_data, back), made


def _product(factors: Sequence[Any]) -> Any:
    total: Any = factors[0] if factors else 1.0
    for factor in factors[1:]:
        total = total * factor
    return total


def _taps(x: Expr, dim: PrimExpr, method: str, padding: str, aligned: bool) -> list[_Tap]:
    """The taps along an axis of `dim` elements, for the coordinates of a grid."""
    size = R.astype(length_of(dim), "float64")
    half = (size - 1.0 if aligned else size) * 0.5
    place = (x + 1.0) * half if aligned else (x + 1.0) * half - 0.5
    slope: Any = half
    if method != "bicubic":
        place, inner = _inside(place, size, padding, aligned)
        slope = slope * inner
    if method == "nearest":
        # A sample jumps between elements: everywhere else its slope is 0.
        return [_Tap(R.round(place), R.ones_like(place), R.zeros_like(place))]
    first = R.floor(place)
    t = place - first
    weights, slopes, start = list[Any]([1.0 - t, t]), list[Any]([-1.0, 1.0]), 0
    if method == "bicubic":
        weights, slopes, start = _cubic(t), _cubic_slopes(t), -1
    found = []
    for offset, (weight, by) in enumerate(zip(weights, slopes), start):
        index = first + float(offset)
        if method == "bicubic":
            index, _ = _inside(index, size, padding, aligned)
        found.append(_Tap(index, weight, slope * by))
    return found


def _inside(place: Expr, size: Expr, padding: str, aligned: bool) -> tuple[Expr, Any]:
    """Places beyond an axis as ones on it, unless there are zeros; and how they then move."""
    if padding == "zeros":
        return place, 1.0
    moves: Any = 1.0
    if padding == "reflection":
        low, span = (0.0, size - 1.0) if aligned else (-0.5, size)
        # Of one element with aligned corners there is but one place, to which all come.
        whole = R.maximum(span, 1.0) * 2.0
        beyond = place - low
        around = R.mod(R.abs(beyond), whole)
        ahead = R.less_equal(around, whole - around)
        place = R.where(ahead, around, whole - around) + low
        moves = R.sign(beyond) * (R.astype(ahead, "float64") * 2.0 - 1.0)
    last = size - 1.0
    held = R.logical_and(R.greater_equal(place, 0.0), R.less_equal(place, last))
    return R.maximum(R.minimum(place, last), 0.0), R.where(held, moves, 0.0)


def _cubic(t: Expr) -> list[Any]:
    """The weights of the four elements around a place."""
    a, t2, t3 = topi.image.grid.CUBIC_ALPHA, t * t, t * t * t
    return [
        (t3 - t2 * 2.0 + t) * a,
        t3 * (a + 2) - t2 * (a + 3) + 1.0,
        t3 * -(a + 2) + t2 * (2 * a + 3) - t * a,
        (t2 - t3) * a,
    ]


def _cubic_slopes(t: Expr) -> list[Any]:
    """The slopes of these weights."""
    a, t2 = topi.image.grid.CUBIC_ALPHA, t * t
    return [
        (t2 * 3.0 - t * 4.0 + 1.0) * a,
        t2 * (3 * (a + 2)) - t * (2 * (a + 3)),
        t2 * (-3 * (a + 2)) + t * (2 * (2 * a + 3)) - a,
        (t * 2.0 - t2 * 3.0) * a,
    ]


def _places(taps: Sequence[_Tap], sizes: Sequence[PrimExpr]) -> tuple[Expr, Expr]:
    """The indices of elements, the last axis one for each axis, and where there are such."""
    inside: Any = None
    indices = []
    for tap, dim in zip(taps, sizes):
        last = R.astype(length_of(dim), "float64") - 1.0
        here = R.logical_and(R.greater_equal(tap.element, 0.0), R.less_equal(tap.element, last))
        inside = here if inside is None else R.logical_and(inside, here)
        indices.append(R.astype(R.maximum(R.minimum(tap.element, last), 0.0), "int64"))
    return R.stack(indices, -1), inside


def _with_samples(places: Expr, samples: PrimExpr) -> Expr:
    """Places with the number of their sample in front."""
    *front, _ = known_dims("grid", places)
    numbers = R.reshape(numbers_below(samples), [samples, *[1] * len(front)])
    made: Expr = R.concat([R.broadcast_to(numbers, [*front, 1]), places], -1)
    return made

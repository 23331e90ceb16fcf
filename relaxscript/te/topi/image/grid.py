"""Images and volumes sampled at the places of a grid.

Source: TVM `topi.image.grid_sample`, `topi.image.affine_grid`, ONNX `GridSample`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.sinfo.axis_order import AxisOrder, axes_of
from relaxscript.sinfo.windows import SPATIAL
from relaxscript.te.compute import compute, shape_of
from relaxscript.te.element import select
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.layouts import arranged, unpack
from relaxscript.te.topi.operands import topi_function
from relaxscript.te.topi.tensor import INJECTIVE

from .interpolation import (
    FLOAT64,
    Tap,
    cubic_weights,
    float_of,
    held,
    is_inside,
    linear_weights,
    tabulate,
    weighted,
)

__all__ = ["affine_grid", "grid_sample"]

METHODS = ("nearest", "bilinear", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
CUBIC_ALPHA = -0.75


def sampled(
    data: Tensor, grid: Tensor, order: AxisOrder, shape: Sequence[PrimExpr], method: str,
    padding: str, aligned: bool,
) -> Any:  # fmt: skip
    """The elements of a tensor at the places of a grid, a tensor of a known shape."""
    data, of_data = unpack(data, order)
    sizes = of_data.sizes(data.shape)[2:]
    n, _, *targets = order.sizes(shape)
    around = [
        _around(grid, [n, *targets], axis, size, (method, padding, aligned))
        for axis, size in enumerate(sizes)
    ]

    def element(n: PrimExpr, c: PrimExpr, *at: PrimExpr) -> PrimExpr:
        total: PrimExpr = prim.const(0, FLOAT64)
        for chosen in itertools.product(*around):
            indices = [index[(n, *at)] for index, _ in chosen]
            weight = math.prod(share[(n, *at)] for _, share in chosen)
            e = data[tuple(of_data.spread([n, c, *indices]))]
            total = total + weighted(float_of(e), weight)
        return prim.cast(total, data.dtype)

    return arranged(order, shape, element, "grid_sample")


def _around(
    grid: Tensor, shape: Sequence[PrimExpr], axis: int, size: PrimExpr, how: tuple[str, str, bool]
) -> list[tuple[Tensor, Tensor]]:
    """The elements around the places of a grid along an axis, and their weights."""
    axes = len(shape) - 1
    coordinate = prim.const(axes - 1 - axis, grid.shape[1].dtype)

    def place(n: PrimExpr, *at: PrimExpr) -> PrimExpr:
        return _place(float_of(grid[(n, coordinate, *at)]), float_of(size), *how)

    def taps(place: PrimExpr) -> list[Tap]:
        return [
            (held(at, size), select(is_inside(at, size), weight, 0.0))
            for at, weight in _taps(place, float_of(size), *how)
        ]

    return tabulate(shape, place, taps, SPATIAL[axes][axis].lower())


def _place(place: PrimExpr, length: PrimExpr, method: str, padding: str, aligned: bool) -> PrimExpr:
    """The place along an axis that a coordinate stands for."""
    place = (place + 1) * (length - 1) / 2 if aligned else ((place + 1) * length - 1) / 2
    place = select(FUNCTIONS["isnan"](place), prim.const(-math.inf, FLOAT64), place)
    # Of cubic interpolation the elements are padded, of the others the place itself.
    place = place if method == "bicubic" else _held(place, length, padding, aligned)
    if padding == "zeros":  # nothing is near a place that is so far outside
        place = prim.Min(prim.Max(place, length * -4.0 - 8), length * 5.0 + 8)
    return place


def _taps(place: PrimExpr, length: PrimExpr, method: str, padding: str, aligned: bool) -> list[Tap]:
    """The elements around a place, as floats, and their weights."""
    if method == "nearest":
        return [(FUNCTIONS["nearbyint"](place), prim.const(1, FLOAT64))]
    is_cubic = method == "bicubic"
    first = FUNCTIONS["floor"](place)
    between = select(FUNCTIONS["isfinite"](place), place - first, 0.0)
    weights = cubic_weights(between, CUBIC_ALPHA) if is_cubic else linear_weights(between)
    around = [first + offset for offset in ((-1.0, 0.0, 1.0, 2.0) if is_cubic else (0.0, 1.0))]
    if is_cubic:
        around = [_held(at, length, padding, aligned) for at in around]
    return list(zip(around, weights))


def _held(place: PrimExpr, length: PrimExpr, padding: str, aligned: bool) -> PrimExpr:
    """A place beyond an axis as one on it, unless there are zeros."""
    if padding == "zeros":
        return place
    zero = prim.const(0, FLOAT64)
    if padding == "reflection":
        low, span = (0.0, length - 1) if aligned else (-0.5, length)
        around = FUNCTIONS["fmod"](FUNCTIONS["abs"](place - low), span * 2.0)
        place = prim.Min(around, span * 2.0 - around) + low
        # An infinite place, or the only one that there is.
        place = select(FUNCTIONS["isnan"](place), zero, place)
    return prim.Max(prim.Min(place, length - 1), zero)


@topi_function
def grid_sample(
    data: Tensor, grid: Tensor, method: str = "bilinear", layout: str = "NCHW",
    padding_mode: str = "zeros", align_corners: bool = True,
) -> Any:  # fmt: skip
    """`data` at the places of a grid, x before y; see `R.image.grid_sample`.

    Raises `OperandError` for attributes that there are not.
    """
    letters = "NCDHW" if "D" in layout else "NCHW"
    for name, value, known in (
        ("method", method, METHODS if letters == "NCHW" else METHODS[:2]),
        ("padding_mode", padding_mode, PADDINGS),
    ):
        if value not in known:
            listed = ", ".join(f'"{item}"' for item in known)
            raise OperandError(
                name, f'is "{value}"', message=f"it is one of {listed}", code="RX0204"
            )
    places = axes_of(layout, letters)
    if places is None or len(places) > len(letters):
        raise OperandError(
            "layout", f'is "{layout}"', code="RX0204",
            message=f'`topi.image.grid_sample` takes the axes of "{letters}" in some order',
        )  # fmt: skip
    for name, tensor in (("data", data), ("grid", grid)):
        if tensor.ndim != len(letters):
            raise OperandError(
                name, f"has {quantity(tensor.ndim, 'axis')}", code="RX0203",
                message=f"there are {len(letters)}, as in the layout",
            )  # fmt: skip
    order = AxisOrder(layout, letters, places)
    shape = order.spread([*order.sizes(data.shape)[:2], *grid.shape[2:]])
    return sampled(data, grid, order, shape, method, padding_mode, align_corners)


def affine_places(data: Tensor, shape: Sequence[PrimExpr], aligned: bool) -> Any:
    """The grid of a known shape that affine maps make; everything is computed in float64."""
    sizes = shape[2:]
    dtype: DataType = data.dtype

    def element(n: PrimExpr, row: PrimExpr, *at: PrimExpr) -> PrimExpr:
        axes = len(sizes)
        total = float_of(data[n, row, prim.const(axes, row.dtype)])
        for column, (i, size) in enumerate(reversed(list(zip(at, sizes)))):
            factor = float_of(data[n, row, prim.const(column, row.dtype)])
            total = total + factor * _coordinate(i, size, aligned)
        return prim.cast(total, dtype)

    names = [f"ax{axis}" for axis in range(len(shape))]
    return compute(shape, element, name="affine_grid", tag=INJECTIVE, varargs_names=names)


def _coordinate(i: PrimExpr, size: PrimExpr, aligned: bool) -> PrimExpr:
    """The place of an element along an axis that goes from -1 to 1."""
    place, length, one = float_of(i), float_of(size), prim.const(1, FLOAT64)
    if aligned:
        return (place * 2 - (length - 1)) / prim.Max(length - 1, one)
    return (place * 2 + 1 - length) / prim.Max(length, one)


@topi_function
def affine_grid(data: Tensor, target_shape: Any, align_corners: bool = True) -> Any:
    """The grid of the places to which affine maps take images; see `R.image.affine_grid`.

    Raises `OperandError` for maps of another number of axes.
    """
    sizes = shape_of(target_shape)
    if data.ndim != 3 or len(sizes) not in (2, 3):
        raise OperandError(
            "data", f"has {quantity(data.ndim, 'axis')}", code="RX0203",
            also={"target_shape": f"has {quantity(len(sizes), 'number')}"},
            message="`topi.image.affine_grid` takes a matrix for each image or volume",
        )  # fmt: skip
    axes = prim.const(len(sizes), data.shape[1].dtype)
    return affine_places(data, (data.shape[0], axes, *sizes), align_corners)

"""Images and volumes of another size. Source: TVM `topi.image.resize2d`, ONNX `Resize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from relaxscript.arith import YES, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim, tir_functions
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS, if_then_else
from relaxscript.sinfo.axis_order import AxisOrder, axes_of, plain_order
from relaxscript.sinfo.windows import SPATIAL
from relaxscript.te.compute import compute, dtype_of
from relaxscript.te.element import select
from relaxscript.te.tensor import Tensor, as_element
from relaxscript.te.topi.layouts import arranged, unpack
from relaxscript.te.topi.operands import topi_function

from .interpolation import (
    FLOAT64,
    Tap,
    cubic_weights,
    float_of,
    held,
    is_inside,
    linear_weights,
    rounded,
    tabulate,
    weighted,
)

__all__ = ["resize1d", "resize2d", "resize3d"]

METHODS = ("nearest_neighbor", "linear", "cubic")
MODES = (
    "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)  # fmt: skip
ROUNDINGS = ("round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "")


class Resizing(NamedTuple):
    """The attributes of a resizing; `R.image.resize2d` says what they mean."""

    roi: Sequence[float]
    method: str
    mode: str
    rounding: str
    alpha: float
    exclude: int
    extrapolation: float


def resized(
    data: Tensor, order: AxisOrder, shape: Sequence[PrimExpr], how: Resizing, dtype: DataType
) -> Any:
    """A tensor of another size along its spatial axes, whose whole `shape` is known."""
    data, of_data = unpack(data, order)
    sizes = of_data.sizes(data.shape)
    targets = order.sizes(shape)
    axes = len(order.letters) - 2
    places = [_Place(sizes[a + 2], targets[a + 2], how, a, axes) for a in range(axes)]
    last, of_last = data, of_data
    if how.method != "nearest_neighbor":
        for axis, place in enumerate(places[:-1], 2):
            last = _along(last, of_last, axis, place)
            of_last = plain_order(order.letters)

        around = places[-1].tabulated(order.letters[-1])

    def element(*plain: PrimExpr) -> PrimExpr:
        if how.method == "nearest_neighbor":
            at = [place.nearest(i) for place, i in zip(places, plain[2:])]
            e: PrimExpr = last[tuple(of_last.spread([*plain[:2], *at]))]
        else:
            e = _mixed(last, of_last, axes + 1, around, plain)
        e = e if e.dtype is dtype else rounded(prim.cast(e, FLOAT64), dtype)
        if how.mode != "tf_crop_and_resize":
            return e
        beyond = [place.is_outside(i) for place, i in zip(places, plain[2:])]
        filled = rounded(prim.const(how.extrapolation, FLOAT64), dtype)
        return if_then_else(tir_functions.any(*beyond), filled, e)

    return arranged(order, shape, element, "resize")


def _along(data: Tensor, order: AxisOrder, axis: int, place: _Place) -> Tensor:
    """A tensor with an axis of other elements, each a sum of some of its own."""
    sizes = order.sizes(data.shape)
    sizes[axis] = place.target
    letter = order.letters[axis]
    around = place.tabulated(letter)
    made: Tensor = compute(
        sizes, lambda *plain: _mixed(data, order, axis, around, plain),
        name=f"resize_{letter.lower()}", varargs_names=[f"ax{n}" for n in range(len(sizes))],
    )  # fmt: skip
    return made


def _mixed(
    data: Tensor, order: AxisOrder, axis: int, around: Sequence[tuple[Tensor, Tensor]],
    plain: Sequence[PrimExpr],
) -> PrimExpr:  # fmt: skip
    """The sum of some elements along an axis, each times its weight."""
    total: PrimExpr = prim.const(0, FLOAT64)
    for index, weight in around:
        at = [*plain[:axis], index[plain[axis]], *plain[axis + 1 :]]
        e = float_of(data[tuple(order.spread(at))])
        total = total + weighted(e, weight[plain[axis]])
    return total


class _Place:
    """The place along an axis that an element of the result comes from, and what is around it."""

    def __init__(
        self, size: PrimExpr, target: PrimExpr, how: Resizing, axis: int, axes: int
    ) -> None:
        self.size, self.target, self.how = size, target, how
        self.start, self.end = (how.roi[axis], how.roi[axes + axis]) if how.roi else (0.0, 0.0)

    def _source(self, i: PrimExpr) -> PrimExpr:
        """The place; a quotient of whole numbers is rounded once, so that its floor is exact."""
        place, size, target = float_of(i), float_of(self.size), _divisor(self.target, 0)
        steps = _divisor(self.target, 1)
        mode = self.how.mode
        if mode == "align_corners":
            return self._unless_one(place * (size - 1) / steps, 0.0)
        if mode == "asymmetric":
            return place * size / target
        if mode == "tf_half_pixel_for_nn":
            return (place * 2 + 1) * size / (target * 2)
        if mode == "tf_crop_and_resize":
            spread = place * (self.end - self.start) * (size - 1) / steps
            middle = (size - 1) * (0.5 * (self.start + self.end))
            return self._unless_one((size - 1) * self.start + spread, middle)
        half = ((place * 2 + 1) * size - target) / (target * 2)
        return self._unless_one(half, 0.0) if mode == "pytorch_half_pixel" else half

    def _unless_one(self, place: PrimExpr, otherwise: PrimExpr | float) -> PrimExpr:
        """The place, and another where the result has one element."""
        one = prim.const(1, self.target.dtype)
        if prove_equal(self.target, one) is YES:
            return otherwise if isinstance(otherwise, PrimExpr) else prim.const(otherwise, FLOAT64)
        return select(prim.EQ(self.target, one), otherwise, place)

    def is_outside(self, i: PrimExpr) -> PrimExpr:
        """True where the place is beyond the image."""
        place = self._source(i)
        return prim.Or(place < 0.0, place > float_of(self.size) - 1)

    def nearest(self, i: PrimExpr) -> PrimExpr:
        """The index of the element that is nearest to the place."""
        place, rounding = self._source(i), self.how.rounding
        if rounding == "ceil":
            return held(FUNCTIONS["ceil"](place), self.size)
        if rounding == "round_prefer_floor":
            return held(FUNCTIONS["ceil"](place - 0.5), self.size)
        later = FUNCTIONS["floor"](place if rounding == "floor" else place + 0.5)
        return held(later, self.size)

    def tabulated(self, letter: str) -> list[tuple[Tensor, Tensor]]:
        """Tensors of the indices and weights of the elements around each place."""
        return tabulate([self.target], self._source, self._taps, letter.lower())

    def _taps(self, place: PrimExpr) -> list[Tap]:
        """The indices and weights of the elements around a place."""
        first = FUNCTIONS["floor"](place)
        is_cubic = self.how.method == "cubic"
        weights = (
            cubic_weights(place - first, self.how.alpha)
            if is_cubic
            else linear_weights(place - first)
        )
        around = [first + offset for offset in ((-1.0, 0.0, 1.0, 2.0) if is_cubic else (0.0, 1.0))]
        if is_cubic and self.how.exclude:
            weights = self._inside_only(around, weights)
        return [(held(at, self.size), weight) for at, weight in zip(around, weights)]

    def _inside_only(
        self, around: Sequence[PrimExpr], weights: Sequence[PrimExpr]
    ) -> list[PrimExpr]:
        """The weights of elements inside the image, which make 1 together."""
        own = [select(is_inside(at, self.size), weight, 0.0) for at, weight in zip(around, weights)]
        total = sum(own[1:], own[0])
        return [weight / total for weight in own]


def _divisor(number: PrimExpr, less: int) -> PrimExpr:
    """A number minus another; 1 where that is known to be 0, and the quotient is of no use."""
    if isinstance(number, IntImm):
        return prim.const(max(number.value - less, 1), FLOAT64)
    return float_of(number) - less if less else float_of(number)


# ---------------------------------------------------------------- what users call


def _resize(
    axes: int, data: Tensor, roi: Any, size: Any, layout: str, method: str, mode: str,
    rounding: str, alpha: float, exclude: int, extrapolation: float, out_dtype: Any,
) -> Any:  # fmt: skip
    callee = f"topi.image.resize{axes}d"
    letters = "NC" + SPATIAL[axes]
    for name, value, known in (
        ("method", method, METHODS),
        ("coordinate_transformation_mode", mode, MODES),
        ("rounding_method", rounding, ROUNDINGS),
    ):
        if value not in known:
            listed = ", ".join(f'"{item}"' for item in known)
            raise OperandError(
                name, f'is "{value}"', message=f"it is one of {listed}", code="RX0204"
            )
    places = axes_of(layout, letters)
    if places is None or len(places) != data.ndim or data.ndim > axes + 2:
        raise OperandError(
            "layout", f'is "{layout}"', code="RX0204",
            also={"data": f"has {quantity(data.ndim, 'axis')}"},
            message=f'`{callee}` takes a tensor of the axes of "{letters}" in some order',
        )  # fmt: skip
    roi = tuple(roi or ())
    for name, given, count in (("size", size, axes), ("roi", roi, 2 * axes)):
        if len(given) != count and (name == "size" or roi or mode == "tf_crop_and_resize"):
            raise OperandError(
                name, f"has {quantity(len(given), 'number')}", code="RX0204",
                message=f"`{callee}` takes {count} of them",
            )  # fmt: skip
    order = AxisOrder(layout, letters, places)
    n, c, *spatial = order.sizes(data.shape)
    wanted = [_target(as_element(e), own) for e, own in zip(size, spatial)]
    rounding = rounding or ("round" if mode == "align_corners" else "floor")
    how = Resizing(roi, method, mode, rounding, alpha, exclude, extrapolation)
    dtype = data.dtype if out_dtype is None else dtype_of(out_dtype, "out_dtype")
    return resized(data, order, order.spread([n, c, *wanted]), how, dtype)


def _target(size: PrimExpr, own: PrimExpr) -> PrimExpr:
    """A size in the dtype of that of the data; a variable is kept, since the result defines it."""
    return size if isinstance(size, prim.Var) else prim.cast(size, own.dtype)


@topi_function
def resize1d(
    data: Tensor, roi: Any, size: Any, layout: str = "NCW", method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel", rounding_method: str = "",
    bicubic_alpha: float = -0.5, bicubic_exclude: int = 0, extrapolation_value: float = 0.0,
    out_dtype: Any = None,
) -> Any:  # fmt: skip
    """A tensor of another size along its spatial axis; see `R.image.resize2d`."""
    return _resize(
        1, data, roi, size, layout, method, coordinate_transformation_mode, rounding_method,
        bicubic_alpha, bicubic_exclude, extrapolation_value, out_dtype,
    )  # fmt: skip


@topi_function
def resize2d(
    data: Tensor, roi: Any, size: Any, layout: str = "NCHW", method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel", rounding_method: str = "",
    bicubic_alpha: float = -0.5, bicubic_exclude: int = 0, extrapolation_value: float = 0.0,
    out_dtype: Any = None,
) -> Any:  # fmt: skip
    """Images of another height and width; see `R.image.resize2d`.

    Raises `OperandError` for attributes that there are not.
    """
    return _resize(
        2, data, roi, size, layout, method, coordinate_transformation_mode, rounding_method,
        bicubic_alpha, bicubic_exclude, extrapolation_value, out_dtype,
    )  # fmt: skip


@topi_function
def resize3d(
    data: Tensor, roi: Any, size: Any, layout: str = "NCDHW",
    method: str = "nearest_neighbor", coordinate_transformation_mode: str = "align_corners",
    rounding_method: str = "", bicubic_alpha: float = -0.5, bicubic_exclude: int = 0,
    extrapolation_value: float = 0.0, out_dtype: Any = None,
) -> Any:  # fmt: skip
    """Volumes of another depth, height and width; see `R.image.resize3d`."""
    return _resize(
        3, data, roi, size, layout, method, coordinate_transformation_mode, rounding_method,
        bicubic_alpha, bicubic_exclude, extrapolation_value, out_dtype,
    )  # fmt: skip

"""Images and volumes of another size. Source: TVM `relax.image.resize2d`, ONNX `Resize`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Call, Expr, PrimValue
from relaxscript.ir.struct_info import ShapeStructInfo, StructInfo, TensorStructInfo
from relaxscript.op.gradients import R, cast_like, dtype_of, known_dims
from relaxscript.op.nn.layouts import Layout, from_plain, pooling_layouts, read_layout, to_plain
from relaxscript.op.nn.windows import SPATIAL
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import (
    AnyOrder,
    InferLayoutOutput,
    LayoutContext,
    NLayout,
    takes_packed,
)
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import DType, Floats, ShapeLike, Tensor
from relaxscript.opdef.shapes import (
    ONE,
    obviously_inside,
    require_dtype,
    require_inside,
    require_result_dtype,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

from .interpolation import cubic_weights, linear_weights, rounded, weighted

__all__ = ["resize2d", "resize3d"]

_MODES = (
    "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)  # fmt: skip
_ROUNDINGS = ("round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "")
_PART = 1 << 15  # elements


# ---------------------------------------------------------------- where elements come from


def _source(target: int, size: int, mode: str, start: float, end: float) -> Any:
    """The place along an axis of `size` elements that each of `target` elements comes from.

    A quotient of whole numbers is rounded once, so that its floor is exact.
    """
    place = np.arange(target, dtype=np.float64)
    if target == 1 and mode in ("align_corners", "pytorch_half_pixel"):
        return np.zeros(1)
    if mode == "align_corners":
        return place * (size - 1) / (target - 1)
    if mode == "asymmetric":
        return place * size / target
    if mode == "tf_half_pixel_for_nn":
        return (2 * place + 1) * size / (2 * target)
    if mode == "tf_crop_and_resize":
        if target == 1:
            return np.full(1, 0.5 * (start + end) * (size - 1))
        return start * (size - 1) + place * (end - start) * (size - 1) / (target - 1)
    return ((2 * place + 1) * size - target) / (2 * target)


def _nearest(place: Any, rounding: str) -> Any:
    if rounding == "floor":
        return np.floor(place)
    if rounding == "ceil":
        return np.ceil(place)
    return np.ceil(place - 0.5) if rounding == "round_prefer_floor" else np.floor(place + 0.5)


def _taps(place: Any, size: int, method: str, settings: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The indices and weights of the elements that make up each of the result."""
    if method == "nearest_neighbor":
        index = np.clip(_nearest(place, settings["rounding"]), 0, size - 1)
        return [(index.astype(np.int64), np.ones(place.shape))]
    first = np.floor(place)
    between = place - first
    linear = method == "linear"
    weights = linear_weights(between) if linear else cubic_weights(between, settings["alpha"])
    found = [first + offset for offset in ((0, 1) if linear else (-1, 0, 1, 2))]
    if settings["exclude"] and not linear:
        inside = [(i >= 0) & (i <= size - 1) for i in found]
        weights = [np.where(seen, weight, 0) for seen, weight in zip(inside, weights)]
        total = sum(weights)
        weights = [weight / total for weight in weights]
    places = [np.clip(index, 0, size - 1).astype(np.int64) for index in found]
    return list(zip(places, weights))


def _along(x: Any, axis: int, taps: list[tuple[Any, Any]]) -> Any:
    """`x` with an axis of other elements, each a sum of some of its own."""
    if len(taps) == 1:
        return np.take(x, taps[0][0], axis)
    spread = (-1, *(1,) * (x.ndim - axis - 1))
    total: Any = 0
    for index, weight in taps:
        chosen = np.take(x, index, axis).astype(np.float64, copy=False)
        total = total + weighted(chosen, weight.reshape(spread))
    return total


def _along_all(x: Any, taps: list[list[tuple[Any, Any]]], dtype: Any) -> Any:
    """`x` with all but its first axis of other elements, rounded to a dtype."""
    for axis, along in enumerate(taps, 1):
        x = _along(x, axis, along)
    return x if x.dtype == dtype else rounded(x.astype(np.float64), dtype)


def _resize(data: Any, size: tuple[int, ...], layout: Layout, settings: dict[str, Any]) -> Any:
    x = layout.unpack(data)
    spatial, method, mode = x.shape[2:], settings["method"], settings["mode"]
    axes = len(spatial)
    roi = settings["roi"] or (0.0,) * (2 * axes)
    places = [_source(size[a], spatial[a], mode, roi[a], roi[axes + a]) for a in range(axes)]
    taps = [_taps(place, spatial[axis], method, settings) for axis, place in enumerate(places)]
    outside = np.zeros(size, bool)
    if mode == "tf_crop_and_resize":
        for axis, place in enumerate(places):
            beyond = (place < 0) | (place > spatial[axis] - 1)
            outside |= beyond.reshape(-1, *(1,) * (axes - axis - 1))
    dtype = settings["dtype"] or data.dtype
    flat = x.reshape(-1, *spatial)
    result = np.empty((len(flat), *size), dtype)
    rows = max(_PART // max(math.prod(spatial[1:]), math.prod(size[1:]), 1), 1)
    step = max(rows // max(size[0], 1), 1)
    for start in range(0, len(flat), step):
        for row in range(0, size[0], rows):
            place = slice(start, start + step), slice(row, row + rows)
            first = [(index[place[1]], weight[place[1]]) for index, weight in taps[0]]
            made = _along_all(flat[place[0]], [first, *taps[1:]], dtype)
            if outside.any():
                filled = rounded(np.float64(settings["extrapolation"]), dtype)
                made = np.where(outside[place[1]], filled, made)
            result[place] = made
    return layout.pack(result.reshape(*x.shape[:2], *size))


# ---------------------------------------------------------------- operators


@op("image.resize2d", traits={Trait.MIXED_FOLLOW})
def resize2d(
    data: Tensor,
    size: ShapeLike,
    roi: Floats | None = None,
    layout: str = "NCHW",
    method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "round",
    cubic_alpha: float = -0.5,
    cubic_exclude: int = 0,
    extrapolation_value: float = 0.0,
    out_dtype: DType | None = None,
) -> Tensor:
    """Images of another height and width, `size`; one number is both.

    `method` is "nearest_neighbor", "linear" or "cubic", the convolution of Keys with `cubic_alpha`.
    Where `cubic_exclude` is not 0, only elements of the image have a share in it.

    `coordinate_transformation_mode` says where element `i` of `m` is among `n` elements.
    "half_pixel" is `(i + 0.5) * n / m - 0.5`, "asymmetric" `i * n / m`, "align_corners"
    `i * (n - 1) / (m - 1)`. "pytorch_half_pixel" is "half_pixel", but 0 where `m` is 1.
    "tf_half_pixel_for_nn" is `(i + 0.5) * n / m`. "tf_crop_and_resize" spreads the result over the
    part of the image that `roi` names, `[start_h, start_w, end_h, end_w]` as shares of `n - 1`.
    What is beyond the image is then `extrapolation_value`.

    `rounding_method` chooses the nearest element: "round" and "round_prefer_ceil" take the later of
    two, "round_prefer_floor" the earlier; "floor" and "ceil" are the others. "" is "round" where
    corners are aligned, else "floor". Sums are made in float64, along the height first, and
    rounded once to `out_dtype`, or the dtype of `data`. Source: TVM `relax.image.resize2d`.
    """
    settings = _settings(
        roi, method, coordinate_transformation_mode, rounding_method, cubic_alpha, cubic_exclude,
        extrapolation_value, out_dtype,
    )  # fmt: skip
    return _resize(data, size, read_layout("layout", layout, "NCHW"), settings)  # type: ignore[no-any-return]


@op("image.resize3d", traits={Trait.MIXED_FOLLOW})
def resize3d(
    data: Tensor,
    size: ShapeLike,
    roi: Floats | None = None,
    layout: str = "NCDHW",
    method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "",
    cubic_alpha: float = -0.75,
    cubic_exclude: int = 0,
    extrapolation_value: float = 0.0,
    out_dtype: DType | None = None,
) -> Tensor:
    """Volumes of another depth, height and width, `size`; one number is all three.

    The attributes are those of `R.image.resize2d`; `roi` has six numbers, the three where the part
    begins before the three where it ends. Source: TVM `relax.image.resize3d`.
    """
    settings = _settings(
        roi, method, coordinate_transformation_mode, rounding_method, cubic_alpha, cubic_exclude,
        extrapolation_value, out_dtype,
    )  # fmt: skip
    return _resize(data, size, read_layout("layout", layout, "NCDHW"), settings)  # type: ignore[no-any-return]


def _settings(
    roi: Any, method: str, mode: str, rounding: str, alpha: float, exclude: int, value: float,
    dtype: DataType | None,
) -> dict[str, Any]:  # fmt: skip
    return {
        "roi": roi, "method": method, "mode": mode, "rounding": _rounding(rounding, mode),
        "alpha": alpha,
        "exclude": exclude, "extrapolation": value, "dtype": dtype.numpy if dtype else None,
    }  # fmt: skip


# ---------------------------------------------------------------- rules


def _declare(operator: Operator, axes: int) -> None:
    letters = "NC" + SPATIAL[axes]

    @operator.layout_rule
    @takes_packed
    def layouts(
        context: LayoutContext, data: AnyOrder, size: NLayout, layout: str, **others: Any
    ) -> InferLayoutOutput:
        # The size is that of height and width, wherever these are; the result is as the images.
        made = pooling_layouts(context, data, layout, None)
        changed = {name: to for name, to in made.new_attrs.items() if name == "layout"}
        return InferLayoutOutput((*made.input_layouts, size), made.output_layouts, changed)

    @operator.prepare_rule
    def spread(bound: dict[str, Any]) -> dict[str, Any]:
        """One number is the size along every axis."""
        size, roi = bound["size"], bound["roi"]
        if isinstance(size, (list, tuple)) and len(size) == 1:
            size = size[0]
        if (isinstance(size, (int, prim.PrimExpr, PrimValue)) and not isinstance(size, bool)) or (
            isinstance(size, np.integer)
        ):
            size = (size,) * axes
        if isinstance(roi, (int, float)) and not isinstance(roi, bool):
            roi = (roi,) * (2 * axes)
        return {**bound, "size": size, "roi": roi}

    @operator.attribute_rule
    def alone(
        method: str, coordinate_transformation_mode: str, rounding_method: str, **others: Any
    ) -> None:
        _require_one("method", method, topi.image.resize.METHODS)
        mode = coordinate_transformation_mode
        _require_one("coordinate_transformation_mode", mode, _MODES)
        _require_one("rounding_method", rounding_method, _ROUNDINGS)
        read_layout("layout", others["layout"], letters)
        _require_roi(others["roi"], mode, axes)

    @operator.compute()
    def loops(context: ComputeContext, data: te.Tensor, size: Any, **given: Any) -> Any:
        order = read_layout("layout", given["layout"], letters)
        return topi.image.resize.resized(
            data, order, context.shape, _resizing(given), context.dtype
        )

    @operator.infer_call_rule
    def rule(context: InferContext, call: Call) -> StructInfo:
        data, size = operator.operand_infos(call, context)
        given = operator.attributes(call)
        return _infer(context, data, size, given, letters)


def _resizing(given: dict[str, Any]) -> topi.image.resize.Resizing:
    """The attributes of a resizing, as its loops take them."""
    mode = given["coordinate_transformation_mode"]
    return topi.image.resize.Resizing(
        given["roi"] or (), given["method"], mode, _rounding(given["rounding_method"], mode),
        given["cubic_alpha"], given["cubic_exclude"], given["extrapolation_value"],
    )  # fmt: skip


def _rounding(rounding: str, mode: str) -> str:
    """The rounding of places, where it may be left open."""
    return rounding or ("round" if mode == "align_corners" else "floor")


def _require_one(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        listed = ", ".join(f'"{item}"' for item in known)
        raise OperandError(name, f"is {value!r}", message=f"it is one of {listed}", code="RX0204")


def _require_roi(roi: tuple[float, ...] | None, mode: str, axes: int) -> None:
    wanted = 2 * axes
    if roi is None and mode == "tf_crop_and_resize":
        raise OperandError(
            "roi", "is not given", message=f'"{mode}" needs the part of the image', code="RX0204",
            help=f"give {wanted} numbers from 0 to 1: where it begins, and where it ends",
        )  # fmt: skip
    if roi is not None and len(roi) != wanted:
        raise OperandError(
            "roi", f"has {quantity(len(roi), 'number')}", code="RX0204",
            message=f"a part of an image is {wanted} numbers: where it begins along each axis, "
            "then where it ends",
        )  # fmt: skip
    if roi is not None and not all(map(math.isfinite, roi)):
        raise OperandError("roi", f"is {roi}", message="its numbers are finite", code="RX0204")


def _infer(
    context: InferContext,
    data: TensorStructInfo,
    size: ShapeStructInfo,
    given: dict[str, Any],
    letters: str,
) -> StructInfo:
    dtype: DataType = given["out_dtype"] or data.dtype
    accepted = "any" if given["method"] == "nearest_neighbor" else "number"
    require_dtype("data", data.dtype, accepted)
    require_result_dtype("out_dtype", dtype, accepted)
    layout = read_layout("layout", given["layout"], letters)
    axes = len(letters) - 2
    if size.ndim not in (-1, axes):
        wanted = " and ".join(letters[2:]) if axes == 2 else "D, H and W"
        fact = f"has {quantity(size.ndim, 'number')}"
        raise OperandError("size", fact, message=f"the size is {wanted}", code="RX0204")
    dims = layout.dims(context, "data", data)
    for dim in size.values or ():
        if isinstance(dim, IntImm) and dim.value < 0:
            message = "a tensor has no dimension below 0"
            raise OperandError("size", f"has {dim.value}", message=message, code="RX0204")
    for letter, dim in zip(letters[2:], dims[2:] if dims is not None else ()):
        if obviously_inside(ONE, dim):
            continue
        text = f"`data` has {dim_text(dim)} elements along {letter}, and nothing is made of none"
        error = OperandError("data", f"has {dim_text(dim)} elements along {letter}", message=text)
        require_inside(context, ONE, dim, error, text)
    if dims is None or size.values is None:
        return tensor_of(None, dtype, data.vdevice, layout.rank)
    resized = layout.arrange(context, "size", (*dims[:2], *size.values))
    return tensor_of(resized, dtype, data.vdevice)


def _differentiate(operator: Operator, axes: int) -> None:
    letters = "NC" + SPATIAL[axes]

    @operator.gradient
    def gradient(
        context: GradientContext, data: Expr, size: Expr, layout: str, roi: Any,
        out_dtype: DataType | None, **settings: Any,
    ) -> Gradients:  # fmt: skip
        order = read_layout("layout", layout, letters)
        grad, x = to_plain(context.grad, order), to_plain(data, order)
        settings |= {"extrapolation_value": 0.0, "layout": letters}
        for axis in range(axes):
            own, made = known_dims("data", x)[axis + 2], known_dims("out", grad)[axis + 2]
            shares = _shares(operator, axis, axes, own, made, roi, dtype_of(grad), settings)
            last = [a for a in range(axes + 2) if a != axis + 2] + [axis + 2]
            spread = R.matmul(R.permute_dims(grad, last), shares)
            grad = R.permute_dims(spread, [last.index(a) for a in range(axes + 2)])
        return cast_like(from_plain(grad, order), data), None


def _shares(
    operator: Operator, axis: int, axes: int, own: PrimExpr, made: PrimExpr, roi: Any,
    dtype: DataType, settings: dict[str, Any],
) -> Expr:  # fmt: skip
    """The share of each element in each of the result along one axis: (made, own).

    They are what becomes of images that are 0 but for one element, each a channel.
    """

    def along(size: PrimExpr) -> list[Any]:
        return [size if a == axis else 1 for a in range(axes)]

    part = None
    if roi is not None:
        part = [bound if k % axes == axis else k // axes for k, bound in enumerate(roi)]
    units = R.reshape(R.eye(own, own, 0, dtype), [1, own, *along(own)])
    found = operator(units, along(made), part, **settings)
    shares: Expr = R.permute_dims(R.reshape(found, [own, made]))
    return shares


for _axes, _operator in ((2, resize2d), (3, resize3d)):
    _declare(_operator, _axes)
    _differentiate(_operator, _axes)

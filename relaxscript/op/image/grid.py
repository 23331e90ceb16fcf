"""Images and volumes sampled at the places of a grid. Source: TVM `relax.image`, ONNX."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from relaxscript.dtypes import converted
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Call, Constant, Expr, PrimValue
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import R, cast_like, dtype_of, known_rank
from relaxscript.op.nn.layouts import from_plain, read_layout, to_plain
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import ShapeLike, Tensor
from relaxscript.opdef.shapes import (
    ONE,
    Dims,
    common_vdevice,
    dims_of,
    number,
    obviously_inside,
    require_dtype,
    require_equal,
    require_inside,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

from .grid_gradients import sampled_gradients
from .interpolation import cubic_weights, linear_weights, weighted

__all__ = ["affine_grid", "grid_sample"]

_PART = 1 << 13  # elements


# ---------------------------------------------------------------- sampling


@op("image.grid_sample", traits={Trait.MIXED_FOLLOW}, alike=())
def grid_sample(
    data: Tensor,
    grid: Tensor,
    method: str = "bilinear",
    layout: str = "NCHW",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:
    """`data` at the places of a grid, which has the shape (N, 2, H, W), x before y.

    -1 and 1 are the outer edges of the first and last element along an axis. With `align_corners`
    they are their centers. With a `layout` such as "NCDHW" the grid is (N, 3, D, H, W), of x, y, z.

    `method` is "nearest" (of two the even one), "bilinear" (in volumes trilinear), or "bicubic" for
    images only. Elements beyond `data` are 0, those of its border, or those of its reflection, as
    `padding_mode` says: "zeros", "border", "reflection". A place that is NaN is far outside.

    Places and sums are computed in float64 and rounded once. Source: TVM `relax.image.grid_sample`,
    ONNX `GridSample`.
    """
    letters = "NCDHW" if "D" in layout else "NCHW"
    order = read_layout("layout", layout, letters)
    x = order.unpack(data)
    result = np.empty((*x.shape[:2], *grid.shape[2:]), data.dtype)
    count = math.prod(grid.shape[2:])
    step = max(_PART // max(x.shape[1], 1), 1)
    for image, places, found in zip(x, grid, result):
        flat, target = places.reshape(len(places), count), found.reshape(len(found), count)
        for start in range(0, count, step):
            part = flat[:, start : start + step].astype(np.float64)
            made = _sample(image, part, method, padding_mode, align_corners)
            target[:, start : start + step] = converted(made, data.dtype)
    return order.pack(result)  # type: ignore[no-any-return]


def _sample(image: Any, places: Any, method: str, padding: str, aligned: bool) -> Any:
    """The channels of an image at some places, the columns of (axes, count)."""
    indices, weights = [], []
    for size, along in zip(image.shape[1:], places[::-1]):
        index, share = _taps(along, size, method, padding, aligned)
        indices.append(index)
        weights.append(share)
    total: Any = 0
    for chosen in itertools.product(*(range(len(w)) for w in weights)):
        where, weight = [], np.ones(places.shape[1])
        for axis, tap in enumerate(chosen):
            index, size = indices[axis][tap], image.shape[1 + axis]
            inside = (index >= 0) & (index <= size - 1)
            weight = np.where(inside, weight * weights[axis][tap], 0)
            where.append(np.clip(index, 0, size - 1).astype(np.int64))
        total = total + weighted(image[(slice(None), *where)].astype(np.float64), weight)
    return total


def _taps(place: Any, size: int, method: str, padding: str, aligned: bool) -> tuple[Any, Any]:
    """The indices of the elements around places along an axis, and their weights."""
    place = (place + 1) * (size - 1) / 2 if aligned else ((place + 1) * size - 1) / 2
    place = np.where(np.isnan(place), -np.inf, place)
    cubic = method == "bicubic"
    # Of cubic interpolation the elements are padded, of the others the place itself.
    place = place if cubic else _inside(place, size, padding, aligned)
    # Nothing is near a place that is so far outside.
    place = np.clip(place, -4.0 * size - 8, 5.0 * size + 8) if padding == "zeros" else place
    if method == "nearest":
        return [np.rint(place)], [np.ones(place.shape)]
    first = np.floor(place)
    between = np.where(np.isfinite(place), place - first, 0)
    weights = (
        cubic_weights(between, topi.image.grid.CUBIC_ALPHA) if cubic else linear_weights(between)
    )
    around = [first + offset for offset in ((-1, 0, 1, 2) if cubic else (0, 1))]
    if cubic:
        around = [_inside(index, size, padding, aligned) for index in around]
    return around, weights


def _inside(place: Any, size: int, padding: str, aligned: bool) -> Any:
    """Places beyond an axis as ones on it, unless there are zeros."""
    if padding == "zeros":
        return place
    if padding == "reflection":
        low, span = (0.0, size - 1.0) if aligned else (-0.5, float(size))
        if span == 0:
            return np.zeros(place.shape)
        around = np.fmod(np.abs(place - low), 2 * span)
        place = low + np.minimum(around, 2 * span - around)
        place = np.where(np.isnan(place), 0, place)  # an infinite one
    return np.clip(place, 0, size - 1)


@grid_sample.compute()
def _(
    context: ComputeContext,
    data: te.Tensor,
    grid: te.Tensor,
    method: str,
    layout: str,
    padding_mode: str,
    align_corners: bool,
) -> te.Tensor:
    order = read_layout("layout", layout, "NCDHW" if "D" in layout else "NCHW")
    made: te.Tensor = topi.image.grid.sampled(
        data, grid, order, context.shape, method, padding_mode, align_corners
    )
    return made


@grid_sample.attribute_rule
def _(method: str, layout: str, padding_mode: str, align_corners: bool) -> None:
    for name, value, known in (
        ("method", method, topi.image.grid.METHODS),
        ("padding_mode", padding_mode, topi.image.grid.PADDINGS),
    ):
        if value not in known:
            listed = ", ".join(f'"{item}"' for item in known)
            message = f"it is one of {listed}"
            raise OperandError(name, f"is {value!r}", message=message, code="RX0204")
    letters = "NCDHW" if "D" in layout else "NCHW"
    read_layout("layout", layout, letters)
    if letters == "NCDHW" and method == "bicubic":
        message = "there is no cubic interpolation of volumes here"
        raise OperandError("method", "is 'bicubic'", message=message, code="RX0204")


@grid_sample.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    grid: TensorStructInfo,
    method: str,
    layout: str,
    padding_mode: str,
    align_corners: bool,
) -> StructInfo:
    require_dtype("data", data.dtype, "float")
    require_dtype("grid", grid.dtype, "float")
    vdevice = common_vdevice({"data": data, "grid": grid})
    letters = "NCDHW" if "D" in layout else "NCHW"
    order = read_layout("layout", layout, letters)
    dims, places = order.dims(context, "data", data), dims_of(grid)
    axes = len(letters) - 2
    if (grid.ndim if places is None else len(places)) not in (-1, len(letters)):
        coordinates = quantity(axes, "coordinate")
        message = f"a grid has the axes N, {coordinates}, {', '.join(letters[2:])}"
        raise OperandError("grid", shape_fact(grid, places), message=message)
    if dims is not None:
        _require_elements(context, dims, letters)
    if places is None:
        return tensor_of(None, data.dtype, vdevice, order.rank)
    fact = f"has {dim_text(places[1])} elements along axis 1"
    message = f"a grid holds {axes} coordinates of each place there"
    error = OperandError("grid", fact, message=message)
    require_equal(context, number(axes), places[1], error, f"`grid` {fact}, not {axes}")
    if dims is None:
        return tensor_of(None, data.dtype, vdevice, order.rank)
    fact, also = f"has {dim_text(places[0])} grids", {"data": f"has {dim_text(dims[0])} samples"}
    error = OperandError("grid", fact, also=also)
    text = f"`grid` has {dim_text(places[0])} grids for {dim_text(dims[0])} samples"
    require_equal(context, dims[0], places[0], error, text)
    sampled = order.arrange(context, "data", (*dims[:2], *places[2:]))
    return tensor_of(sampled, data.dtype, vdevice)


def _require_elements(context: InferContext, dims: Dims, letters: str) -> None:
    for letter, dim in zip(letters[2:], dims[2:]):
        if obviously_inside(ONE, dim):
            continue
        text = f"`data` has {dim_text(dim)} elements along {letter}, and nothing is made of none"
        error = OperandError("data", f"has {dim_text(dim)} elements along {letter}", message=text)
        require_inside(context, ONE, dim, error, text)


# ---------------------------------------------------------------- grids


@op("image.affine_grid", traits={Trait.MIXED_FOLLOW})
def affine_grid(data: Tensor, size: ShapeLike, *, align_corners: bool = True) -> Tensor:
    """The grid of the places to which an affine map takes the elements of an image.

    `data` are the matrices, of shape (N, 2, 3), and `size` is the height and width of the image;
    the grid has the shape (N, 2, H, W), x before y, for `R.image.grid_sample`. One number is both.
    Matrices of shape (N, 3, 4) and three numbers are for volumes.

    Coordinates go from -1 to 1, the centers of the first and last element along an axis. These are
    the outer edges without `align_corners`. The one element along an axis is at 0. All is computed
    in float64 and rounded once. Source: TVM `relax.image.affine_grid`, ONNX `AffineGrid`.
    """
    axes = len(size)
    wide = data.astype(np.float64)
    spread = [(-1, *(1,) * (axes - 1 - axis)) for axis in range(axes)]
    parts = [_coordinates(size[a], align_corners).reshape(spread[a]) for a in range(axes)]
    result = np.empty((len(data), axes, *size), data.dtype)
    for matrix, places in zip(wide, result):
        for row, found in zip(matrix, places):
            total: Any = row[axes]
            for column, part in zip(row, reversed(parts)):
                total = total + column * part
            found[...] = converted(np.broadcast_to(total, size), data.dtype)
    return result


def _coordinates(size: int, aligned: bool) -> Any:
    place = np.arange(size, dtype=np.float64)
    if aligned:
        return (2 * place - (size - 1)) / max(size - 1, 1)
    return (2 * place + 1 - size) / max(size, 1)


@affine_grid.compute()
def _(context: ComputeContext, data: te.Tensor, size: Any, align_corners: bool) -> te.Tensor:
    made: te.Tensor = topi.image.grid.affine_places(data, context.shape, align_corners)
    return made


@affine_grid.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    """One number is the height and the width."""
    size = bound["size"]
    if isinstance(size, (int, np.integer, prim.PrimExpr, PrimValue)) and not isinstance(size, bool):
        return {**bound, "size": (size, size)}
    return bound


@affine_grid.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    data, size = affine_grid.operand_infos(call, context)
    require_dtype("data", data.dtype, "float")
    if size.ndim not in (-1, 2, 3):
        fact = f"has {quantity(size.ndim, 'number')}"
        message = "the size is the height and width of an image, or of a volume the depth as well"
        raise OperandError("size", fact, message=message, code="RX0204")
    for dim in size.values or ():
        if isinstance(dim, IntImm) and dim.value < 0:
            message = "a tensor has no dimension below 0"
            raise OperandError("size", f"has {dim.value}", message=message, code="RX0204")
    dims = dims_of(data)
    if (data.ndim if dims is None else len(dims)) not in (-1, 3):
        message = "affine maps are matrices, one for each sample"
        raise OperandError("data", shape_fact(data, dims), message=message)
    if size.ndim < 0:
        return tensor_of(None, data.dtype, data.vdevice)
    for axis, wanted in ((1, size.ndim), (2, size.ndim + 1)):
        if dims is not None:
            fact = f"has {dim_text(dims[axis])} elements along axis {axis}"
            also = {"size": f"has {quantity(size.ndim, 'number')}"}
            error = OperandError("data", fact, also=also, help=f"they must be {wanted}")
            text = f"`data` {fact}, not {wanted}"
            require_equal(context, number(wanted), dims[axis], error, text)
    if dims is None or size.values is None:
        return tensor_of(None, data.dtype, data.vdevice, size.ndim + 2)
    found = (dims[0], number(size.ndim), *size.values)
    return tensor_of(found, data.dtype, data.vdevice)


@affine_grid.gradient
def _(context: GradientContext, data: Expr, size: Expr, align_corners: bool) -> Gradients:
    # A grid is linear in its matrix. The axes themselves are the grids of unit matrices.
    axes = known_rank("out", context.out) - 2
    units = np.eye(axes, axes + 1)[None]
    places = R.squeeze(
        R.image.affine_grid(Constant.make(units), size, align_corners=align_corners), 0
    )
    ones = np.zeros((1, axes, axes + 1))
    ones[0, 0, axes] = 1
    one = R.image.affine_grid(Constant.make(ones), size, align_corners=align_corners)
    constant = R.strided_slice(R.squeeze(one, 0), [0], [0], [1])
    columns = R.astype(R.concat([places, constant], 0), dtype_of(context.grad))
    letters = "dhw"[-axes:]
    found = R.einsum([context.grad, columns], f"nr{letters},c{letters}->nrc")
    return cast_like(found, data), None


@grid_sample.gradient
def _(
    context: GradientContext, data: Expr, grid: Expr, method: str, layout: str, padding_mode: str,
    align_corners: bool,
) -> Gradients:  # fmt: skip
    order = read_layout("layout", layout, "NCDHW" if "D" in layout else "NCHW")
    grad, x = to_plain(context.grad, order), to_plain(data, order)
    by_data, by_grid = sampled_gradients(grad, x, grid, method, padding_mode, align_corners)
    return cast_like(from_plain(by_data, order), data), cast_like(by_grid, grid)

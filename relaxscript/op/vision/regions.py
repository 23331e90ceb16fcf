"""Regions of images made into images of one size. Source: TVM `relax.vision`, ONNX.

How many elements make up one of the result depends on the values of the regions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxscript.dtypes import converted
from relaxscript.errors import OperandError
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.nn.layouts import read_layout
from relaxscript.op.nn.windows import per_axis
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor
from relaxscript.opdef.shapes import (
    ONE,
    common_vdevice,
    number,
    obviously_inside,
    require_dtype,
    require_inside,
    tensor_of,
)

from .operands import axes_of, require_length

__all__ = ["roi_align", "roi_pool"]

_PART = 1 << 14  # elements


def _image_of(data: Any, roi: Any) -> tuple[Any, Any]:
    """The image that a region is of, as (channels, height, width), and its corners."""
    where = roi.astype(np.float64)
    if not np.isfinite(where).all():
        raise ValueError(f"a region has finite numbers, and one is {roi.tolist()}")
    index = int(where[0])
    if not 0 <= index < len(data):
        raise IndexError(f"a region is of sample {index}, and there are {len(data)}")
    return data[index], where[1:]


# ---------------------------------------------------------------- by interpolation


@op("vision.roi_align", alike=())
def roi_align(
    data: Tensor,
    rois: Tensor,
    pooled_size: int | Axes,
    spatial_scale: float,
    sample_ratio: int = -1,
    aligned: bool = False,
    layout: str = "NCHW",
    mode: str = "avg",
) -> Tensor:
    """Each region of an image as an image of `pooled_size`, by linear interpolation.

    `rois` has the shape (regions, 5): the sample, and x and y of two corners, which are multiplied
    by `spatial_scale`. One number for `pooled_size` is height and width. A region is parted into so
    many parts. Each gives the mean of its samples ("avg" as `mode`) or the largest ("max"). There
    are `sample_ratio` of them along both axes, evenly spread. Without that they are as many as a
    part has elements, rounded up.

    A sample more than one element beyond the image is 0, one less far is that of the border. A
    region is at least one element high and wide, unless it is `aligned`; a part without samples
    is 0. Corners are not moved by half an element: for that, move `rois` by it beforehand.

    All is computed in float64 and rounded once. Raises `IndexError` for a sample that is not
    there, `ValueError` for a region that is not finite. Source: TVM `relax.vision.roi_align`, ONNX
    `RoiAlign`.
    """
    order = read_layout("layout", layout, "NCHW")
    x = order.unpack(data)
    height, width = per_axis("pooled_size", pooled_size, 2, 1)
    result = np.zeros((len(rois), x.shape[1], height, width), data.dtype)
    for found, roi in zip(result, rois):
        image, corners = _image_of(x, roi)
        left, top, right, bottom = (float(c) * spatial_scale for c in corners)
        rows = _samples(top, bottom, height, sample_ratio, aligned, image.shape[1])
        columns = _samples(left, right, width, sample_ratio, aligned, image.shape[2])
        for row, vertical in enumerate(rows):
            for column, horizontal in enumerate(columns):
                made = _combined(image, vertical, horizontal, mode == "max")
                found[:, row, column] = converted(made, data.dtype)
    return order.pack(result)  # type: ignore[no-any-return]


def _samples(start: float, end: float, parts: int, ratio: int, aligned: bool, size: int) -> Any:
    """For each part along an axis the indices and weights of two elements for each sample."""
    length = end - start if aligned else max(end - start, 1.0)
    part = length / parts
    count = ratio if ratio > 0 else max(math.ceil(part), 0)
    found = []
    for number_ in range(parts):
        place = start + number_ * part + (np.arange(count) + 0.5) * (part / max(count, 1))
        outside = (place < -1) | (place > size)
        place = np.clip(place, 0, size - 1)
        low = np.floor(place).astype(np.int64)
        between = place - low
        high = np.minimum(low + 1, size - 1)
        found.append((low, high, np.where(outside, np.nan, between)))
    return found


def _combined(image: Any, vertical: Any, horizontal: Any, largest: bool) -> Any:
    """For each channel the mean or the largest of the samples of one part."""
    low_y, high_y, y = vertical
    low_x, high_x, x = horizontal
    channels = len(image)
    if not len(y) or not len(x):
        return np.zeros(channels)
    totals = np.full(channels, -np.inf) if largest else np.zeros(channels)
    step = max(_PART // (max(channels, 1) * len(x)), 1)
    for first in range(0, len(y), step):
        some = slice(first, first + step)
        dy, dx = y[some, None], x[None, :]
        outside = np.isnan(dy) | np.isnan(dx)
        dy, dx = np.nan_to_num(dy), np.nan_to_num(dx)
        total: Any = 0
        for rows, share in ((low_y, 1 - dy), (high_y, dy)):
            for columns, other in ((low_x, 1 - dx), (high_x, dx)):
                chosen = image[:, rows[some, None], columns[None, :]].astype(np.float64)
                weight = share * other
                total = total + np.where(weight == 0, 0, chosen * weight)
        total = np.where(outside, 0, total)
        if largest:
            totals = np.maximum(totals, total.max(axis=(1, 2)))
        else:
            totals = totals + total.sum(axis=(1, 2))
    return totals if largest else totals / (len(y) * len(x))


@roi_align.attribute_rule
def _(pooled_size: Any, layout: str, mode: str, **others: Any) -> None:
    per_axis("pooled_size", pooled_size, 2, 1)
    read_layout("layout", layout, "NCHW")
    if mode not in ("avg", "max"):
        message = 'the mode is "avg" or "max"'
        raise OperandError("mode", f"is {mode!r}", message=message, code="RX0204")
    _require_finite(others["spatial_scale"])


def _require_finite(scale: float) -> None:
    if not math.isfinite(scale):
        message = "a scale is a finite number"
        raise OperandError("spatial_scale", f"is {scale}", message=message, code="RX0204")


@roi_align.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    rois: TensorStructInfo,
    pooled_size: Any,
    layout: str,
    **others: Any,
) -> StructInfo:
    return _infer(context, data, rois, pooled_size, layout)


def _infer(
    context: InferContext,
    data: TensorStructInfo,
    rois: TensorStructInfo,
    pooled_size: Any,
    layout: str,
) -> StructInfo:
    require_dtype("data", data.dtype, "float")
    require_dtype("rois", rois.dtype, "float")
    vdevice = common_vdevice({"data": data, "rois": rois})
    order = read_layout("layout", layout, "NCHW")
    dims = order.dims(context, "data", data)
    places = axes_of("rois", rois, "regions, 5")
    why = "a region is the number of its sample and two corners of two coordinates"
    require_length(context, "rois", places, 1, 5, why)
    for letter, dim in zip("HW", dims[2:] if dims is not None else ()):
        if obviously_inside(ONE, dim):
            continue
        fact = f"has {dim_text(dim)} elements along {letter}"
        message = "there is nothing in an image of no elements"
        text = f"`data` {fact}, and {message}"
        error = OperandError("data", fact, message=message)
        require_inside(context, ONE, dim, error, text)
    if dims is None or places is None:
        return tensor_of(None, data.dtype, vdevice, order.rank)
    size = per_axis("pooled_size", pooled_size, 2, 1)
    pooled = (places[0], dims[1], *map(number, size))
    return tensor_of(order.arrange(context, "data", pooled), data.dtype, vdevice)


# ---------------------------------------------------------------- by the largest element


@op("vision.roi_pool", alike=())
def roi_pool(
    data: Tensor,
    rois: Tensor,
    pooled_size: int | Axes,
    spatial_scale: float,
    layout: str = "NCHW",
) -> Tensor:
    """Each region of an image as an image of `pooled_size`, of the largest elements.

    `rois` has the shape (regions, 5): the sample, and x and y of the first and of the last element.
    They are multiplied by `spatial_scale` and rounded, halves upwards. One number for `pooled_size`
    is height and width. A region is parted into so many parts, which overlap where they do not end
    between elements. A part with no element of the image is 0.

    Parts are computed in float64. Raises `IndexError` for a sample that is not there, `ValueError`
    for a region that is not finite. Source: TVM `relax.vision.roi_pool`, ONNX `MaxRoiPool`.
    """
    order = read_layout("layout", layout, "NCHW")
    x = order.unpack(data)
    height, width = per_axis("pooled_size", pooled_size, 2, 1)
    result = np.zeros((len(rois), x.shape[1], height, width), data.dtype)
    for found, roi in zip(result, rois):
        image, corners = _image_of(x, roi)
        left, top, right, bottom = np.floor(corners * spatial_scale + 0.5)
        rows = _parts(top, bottom, height, image.shape[1])
        columns = _parts(left, right, width, image.shape[2])
        for row, vertical in enumerate(rows):
            for column, horizontal in enumerate(columns):
                part = image[:, vertical, horizontal]
                if part.shape[1] and part.shape[2]:
                    found[:, row, column] = part.max(axis=(1, 2))
    return order.pack(result)  # type: ignore[no-any-return]


def _parts(first: float, last: float, parts: int, size: int) -> list[slice]:
    """The elements of each part of a region along an axis, of those that there are."""
    part = max(last - first + 1, 1.0) / parts
    bounds = [
        (first + math.floor(number_ * part), first + math.ceil((number_ + 1) * part))
        for number_ in range(parts)
    ]
    return [slice(*(int(min(max(bound, 0), size)) for bound in pair)) for pair in bounds]


@roi_pool.attribute_rule
def _(pooled_size: Any, spatial_scale: float, layout: str) -> None:
    per_axis("pooled_size", pooled_size, 2, 1)
    read_layout("layout", layout, "NCHW")
    _require_finite(spatial_scale)


@roi_pool.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    rois: TensorStructInfo,
    pooled_size: Any,
    spatial_scale: float,
    layout: str,
) -> StructInfo:
    return _infer(context, data, rois, pooled_size, layout)


for _operator in (roi_align, roi_pool):
    _operator.lacks("gradient", "no operator gives back to elements what was made of several")
    _operator.lacks("compute", "how many elements a part has depends on the regions", packed=True)

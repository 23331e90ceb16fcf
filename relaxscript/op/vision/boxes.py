"""Boxes that were detected, and which of them are left. Source: TVM `relax.vision`, ONNX.

All of it depends on the values of the boxes, step by step, so that there is no compute.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Scalar, Tensor, Value
from relaxscript.opdef.shapes import (
    ONE,
    Dims,
    common_dtype,
    common_vdevice,
    dims_of,
    number,
    require_dtype,
    tensor_of,
)

from .operands import axes_of, require_columns, require_length

__all__ = ["all_class_non_max_suppression", "get_valid_counts", "non_max_suppression"]

_INT32, _INT64 = DataType("int32"), DataType("int64")
_COLUMNS = "samples, boxes, numbers of a box"


def _corners(boxes: Any) -> tuple[Any, Any]:
    """The least and the greatest corner of boxes, which any two opposite corners give."""
    wide = boxes.astype(np.float64)
    one, other = wide[..., :2], wide[..., 2:4]
    return np.minimum(one, other), np.maximum(one, other)


def _overlaps(low: Any, high: Any, box: int, others: Any) -> Any:
    """The area that a box shares with each of the others, divided by that of both together."""
    common = np.minimum(high[others], high[box]) - np.maximum(low[others], low[box])
    shared = np.prod(np.maximum(common, 0), axis=-1)
    areas = np.prod(high - low, axis=-1)
    whole = areas[others] + areas[box] - shared
    return np.where(whole > 0, shared / np.where(whole > 0, whole, 1), 0)


# ---------------------------------------------------------------- boxes with a score


@op("vision.get_valid_counts")
def get_valid_counts(
    data: Tensor, score_threshold: float = 0, id_index: int = 0, score_index: int = 1
) -> Value:
    """The boxes with a score above `score_threshold`, moved to the front of each sample.

    `data` has the shape (samples, boxes, numbers of a box); `score_index` and `id_index` are the
    places of the score and of the class among the numbers. A class below 0 is none; where
    `id_index` is negative there are no classes.

    The result is a tuple: how many boxes are left of each sample, the boxes, and their indices in
    `data`, int32. What is behind them is -1. Source: TVM `relax.vision.get_valid_counts`.
    """
    counts = np.zeros(len(data), np.int32)
    rows = np.full(data.shape, -1, data.dtype)
    indices = np.full(data.shape[:2], -1, np.int32)
    for sample, boxes in enumerate(data):
        valid = boxes[:, score_index] > score_threshold
        if id_index >= 0:
            valid &= boxes[:, id_index] >= 0
        places = np.flatnonzero(valid)
        counts[sample] = len(places)
        rows[sample, : len(places)] = boxes[places]
        indices[sample, : len(places)] = places
    return counts, rows, indices


@get_valid_counts.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    score_threshold: float,
    id_index: int,
    score_index: int,
) -> StructInfo:
    require_dtype("data", data.dtype, "float")
    dims = axes_of("data", data, _COLUMNS)
    require_columns(context, dims, {"id_index": id_index, "score_index": score_index})
    counts = tensor_of(dims and dims[:1], _INT32, data.vdevice, 1)
    boxes = tensor_of(dims, data.dtype, data.vdevice, 3)
    indices = tensor_of(dims and dims[:2], _INT32, data.vdevice, 2)
    return TupleStructInfo.make((counts, boxes, indices))


@get_valid_counts.attribute_rule
def _(score_threshold: float, id_index: int, score_index: int) -> None:
    _require_places(score_index=score_index)


def _require_places(**attributes: int) -> None:
    for name, place in attributes.items():
        if place < 0:
            message = "it counts the numbers of a box from 0"
            raise OperandError(name, f"is {place}", message=message, code="RX0204")


# ---------------------------------------------------------------- of boxes on top of each other


@op("vision.non_max_suppression", alike=())
def non_max_suppression(
    data: Tensor,
    valid_count: Tensor,
    indices: Tensor,
    max_output_size: int = -1,
    iou_threshold: float = 0.5,
    force_suppress: bool = False,
    top_k: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = 0,
    return_indices: bool = True,
    invalid_to_bottom: bool = False,
    soft_nms_sigma: float = 0.0,
    score_threshold: float = 0.0,
) -> Value:
    """The boxes that are left when each suppresses those with a lower score that overlap it.

    `data`, `valid_count` and `indices` are what `R.vision.get_valid_counts` gives; two opposite
    corners of a box are the four numbers from `coord_start` on. Of each sample the `top_k` boxes
    with the highest scores are taken, in that order. A box with a score of 0 or less is dropped.
    So is one that an earlier box of its class (any class with `force_suppress`, or where
    `id_index` is negative) overlaps by `iou_threshold` or more. At most `max_output_size` are left.
    Neither number limits anything where it is below 1. Overlaps are computed in float64.

    With a `soft_nms_sigma` above 0 the score of such a box is multiplied by
    `exp(-overlap ** 2 / soft_nms_sigma)` instead. It is dropped where it is no more than
    `score_threshold` when its turn comes.

    The result is a tuple: the indices of the boxes that are left, in the words of `indices`, and
    their counts, both int32; what is behind them is -1. Of a soft suppression the boxes come first.
    Without `return_indices` it is the boxes, in the order of their scores, with -1 for those that
    are dropped. `invalid_to_bottom` moves these to the end.
    Source: TVM `relax.vision.non_max_suppression`.
    """
    boxes = np.full(data.shape, -1, data.dtype)
    left = np.full(data.shape[:2], -1, np.int32)
    counts = np.zeros((len(data), 1), np.int32)
    for sample, rows in enumerate(data):
        kept = min(max(int(valid_count[sample]), 0), len(rows))
        keys = -rows[:kept, score_index].astype(np.float64)
        order = np.argsort(keys, kind="stable")[: top_k if top_k > 0 else kept]
        chosen, scores = _suppress(
            rows[order], max_output_size, iou_threshold, score_index,
            -1 if force_suppress else id_index, coord_start, soft_nms_sigma, score_threshold,
        )  # fmt: skip
        counts[sample] = len(chosen)
        left[sample, : len(chosen)] = indices[sample, order[chosen]]
        places = np.arange(len(chosen)) if invalid_to_bottom and not return_indices else chosen
        boxes[sample, places] = rows[order[chosen]]
        boxes[sample, places, score_index] = scores[chosen]
    if not return_indices:
        return boxes
    return (boxes, left, counts) if soft_nms_sigma > 0 else (left, counts)


def _suppress(
    rows: Any, most: int, threshold: float, score: int, of_class: int, start: int, sigma: float,
    least: float,
) -> tuple[list[int], Any]:  # fmt: skip
    """The indices of the boxes that are left of some in order, and the scores of all."""
    low, high = _corners(rows[:, start : start + 4])
    scores = rows[:, score].copy()
    least = least if sigma > 0 else 0.0
    gone = np.zeros(len(rows), bool)
    chosen: list[int] = []
    for box in range(len(rows)):
        if len(chosen) == most > 0:
            break
        if gone[box] or not scores[box] > least:
            continue
        chosen.append(box)
        behind = np.arange(box + 1, len(rows))
        if of_class >= 0:
            behind = behind[rows[box + 1 :, of_class] == rows[box, of_class]]
        overlaps = _overlaps(low, high, box, behind)
        hit = overlaps >= threshold
        if sigma > 0:
            decay = np.exp(-(overlaps[hit] ** 2) / sigma)
            scores[behind[hit]] = (scores[behind[hit]] * decay).astype(scores.dtype)
        else:
            gone[behind[hit]] = True
    return chosen, scores


@non_max_suppression.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    valid_count: TensorStructInfo,
    indices: TensorStructInfo,
    **given: Any,
) -> StructInfo:
    require_dtype("data", data.dtype, "float")
    require_dtype("valid_count", valid_count.dtype, "integer")
    require_dtype("indices", indices.dtype, "integer")
    operands = {"data": data, "valid_count": valid_count, "indices": indices}
    vdevice = common_vdevice(operands)
    dims = axes_of("data", data, _COLUMNS)
    counts = axes_of("valid_count", valid_count, "samples")
    places = axes_of("indices", indices, "samples, boxes")
    columns = {
        "coord_start": given["coord_start"] + 3,
        "score_index": given["score_index"],
        "id_index": given["id_index"],
    }
    require_columns(context, dims, columns)
    for axis, what in enumerate(("samples", "boxes") if dims is not None else ()):
        also = {"data": f"has {dim_text(dims[axis])} {what}"} if dims is not None else {}
        wanted = None if dims is None else dims[axis]
        require_length(context, "indices", places, axis, wanted, also)
        if axis == 0:
            require_length(context, "valid_count", counts, axis, wanted, also)
    boxes = tensor_of(dims, data.dtype, vdevice, 3)
    if not given["return_indices"]:
        return boxes
    known = dims or places
    left = tensor_of(known and known[:2], _INT32, vdevice, 2)
    count = tensor_of(known and (known[0], ONE), _INT32, vdevice, 2)
    return TupleStructInfo.make(
        (boxes, left, count) if given["soft_nms_sigma"] > 0 else (left, count)
    )


@non_max_suppression.attribute_rule
def _(coord_start: int, score_index: int, **others: Any) -> None:
    _require_places(coord_start=coord_start, score_index=score_index)


# ---------------------------------------------------------------- of each class by itself


@op("vision.all_class_non_max_suppression", alike=())
def all_class_non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Scalar,
    iou_threshold: Scalar,
    score_threshold: Scalar,
    output_format: str = "onnx",
) -> Value:
    """For each sample and class the boxes that are left when the best suppress what overlaps them.

    `boxes` has the shape (samples, boxes, 4), two opposite corners of each, and `scores` (samples,
    classes, boxes). Boxes with a score above `score_threshold` are taken, the highest score first.
    One that overlaps an earlier one by more than `iou_threshold` is dropped. At most
    `max_output_boxes_per_class` are left of a class; a negative number is no limit.

    The result is a tuple. With the `output_format` "onnx" it is rows of sample, class and box,
    (samples * classes * boxes, 3), and how many there are, (1,), int64. With "tensorflow" the rows
    are class and box, (samples, classes * boxes, 2). Their scores come next, (samples, classes *
    boxes), then how many are found of each sample. Behind these all is 0. Overlaps are computed in
    float64. Source: TVM `relax.vision.all_class_non_max_suppression`, ONNX `NonMaxSuppression`.
    """
    samples, classes, count = scores.shape
    most = int(max_output_boxes_per_class.reshape(-1)[0])
    overlap, least = iou_threshold.reshape(-1)[0], score_threshold.reshape(-1)[0]
    rows = np.zeros((samples, classes * count, 3), np.int64)
    left = np.zeros((samples, classes * count), scores.dtype)
    totals = np.zeros(samples, np.int64)
    for sample in range(samples):
        low, high = _corners(boxes[sample])
        for of_class in range(classes):
            own = scores[sample, of_class]
            found = _best(low, high, own, most, float(overlap), float(least))
            start = totals[sample]
            place = slice(start, start + len(found))
            rows[sample, place] = [(sample, of_class, box) for box in found] or 0
            left[sample, place] = own[found]
            totals[sample] += len(found)
    if output_format == "tensorflow":
        return np.ascontiguousarray(rows[:, :, 1:]), left, totals
    flat = np.zeros((samples * classes * count, 3), np.int64)
    listed = [rows[sample, : totals[sample]] for sample in range(samples)]
    flat[: totals.sum()] = np.concatenate(listed) if listed else 0
    return flat, totals.sum(keepdims=True)


def _best(low: Any, high: Any, scores: Any, most: int, overlap: float, least: float) -> list[int]:
    """The indices of the boxes of one class that are left, the highest score first."""
    wide = scores.astype(np.float64)
    order = np.argsort(-wide, kind="stable")
    order = order[wide[order] > least]
    found: list[int] = []
    while len(order) and len(found) != most:
        box = int(order[0])
        found.append(box)
        order = order[1:][_overlaps(low, high, box, order[1:]) <= overlap]
    return found


@all_class_non_max_suppression.infer_rule
def _(
    context: InferContext,
    boxes: TensorStructInfo,
    scores: TensorStructInfo,
    max_output_boxes_per_class: TensorStructInfo,
    iou_threshold: TensorStructInfo,
    score_threshold: TensorStructInfo,
    output_format: str,
) -> StructInfo:
    common_dtype({"boxes": boxes, "scores": scores})
    require_dtype("boxes", boxes.dtype, "float")
    require_dtype("scores", scores.dtype, "float")
    limits = {
        "max_output_boxes_per_class": max_output_boxes_per_class,
        "iou_threshold": iou_threshold,
        "score_threshold": score_threshold,
    }
    for name, info in limits.items():
        require_dtype(name, info.dtype, "integer" if name.startswith("max") else "float")
        _require_one(context, name, info)
    vdevice = common_vdevice({"boxes": boxes, "scores": scores, **limits})
    dims = axes_of("boxes", boxes, "samples, boxes, 4")
    given = axes_of("scores", scores, "samples, classes, boxes")
    require_length(context, "boxes", dims, 2, 4, "a box is two corners of two coordinates")
    if dims is not None:
        for axis, of, what in ((0, 0, "samples"), (2, 1, "boxes")):
            also = {"boxes": f"has {dim_text(dims[of])} {what}"}
            require_length(context, "scores", given, axis, dims[of], also)
    found = _found_dims(dims, given)
    if output_format == "onnx":
        flat = None if found is None else (simplify(prim.Mul.make(*found)), number(3))
        count = tensor_of((ONE,), _INT64, vdevice)
        return TupleStructInfo.make((tensor_of(flat, _INT64, vdevice, 2), count))
    rows = None if found is None else (*found, number(2))
    samples = None if found is None else found[:1]
    return TupleStructInfo.make((
        tensor_of(rows, _INT64, vdevice, 3),
        tensor_of(found, scores.dtype, vdevice, 2),
        tensor_of(samples, _INT64, vdevice, 1),
    ))  # fmt: skip


def _found_dims(boxes: Dims | None, scores: Dims | None) -> Dims | None:
    """The number of samples, and of the boxes of all classes of one."""
    if scores is None:
        return None
    return (scores[0] if boxes is None else boxes[0], simplify(prim.Mul.make(*scores[1:])))


def _require_one(context: InferContext, name: str, info: TensorStructInfo) -> None:
    """Require a tensor of one element, of rank 0 or 1."""
    dims = dims_of(info)
    rank = info.ndim if dims is None else len(dims)
    message = f"`{name}` is one number, a tensor of rank 0 or of one element"
    if rank > 1:
        raise OperandError(name, shape_fact(info, dims), message=message)
    if rank == 1:
        require_length(context, name, dims, 0, 1, message)


@all_class_non_max_suppression.attribute_rule
def _(output_format: str) -> None:
    if output_format not in ("onnx", "tensorflow"):
        message = 'the format is "onnx" or "tensorflow"'
        raise OperandError("output_format", f"is {output_format!r}", message=message, code="RX0204")


for _operator in (get_valid_counts, non_max_suppression, all_class_non_max_suppression):
    _operator.lacks("gradient", "which boxes are left does not follow from them smoothly")
    _operator.lacks(
        "compute", "which boxes it looks at depends on those that are left", packed=True
    )

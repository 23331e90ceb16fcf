"""Boxes from what a network says of anchors. Source: TVM `relax.vision.multibox_transform_loc`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.dtypes import converted
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Floats, Tensor, Value
from relaxscript.opdef.shapes import (
    common_dtype,
    common_vdevice,
    number,
    require_dtype,
    require_inside,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te

from .anchor_loops import boxes_of, scores_of
from .operands import axes_of, require_length

__all__ = ["multibox_transform_loc"]

_PART = 1 << 13  # anchors


@op("vision.multibox_transform_loc")
def multibox_transform_loc(
    cls_pred: Tensor,
    loc_pred: Tensor,
    anchor: Tensor,
    clip: bool = False,
    threshold: float = 0.0,
    variances: Floats = (1.0, 1.0, 1.0, 1.0),
    keep_background: bool = True,
) -> Value:
    """Boxes and the probabilities of their classes, from what is predicted of anchors.

    `cls_pred` holds logits, of shape (samples, classes, anchors), and `loc_pred` four numbers for
    each anchor, (samples, 4 * anchors): x, y, width and height. `anchor` has the shape
    (1, anchors, 4): left, top, right and bottom. The center of a box is that of the anchor, moved
    by the first two numbers, times the anchor's size. Its size is that of the anchor times `exp` of
    the others. All four are multiplied by their `variances` first.

    The result is a tuple of boxes and probabilities. The boxes are top, left, bottom and right, of
    shape (samples, anchors, 4), the probabilities the softmax over the classes. Boxes are
    held between 0 and 1 with `clip`. Probabilities below `threshold` are 0, and those of class 0
    too without `keep_background`. All is computed in float64 and rounded once.
    """
    samples, classes, count = cls_pred.shape
    boxes = np.empty((samples, count, 4), cls_pred.dtype)
    scores = np.empty(cls_pred.shape, cls_pred.dtype)
    step = max(_PART // max(classes, 4), 1)
    for sample in range(samples):
        moves = loc_pred[sample].reshape(count, 4)
        for start in range(0, count, step):
            some = slice(start, start + step)
            decoded = _decode(anchor[0, some], moves[some], variances)
            decoded = np.clip(decoded, 0, 1) if clip else decoded
            boxes[sample, some] = converted(decoded, boxes.dtype)
            shares = converted(_softmax(cls_pred[sample, :, some]), scores.dtype)
            scores[sample, :, some] = np.where(shares.astype(np.float64) < threshold, 0, shares)
    if not keep_background:
        scores[:, :1] = 0
    return boxes, scores


def _decode(anchors: Any, moves: Any, variances: tuple[float, ...]) -> Any:
    """The boxes of some anchors as top, left, bottom, right."""
    wide, moved = anchors.astype(np.float64), moves.astype(np.float64) * np.asarray(variances)
    low, high = wide[:, :2], wide[:, 2:]
    size = high - low
    center = moved[:, :2] * size + (low + high) * 0.5
    half = 0.5 * np.exp(moved[:, 2:]) * size
    return np.concatenate([(center - half)[:, ::-1], (center + half)[:, ::-1]], axis=1)


def _softmax(logits: Any) -> Any:
    wide = logits.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=0, keepdims=True))
    return powers / powers.sum(axis=0, keepdims=True)


@multibox_transform_loc.compute(ulp=4, sums=4)
def _(
    context: ComputeContext,
    cls_pred: te.Tensor,
    loc_pred: te.Tensor,
    anchor: te.Tensor,
    clip: bool,
    threshold: float,
    variances: tuple[float, ...],
    keep_background: bool,
) -> tuple[te.Tensor, te.Tensor]:
    samples, _, count = cls_pred.shape
    shape = (samples, count, number(4))
    boxes = boxes_of(loc_pred, anchor, shape, cls_pred.dtype, clip, variances)
    return boxes, scores_of(cls_pred, threshold, keep_background)


@multibox_transform_loc.attribute_rule
def _(variances: tuple[float, ...], **others: Any) -> None:
    if len(variances) != 4:
        fact = f"has {quantity(len(variances), 'number')}"
        message = "there are four: of x, y, width and height"
        raise OperandError("variances", fact, message=message, code="RX0204")


@multibox_transform_loc.infer_rule
def _(
    context: InferContext,
    cls_pred: TensorStructInfo,
    loc_pred: TensorStructInfo,
    anchor: TensorStructInfo,
    **attributes: Any,
) -> StructInfo:
    operands = {"cls_pred": cls_pred, "loc_pred": loc_pred, "anchor": anchor}
    dtype, vdevice = common_dtype(operands), common_vdevice(operands)
    for name, info in operands.items():
        require_dtype(name, info.dtype, "float")
    dims = axes_of("cls_pred", cls_pred, "samples, classes, anchors")
    moves = axes_of("loc_pred", loc_pred, "samples, 4 * anchors")
    places = axes_of("anchor", anchor, "1, anchors, 4")
    require_length(context, "anchor", places, 0, 1, "the anchors are the same for all samples")
    require_length(context, "anchor", places, 2, 4, "an anchor is left, top, right and bottom")
    if dims is not None:
        message = "a softmax needs one class at least"
        error = OperandError("cls_pred", f"has {dim_text(dims[1])} classes", message=message)
        text = f"`cls_pred` has {dim_text(dims[1])} classes, and {message}"
        require_inside(context, number(1), dims[1], error, text)
        also = {"cls_pred": f"has {dim_text(dims[0])} samples"}
        require_length(context, "loc_pred", moves, 0, dims[0], also)
        also = {"cls_pred": f"has {dim_text(dims[2])} anchors"}
        require_length(context, "anchor", places, 1, dims[2], also)
        four = simplify(prim.Mul.make(dims[2], number(4)))
        require_length(context, "loc_pred", moves, 1, four, also)
    elif moves is not None and places is not None:
        four = simplify(prim.Mul.make(places[1], number(4)))
        also = {"anchor": f"has {dim_text(places[1])} anchors"}
        require_length(context, "loc_pred", moves, 1, four, also)
    boxes = None if dims is None else (dims[0], dims[2], number(4))
    return TupleStructInfo.make(
        (tensor_of(boxes, dtype, vdevice, 3), tensor_of(dims, dtype, vdevice, 3))
    )


multibox_transform_loc.lacks("gradient", "boxes are decoded when a network is trained already")

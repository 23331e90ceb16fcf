"""Regions of images, and boxes of anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import ranked, refused, result, tensor

IMAGE = np.arange(12, dtype="float64").reshape(1, 1, 3, 4)  # 4 * y + x


def region(*numbers: float) -> Any:
    return np.array([[0, *numbers]], "float64")


def test_a_region_is_sampled_between_elements() -> None:
    # One part with one sample in the middle, at x = 1.5 and y = 1.
    assert R.vision.roi_align(IMAGE, region(0.5, 0.5, 2.5, 1.5), 1, 1.0, 1).item() == 5.5
    # Two by two samples at x = 0.5 and 1.5, y = 0.5 and 1.5.
    assert R.vision.roi_align(IMAGE, region(0, 0, 2, 2), 1, 1.0, 2).item() == 5
    largest = R.vision.roi_align(IMAGE, region(0, 0, 2, 2), 1, 1.0, 2, mode="max")
    assert largest.item() == 4 * 1.5 + 1.5
    parts = R.vision.roi_align(IMAGE, region(0, 0, 2, 2), 2, 1.0)
    assert parts[0, 0].tolist() == [[2.5, 3.5], [6.5, 7.5]]


def test_a_region_is_scaled_and_of_some_size() -> None:
    assert R.vision.roi_align(IMAGE, region(0, 0, 8, 8), 1, 0.25, 2).item() == 5
    point = region(1, 1, 1, 1)
    assert R.vision.roi_align(IMAGE, point, 1, 1.0, 1).item() == 4 * 1.5 + 1.5
    assert R.vision.roi_align(IMAGE, point, 1, 1.0, 1, True).item() == 5
    assert R.vision.roi_align(IMAGE, point, 1, 1.0, -1, True).item() == 0


def test_beyond_an_image_there_is_its_border_and_then_nothing() -> None:
    near = R.vision.roi_align(IMAGE, region(-1.5, 0, -0.5, 2), 1, 1.0, 1)
    assert near.item() == 4
    far = R.vision.roi_align(IMAGE, region(-4, 0, -2, 2), 1, 1.0, 1)
    assert far.item() == 0


def test_the_largest_elements_of_the_parts_of_a_region() -> None:
    found = R.vision.roi_pool(IMAGE, region(0, 0, 3, 2), (2, 2), 1.0)
    assert found[0, 0].tolist() == [[5, 7], [9, 11]]  # the rows 0-1 and 1-2 overlap
    assert R.vision.roi_pool(IMAGE, region(0.5, 0.4, 3, 1), 1, 1.0).item() == 7
    assert R.vision.roi_pool(IMAGE, region(4, 0, 9, 2), 1, 1.0).item() == 0
    assert R.vision.roi_pool(-1 - IMAGE, region(2, 1, 2, 1), 1, 1.0).item() == -7
    assert R.vision.roi_pool(IMAGE, region(4, 4, 6, 4), 1, 0.5).item() == 11


def test_a_region_of_a_sample_that_is_not_there_is_an_error() -> None:
    for pool in (R.vision.roi_align, R.vision.roi_pool):
        for sample in (1.0, -1.0):
            with pytest.raises(IndexError, match="and there are 1"):
                pool(IMAGE, np.array([[sample, 0, 0, 1, 1]]), 1, 1.0)
        with pytest.raises(ValueError, match="a region has finite numbers"):
            pool(IMAGE, region(0, 0, np.inf, 1), 1, 1.0)


def test_the_shapes_of_regions() -> None:
    x, rois = tensor("n", 3, 8, 9), tensor("r", 5)
    assert result(R.vision.roi_align, x, rois, (2, 3), 1.0) == "(r, 3, 2, 3) float32"
    nhwc = result(R.vision.roi_pool, tensor("n", 8, 9, 3), rois, 2, 1.0, "NHWC")
    assert nhwc == "(r, 2, 2, 3) float32"
    assert result(R.vision.roi_align, x, ranked(2), 2, 1.0) == "rank 4 float32"


def test_what_are_no_regions() -> None:
    x, rois = tensor(1, 3, 8, 9), tensor(7, 5)
    align, pool = R.vision.roi_align, R.vision.roi_pool
    assert refused(align, x, tensor(7, 4), 2, 1.0).fact == "has 4 elements along axis 1"
    assert refused(align, x, tensor(5), 2, 1.0).fact == "has shape (5,)"
    assert refused(align, x, rois, 0, 1.0).operand == "pooled_size"
    assert refused(align, x, rois, 2, 1.0, mode="sum").fact == "is 'sum'"
    assert refused(align, x, rois, 2, float("nan")).operand == "spatial_scale"
    assert refused(pool, tensor(1, 3, 0, 9), rois, 2, 1.0).fact == "has 0 elements along H"
    assert refused(pool, x, rois, 2, 1.0, "NCW").operand == "layout"
    assert refused(pool, tensor(1, 3, 8, 9, dtype="int8"), rois, 2, 1.0).code == "RX0202"


def test_boxes_are_anchors_moved_and_stretched() -> None:
    anchor = np.array([[[0, 0, 2, 4], [1, 1, 2, 2]]], "float64")
    moves = np.array([[0.5, 0.25, 0, np.log(2), 0, 0, 0, 0]], "float64")
    logits = np.log(np.array([[[1, 1], [3, 1]]], "float64"))
    boxes, scores = R.vision.multibox_transform_loc(logits, moves, anchor)
    # The center (1, 2) is moved by half of 2 and a quarter of 4; the height doubles.
    np.testing.assert_allclose(boxes[0], [[-1, 1, 7, 3], [1, 1, 2, 2]], rtol=1e-15)
    np.testing.assert_allclose(scores[0], [[0.25, 0.5], [0.75, 0.5]], rtol=1e-15)
    settings: Any = {"clip": True, "threshold": 0.6, "keep_background": False}
    held, kept = R.vision.multibox_transform_loc(logits, moves, anchor, **settings)
    assert held.min() == 0
    assert held.max() == 1
    assert kept[0, 0].tolist() == [0, 0]
    np.testing.assert_allclose(kept[0, 1], [0.75, 0], rtol=1e-15)
    narrow = R.vision.multibox_transform_loc(logits, moves, anchor, variances=[1, 1, 1, 0])[0]
    np.testing.assert_allclose(narrow[0, 0], [1, 1, 5, 3], rtol=1e-15)


def test_the_shapes_of_boxes_of_anchors() -> None:
    decode = R.vision.multibox_transform_loc
    found = result(decode, tensor("n", 3, "m"), ranked(2), tensor(1, "m", 4))
    assert found == "[(n, m, 4) float32; (n, 3, m) float32]"
    assert result(decode, ranked(3), tensor(2, 20), tensor(1, 5, 4)) == (
        "[rank 3 float32; rank 3 float32]"
    )
    logits, anchors = tensor(2, 3, 5), tensor(1, 5, 4)
    assert refused(decode, logits, tensor(2, 19), anchors).fact == "has 19 elements along axis 1"
    assert refused(decode, ranked(3), tensor(2, 19), anchors).operand == "loc_pred"
    assert refused(decode, logits, tensor(3, 20), anchors).operand == "loc_pred"
    assert refused(decode, logits, tensor(2, 20), tensor(1, 6, 4)).operand == "anchor"
    assert refused(decode, logits, tensor(2, 20), tensor(2, 5, 4)).operand == "anchor"
    assert refused(decode, tensor(2, 0, 5), tensor(2, 20), anchors).fact == "has 0 classes"
    assert refused(decode, logits, tensor(2, 20), anchors, variances=[1]).fact == "has 1 number"
    assert refused(decode, logits, tensor(2, 20, dtype="int8"), anchors).code == "RX0202"

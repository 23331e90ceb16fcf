"""Boxes that were detected: which are left, in which order, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests import examples
from relaxscript_tests.op.inference import obliged, ranked, refused, result, tensor

# class, score, and two corners
BOXES = np.array(
    [
        [
            [0, 0.95, 0, 0, 1, 1],
            [0, 0.90, 1.05, 1.05, 0.05, 0.05],  # nearly the first, its corners the other way round
            [1, 0.85, 0, 0, 1, 1],
            [0, 0.60, 2, 2, 3, 3],
            [-1, 0.99, 0, 0, 1, 1],
        ]
    ],
    "float32",
)


def test_boxes_with_a_score_and_a_class_come_first() -> None:
    counts, boxes, indices = R.vision.get_valid_counts(BOXES, 0.7)
    assert (counts.tolist(), counts.dtype) == ([3], np.int32)
    assert indices.tolist() == [[0, 1, 2, -1, -1]]
    assert boxes[0, :3].tobytes() == BOXES[0, :3].tobytes()
    assert (boxes[0, 3:] == -1).all()
    counts, _, indices = R.vision.get_valid_counts(BOXES, 0.7, -1)
    assert (counts.tolist(), indices.tolist()) == ([4], [[0, 1, 2, 4, -1]])
    assert R.vision.get_valid_counts(BOXES[:, ::-1], 0.7)[2].tolist() == [[2, 3, 4, -1, -1]]


def suppressed(boxes: Any = BOXES, least: float = 0.5, **settings: Any) -> Any:
    return R.vision.non_max_suppression(*_valid(boxes, least), **settings)


def _valid(boxes: Any, least: float) -> tuple[Any, Any, Any]:
    counts, rows, indices = R.vision.get_valid_counts(boxes, least)
    return rows, counts, indices


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [0, 2, 3]),
        ({"force_suppress": True}, [0, 3]),
        ({"id_index": -1}, [0, 3]),
        ({"iou_threshold": 0.9}, [0, 1, 2, 3]),
        ({"max_output_size": 2}, [0, 2]),
        ({"top_k": 2}, [0]),
    ],
)
def test_a_box_suppresses_what_overlaps_it(settings: Any, expected: list[int]) -> None:
    left, counts = suppressed(**settings)
    assert left.tolist() == [[*expected, *[-1] * (5 - len(expected))]]
    assert (counts.tolist(), counts.dtype, left.dtype) == ([[len(expected)]], np.int32, np.int32)


def test_the_best_boxes_come_first_and_are_told_by_their_places_in_the_beginning() -> None:
    order = [3, 4, 2, 1, 0]
    assert suppressed(BOXES[:, order])[0].tolist() == [[4, 2, 0, -1, -1]]


def test_boxes_come_in_the_order_of_their_scores_or_moved_together() -> None:
    boxes = suppressed(return_indices=False)
    first, third, fourth = BOXES[0, [0, 2, 3], 1].tolist()
    assert boxes[0, :, 1].tolist() == [first, -1, third, fourth, -1]
    together = suppressed(return_indices=False, invalid_to_bottom=True)
    assert together[0, :3].tobytes() == BOXES[0, [0, 2, 3]].tobytes()
    assert (together[0, 3:] == -1).all()


def test_a_threshold_that_is_met_suppresses() -> None:
    boxes = np.array([[[0, 0.9, 0, 0, 2, 2], [0, 0.8, 1, 0, 2, 2]]], "float32")
    assert suppressed(boxes, iou_threshold=0.5)[1].item() == 1
    assert suppressed(boxes, iou_threshold=0.51)[1].item() == 2


def test_a_soft_suppression_lowers_scores() -> None:
    boxes = np.array([[[0, 0.9, 0, 0, 2, 2], [0, 0.8, 1, 0, 2, 2]]], "float64")
    rows, left, counts = suppressed(boxes, soft_nms_sigma=0.5)
    lowered = 0.8 * np.exp(-(0.5**2) / 0.5)
    assert rows[0, :, 1].tolist() == pytest.approx([0.9, lowered], rel=1e-15)
    assert (left.tolist(), counts.tolist()) == ([[0, 1]], [[2]])
    rows, left, _ = suppressed(boxes, soft_nms_sigma=0.5, score_threshold=0.6)
    assert (left.tolist(), rows[0, 1].tolist()) == ([[0, -1]], [-1] * 6)


def test_a_score_of_nothing_is_dropped() -> None:
    boxes = np.array([[[0, -0.5, 0, 0, 1, 1], [0, np.nan, 5, 5, 6, 6]]], "float32")
    arguments = boxes, np.array([2], "int32"), np.array([[0, 1]], "int32")
    left, counts = R.vision.non_max_suppression(*arguments)
    assert (left.tolist(), counts.tolist()) == ([[-1, -1]], [[0]])


def overlap(a: Any, b: Any) -> float:
    (ax, ay), (aX, aY) = np.sort(a.reshape(2, 2), axis=0).tolist()
    (bx, by), (bX, bY) = np.sort(b.reshape(2, 2), axis=0).tolist()
    shared = max(min(aX, bX) - max(ax, bx), 0) * max(min(aY, bY) - max(ay, by), 0)
    whole = (aX - ax) * (aY - ay) + (bX - bx) * (bY - by) - shared
    return float(shared / whole) if whole > 0 else 0.0


def test_what_is_left_overlaps_little_and_what_is_not_overlaps_something_better(
    rng: np.random.Generator,
) -> None:
    for _ in range(examples(60)):
        count = int(rng.integers(1, 12))
        boxes = rng.integers(0, 6, (1, count, 4)).astype("float64")
        scores = rng.permutation(count).reshape(1, 1, count) + 1.0
        limit, least = np.array(-1), np.array(0.0)
        iou = np.array(float(rng.choice([0.0, 0.3, 0.5])))
        suppress = R.vision.all_class_non_max_suppression
        rows, total = suppress(boxes, scores, limit, iou, least)
        left = rows[: total.item(), 2].tolist()
        own = scores[0, 0]
        assert left == sorted(left, key=lambda box: -own[box])
        for box in range(count):
            better = [o for o in left if own[o] > own[box]]
            hits = [o for o in better if overlap(boxes[0, o], boxes[0, box]) > iou]
            assert (box in left) == (not hits)


def test_each_class_of_each_sample_is_by_itself() -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]] * 2, "float32")
    scores = np.array([[[0.9, 0.75, 0.6], [0.1, 0.8, 0.7]], [[0, 0, 0], [0, 0, 0.5]]], "float32")
    limits = np.array([2]), np.array([0.5], "float32"), np.array([0.0], "float32")
    suppress = R.vision.all_class_non_max_suppression
    rows, total = suppress(boxes, scores, *limits)
    assert total.tolist() == [5]
    assert rows[:5].tolist() == [[0, 0, 0], [0, 0, 2], [0, 1, 1], [0, 1, 2], [1, 1, 2]]
    assert (rows.shape, rows.dtype, rows[5:].any()) == ((12, 3), np.int64, False)
    pairs, found, totals = suppress(boxes, scores, *limits, output_format="tensorflow")
    assert totals.tolist() == [4, 1]
    assert pairs[0, :4].tolist() == [[0, 0], [0, 2], [1, 1], [1, 2]]
    assert found[0].tolist() == [*scores[0, [0, 0, 1, 1], [0, 2, 1, 2]].tolist(), 0, 0]
    assert pairs[1, 0].tolist() == [1, 2]
    none = suppress(boxes, scores, np.array(0), *limits[1:])
    assert none[1].tolist() == [0]


def test_the_shapes_of_what_is_left() -> None:
    count, suppress = R.vision.get_valid_counts, R.vision.non_max_suppression
    every = R.vision.all_class_non_max_suppression
    x, counts = tensor("n", "m", 6), tensor("n", dtype="int32")
    places = tensor("n", "m", dtype="int32")
    assert result(count, x) == "[(n,) int32; (n, m, 6) float32; (n, m) int32]"
    assert result(count, ranked(-1)) == "[rank 1 int32; rank 3 float32; rank 2 int32]"
    assert result(suppress, x, counts, places) == "[(n, m) int32; (n, 1) int32]"
    assert result(suppress, x, counts, places, return_indices=False) == "(n, m, 6) float32"
    assert result(suppress, ranked(3), counts, places) == "[(n, m) int32; (n, 1) int32]"
    soft = result(suppress, x, counts, places, soft_nms_sigma=0.5)
    assert soft == "[(n, m, 6) float32; (n, m) int32; (n, 1) int32]"
    assert obliged(suppress, tensor("n", "m", "k"), counts, places) == [
        "coord_start: 6 inside k", "score_index: 2 inside k", "id_index: 1 inside k",
    ]  # fmt: skip
    boxes, scores = tensor(2, 5, 4), tensor(2, 3, 5)
    assert result(every, boxes, scores, 2, 0.5, 0.0) == "[(30, 3) int64; (1,) int64]"
    assert result(every, ranked(3), scores, 2, 0.5, 0.0, "tensorflow") == (
        "[(2, 15, 2) int64; (2, 15) float32; (2,) int64]"
    )
    assert result(every, boxes, ranked(3), 2, 0.5, 0.0) == "[rank 2 int64; (1,) int64]"


def test_what_are_no_boxes() -> None:
    count, suppress = R.vision.get_valid_counts, R.vision.non_max_suppression
    x, counts, places = tensor(2, 5, 6), tensor(2, dtype="int32"), tensor(2, 5, dtype="int32")
    assert refused(count, tensor(5, 6)).fact == "has shape (5, 6)"
    assert refused(count, x, 0.5, 0, 6).fact == "is 6"
    assert refused(count, x, 0.5, 0, -1).fact == "is -1"
    assert refused(count, x, id_index=9).operand == "id_index"
    assert refused(count, tensor(2, 5, 6, dtype="int8")).code == "RX0202"
    assert refused(suppress, x, tensor(3, dtype="int32"), places).operand == "valid_count"
    assert refused(suppress, x, counts, tensor(2, 4, dtype="int32")).operand == "indices"
    assert refused(suppress, x, tensor(2), places).code == "RX0202"
    assert refused(suppress, x, counts, tensor(2, 5)).code == "RX0202"
    assert refused(suppress, x, counts, places, coord_start=3).fact == "is 3"
    assert refused(suppress, x, counts, places, coord_start=-1).fact == "is -1"
    every = R.vision.all_class_non_max_suppression
    boxes, scores = tensor(2, 5, 4), tensor(2, 3, 5)
    assert refused(every, tensor(2, 5, 5), scores, 1, 0.5, 0.0).operand == "boxes"
    assert refused(every, boxes, tensor(2, 3, 6), 1, 0.5, 0.0).operand == "scores"
    assert refused(every, boxes, scores, 1.5, 0.5, 0.0).operand == "max_output_boxes_per_class"
    assert refused(every, boxes, scores, 1, tensor(2), 0.0).fact == "has 2 elements along axis 0"
    assert refused(every, boxes, scores, 1, tensor(1, 1), 0.0).fact == "has shape (1, 1)"
    assert refused(every, boxes, scores, 1, 0.5, 0.0, "torch").fact == "is 'torch'"

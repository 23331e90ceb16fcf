"""Boxes to the right of a frame."""

from __future__ import annotations

from relaxscript.graph.beside import Beside, moved, put_beside


def box(key, y, x=0.0):
    return Beside(key, x, y, left=20, right=50, height=22)


def test_boxes_at_several_heights_are_a_column():
    boxes = [box(1, 0), box(2, 60), box(3, 120)]
    reached = put_beside(boxes, 100)
    assert [each.x for each in boxes] == [142, 142, 142]
    assert reached == 192


def test_boxes_at_one_height_stand_side_by_side_with_their_words():
    boxes = [box(1, 0), box(2, 30), box(3, 0)]
    put_beside(boxes, 100)
    first, second, third = boxes
    assert third.x - third.left > first.x + first.right
    assert second.x - second.left > third.x + third.right


def test_nothing_beside_reaches_no_further_than_the_frame():
    assert put_beside([], 100) == 100


def test_boxes_of_an_inner_frame_count_from_the_outer_one():
    inner = [box(1, 10, 5)]
    assert [(each.x, each.y) for each in moved(inner, 100, 200)] == [(105, 210)]
    assert (inner[0].x, inner[0].y) == (5, 10)

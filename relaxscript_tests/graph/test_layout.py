"""Where everything stands."""

from __future__ import annotations

import re

import pytest

from relaxscript.graph.layout import lay_out
from relaxscript.graph.picture import Cluster
from relaxscript.graph.reader import read_function
from relaxscript_tests.graph.programs import chain, module, overlap

BRANCHES = module(
    '    @R.function\n    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):\n'
    "        e = R.exp(x)\n"
    "        if c:\n            a = R.add(e, x)\n            y = R.nn.relu(a)\n"
    "        else:\n            y = e\n"
    "        with R.dataflow():\n            p = R.sin(y)\n            q = R.add(p, e)\n"
    "            R.output(q)\n        return q"
)


@pytest.fixture(scope="module")
def picture():
    return read_function(BRANCHES["main"], "main")


@pytest.fixture(scope="module")
def layout(picture):
    return lay_out(picture)


def boxes_by_key(layout):
    return {box.key: box for box in layout.boxes if not box.is_reference}


def contains(outer, inner):
    return (
        outer.x <= inner.x
        and outer.y <= inner.y
        and inner.x + inner.width <= outer.x + outer.width
        and inner.y + inner.height <= outer.y + outer.height
    )


def test_every_item_has_one_box(picture, layout):
    assert sorted(box.key for box in layout.boxes) == sorted(picture.items)


PARAMETERS = module(
    '    @R.function\n    def main(x: R.Tensor((3, 4), "float32"), a: R.Tensor((4,), "float32"), '
    'b: R.Tensor((4,), "float32"), c: R.Tensor((4,), "float32")):\n'
    "        with R.dataflow():\n            p = R.add(x, a)\n            q = R.nn.relu(p)\n"
    "            r = R.where(R.less(q, b), q, c)\n            R.output(r)\n        return r"
)


def test_parameters_stand_above_a_block_or_beside_what_uses_them():
    picture = read_function(PARAMETERS["main"], "main")
    boxes = boxes_by_key(lay_out(picture))
    (block,) = [boxes[each.key] for each in picture.clusters() if each.kind == "dataflow"]
    by_title = {node.title: boxes[node.key] for node in picture.nodes()}
    for name in ("x", "a"):
        assert by_title[name].y + by_title[name].height < block.y
    for name, user in (("b", "less"), ("c", "where")):
        assert by_title[name].x > block.x + block.width
        assert block.y < by_title[name].y < by_title[user].y
    whole = boxes[picture.root]
    assert all(contains(whole, box) for box in boxes.values())


def test_a_way_begins_at_the_box_of_its_value():
    picture = read_function(PARAMETERS["main"], "main")
    layout = lay_out(picture)
    boxes = boxes_by_key(layout)
    keys = {node.key for node in picture.nodes() if node.kind == "parameter"}
    begun = {path.value: path.points[0] for path in reversed(layout.paths) if path.value in keys}
    assert begun.keys() == keys
    for key, (x, y) in begun.items():
        box = boxes[key]
        assert (x, y) == pytest.approx((box.x + box.width / 2, box.y + box.height))


def test_a_frame_holds_its_members_and_no_two_of_them_overlap(picture, layout):
    boxes = boxes_by_key(layout)
    for cluster in picture.clusters():
        members = [boxes[key] for key in cluster.members]
        assert all(contains(boxes[cluster.key], member) for member in members)
        assert not any(overlap(a, b) for i, a in enumerate(members) for b in members[:i])


def test_values_flow_downwards(picture, layout):
    boxes = boxes_by_key(layout)
    for edge in picture.edges:
        source, target = boxes[edge.source], boxes[edge.target]
        assert source.y + source.height <= target.y
    for path in layout.paths:
        heights = [y for _, y in path.points]
        assert heights == sorted(heights)


def test_every_edge_ends_at_its_target(picture, layout):
    boxes = boxes_by_key(layout)
    ends = {(path.value, path.last) for path in layout.paths if path.last is not None}
    assert ends == {(edge.source, edge.target) for edge in picture.edges}
    for path in layout.paths:
        if path.last is not None:
            box = boxes[path.last]
            x, y = path.points[-1]
            assert box.x <= x <= box.x + box.width
            assert y == pytest.approx(box.y)


def test_the_pieces_of_a_way_meet(layout):
    starts = [(path.value, *path.points[0]) for path in layout.paths]
    for path in layout.paths:
        if path.last is None:
            x, y = path.points[-1]
            near = [abs(b - y) for v, a, b in starts if v == path.value and abs(a - x) < 0.01]
            assert min(near) < 40


def test_the_same_function_has_the_same_layout(picture, layout):
    again = lay_out(read_function(BRANCHES["main"], "main"))
    assert (again.boxes, again.paths) == (layout.boxes, layout.paths)


def test_a_frame_is_as_wide_as_its_title():
    picture = read_function(chain(1)["main"], "m" * 60)
    assert lay_out(picture).width > 400
    assert isinstance(picture.items[picture.root], Cluster)
    assert re.match("m+$", picture.cluster(picture.root).title)

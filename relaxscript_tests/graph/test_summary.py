"""Summaries of what is too large to be looked at."""

from __future__ import annotations

import pytest

from relaxscript.graph.picture import Cluster
from relaxscript.graph.reader import read_function
from relaxscript.graph.summary import summarise
from relaxscript_tests.graph.programs import assert_sound, chain, module


def summary(mod, max_nodes, name="main"):
    picture = read_function(mod[name], name)
    summarise(picture, max_nodes)
    assert_sound(picture)
    return picture


def test_a_small_function_stays_as_it_is():
    picture = summary(chain(20), 100)
    assert picture.remark == ""
    assert len(picture.nodes()) == 22


def test_nothing_is_summarised_where_all_is_asked_for():
    assert len(summary(chain(400), None).nodes()) == 402


def test_repeated_layers_are_shown_once_and_counted():
    picture = summary(chain(400), 50)
    (frame,) = [c for c in picture.clusters() if c.kind == "repeated"]
    assert frame.title == "199 times, of which the first is shown"
    assert [picture.items[key].title for key in frame.members] == ["add", "nn.relu"]
    assert picture.remark == (
        "a summary of 400 bindings in 6 boxes; all are drawn by graph(max_nodes=None)"
    )


def test_layers_of_the_same_steps_that_are_connected_otherwise_are_not_the_same():
    lines, names = [], ["x", "x"]
    for i in range(60):
        early = names[0] if i % 3 == 0 else names[-2]
        lines += [f"        a{i} = R.nn.relu({names[-1]})", f"        b{i} = R.add(a{i}, {early})"]
        names += [f"a{i}", f"b{i}"]
    body = "\n".join(lines)
    mod = module(
        f'    @R.function\n    def main(x: R.Tensor((4, 8), "float32")):\n{body}\n'
        f"        return {names[-1]}"
    )
    picture = summary(mod, 50)
    (frame,) = [c for c in picture.clusters() if c.kind == "repeated"]
    assert len(frame.members) == 6


def test_what_comes_of_the_last_layer_comes_of_the_one_that_is_shown():
    picture = summary(chain(400), 50)
    (frame,) = [c for c in picture.clusters() if c.kind == "repeated"]
    (last,) = [node for node in picture.nodes() if node.kind == "result"]
    sources = [edge.source for edge in picture.edges if edge.target == last.key]
    assert sources == frame.members[-1:]


def test_weights_of_layers_that_are_not_shown_are_not_either():
    params = ", ".join(f'w{i}: R.Tensor((8, 8), "float32")' for i in range(60))
    lines, last = [], "x"
    for i in range(60):
        lines += [f"        a{i} = R.matmul({last}, w{i})", f"        b{i} = R.nn.relu(a{i})"]
        last = f"b{i}"
    body = "\n".join(lines)
    mod = module(
        f'    @R.function\n    def main(x: R.Tensor((4, 8), "float32"), {params}):\n{body}\n'
        f"        return {last}"
    )
    picture = summary(mod, 50)
    titles = [n.title for n in picture.nodes() if n.kind == "parameter"]
    assert titles == ["x", "w0", "w1"]
    (frame,) = [c for c in picture.clusters() if c.kind == "repeated"]
    inside = [picture.items[key].title for key in frame.members]
    assert inside == ["w1", "matmul", "nn.relu"]


@pytest.mark.parametrize("max_nodes", [1, 5, 40, 120])
def test_stretches_of_bindings_become_boxes(max_nodes):
    picture = summary(chain(500, mixed=True), max_nodes)
    assert len(picture.nodes()) <= max(max_nodes, 8)
    groups = [node for node in picture.nodes() if node.kind == "group"]
    assert all(node.title.endswith("bindings") for node in groups)


def test_many_branches_become_boxes_that_count_their_bindings():
    lines, last = [], "x"
    for i in range(60):
        lines += [
            "        if c:", f"            y{i} = R.exp({last})",
            "        else:", f"            y{i} = R.sin({last})",
        ]  # fmt: skip
        last = f"y{i}" if i % 3 else f"z{i}"
        lines += [] if i % 3 else [f"        z{i} = R.cos(y{i})"]
    body = "\n".join(lines)
    mod = module(
        '    @R.function\n    def main(x: R.Tensor((4, 8), "float32"), c: R.Tensor((), "bool")):\n'
        f"{body}\n        return {last}"
    )
    picture = summary(mod, 30)
    assert len(picture.nodes()) <= 60


def test_many_parameters_of_one_box_become_one():
    names = [f"w{i}" for i in range(300)]
    params = ", ".join(f'{name}: R.Tensor((8, 8), "float32")' for name in names)
    mod = module(
        f"    @R.function\n    def main({params}):\n        return R.concat(({', '.join(names)}))"
    )
    picture = summary(mod, 50)
    assert [n.title for n in picture.nodes()] == ["concat", "return", "300 parameters"]


def test_parameters_that_nothing_uses_become_one_box():
    params = ", ".join(f'w{i}: R.Tensor((8, 8), "float32")' for i in range(300))
    mod = module(f"    @R.function\n    def main({params}):\n        return w0")
    picture = summary(mod, 50)
    assert "299 parameters that nothing uses" in [n.title for n in picture.nodes()]


def test_a_summary_of_a_summary_is_the_same():
    picture = summary(chain(500, mixed=True), 60)
    before = [(k, type(v)) for k, v in picture.items.items()]
    remark = picture.remark
    summarise(picture, 60)
    assert [(k, type(v)) for k, v in picture.items.items()] == before
    assert picture.remark == remark
    assert isinstance(picture.items[picture.root], Cluster)

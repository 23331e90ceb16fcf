"""Pictures as SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from relaxscript_tests.graph.programs import HOSTILE, chain, module, named

SVG = "{http://www.w3.org/2000/svg}"
MODULE = module(
    '    @R.function\n    def main(x: R.Tensor(("n", 4), "float32")):\n'
    "        y = R.nn.softmax(x, axis=1)\n        return y"
)
KNOWN = {"svg", "style", "rect", "text", "g", "title", "path"}


def elements(text):
    root = ElementTree.fromstring(text)
    return [(node.tag.removeprefix(SVG), node) for node in root.iter()]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_texts_and_never_markup(name):
    found = elements(named(name).graph().to_svg())
    assert {tag for tag, _ in found} <= KNOWN
    for _, node in found:
        assert not any(key.startswith("on") or "href" in key for key in node.attrib)


def test_nothing_is_loaded_and_nothing_runs():
    text = MODULE.graph().to_svg()
    assert "script" not in {tag for tag, _ in elements(text)}
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)


def test_boxes_say_title_attributes_shape_and_in_the_tooltip_their_line():
    texts = [node.text for tag, node in elements(MODULE.graph().to_svg()) if tag == "text"]
    assert {"main", "x", "(n, 4) float32", "nn.softmax", "axis=1", "return"} <= {*texts}
    titles = [node.text for tag, node in elements(MODULE.graph().to_svg()) if tag == "title"]
    (said,) = [title for title in titles if title.startswith("y: R.Tensor")]
    assert said.split("\n")[0] == 'y: R.Tensor((n, 4), "float32") = R.nn.softmax(x, axis=1)'
    assert re.fullmatch(r"line \d+ of the script", said.split("\n")[1])


def test_edges_are_labelled_with_the_value_that_flows():
    titles = [node.text for tag, node in elements(MODULE.graph().to_svg()) if tag == "title"]
    assert "y: (n, 4) float32" in titles


def test_both_themes_have_colours():
    text = MODULE.graph().to_svg()
    assert "@media (prefers-color-scheme:dark)" in text
    assert 'data-jp-theme-light="false"' in text


def test_a_summary_says_that_it_is_one_in_the_picture():
    texts = [
        n.text for tag, n in elements(chain(400).graph(max_nodes=50).to_svg()) if tag == "text"
    ]
    assert any("all are drawn by graph(max_nodes=None)" in text for text in texts)


def test_the_same_function_has_the_same_text():
    assert MODULE.graph().to_svg() == MODULE.graph().to_svg()


def test_all_of_a_long_function_is_drawn_where_that_is_asked_for():
    text = chain(600, mixed=True).graph(max_nodes=None).to_svg()
    boxes = [
        node for _, node in elements(text) if node.get("class", "").startswith("node operator")
    ]
    assert len(boxes) == 600

"""Pictures in the language of Graphviz."""

from __future__ import annotations

import re

import pytest

from relaxscript_tests.graph.programs import HOSTILE, module, named

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|->|[{}\[\];=,]|\s+', re.DOTALL)
MODULE = module(
    '    @R.function\n    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):\n'
    "        if c:\n            y = R.exp(x)\n        else:\n            y = x\n        return y"
)


def tokens(text):
    """The tokens of a text of DOT, which must be made of nothing else."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match is not None, text[at : at + 40]
        at = match.end()
        found += [] if match[0].isspace() else [match[0]]
    return found


def shape(text):
    """The tokens with a sign for each string."""
    return ["S" if token.startswith('"') else token for token in tokens(text)]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_strings_and_never_statements(name):
    usual = shape(named("usual").graph().to_dot())
    found = shape(named(name).graph().to_dot())
    assert found == usual


def test_braces_close_what_they_open():
    depth = 0
    for token in tokens(MODULE.graph().to_dot()):
        depth += {"{": 1, "}": -1}.get(token, 0)
        assert depth >= 0
    assert depth == 0


def test_clusters_are_subgraphs_and_edges_carry_shapes():
    text = MODULE.graph().to_dot()
    assert re.search(r'subgraph cluster_\d+ \{\s*label="then"', text)
    assert 'label="(n, 4) float32"' in text
    assert re.search(r"style=dashed, lhead=cluster_\d+", text)


def test_the_same_function_has_the_same_text():
    assert MODULE.graph().to_dot() == MODULE.graph().to_dot()


def test_parameters_are_in_no_subgraph():
    head = 'def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):'
    body = "            y = R.exp(x)\n            z = R.where(c, y, y)\n            R.output(z)\n"
    mod = module(f"    @R.function\n    {head}\n        with R.dataflow():\n{body}        return z")
    before, _, _ = mod.graph().to_dot().partition("subgraph")
    assert 'label="x"' in before
    assert 'label="c"' in before

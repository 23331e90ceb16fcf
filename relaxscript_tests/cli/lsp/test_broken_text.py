"""Texts that are no Python while they are being typed."""

from __future__ import annotations

import ast

import pytest

from relaxscript.cli.lsp.broken_text import read_text
from relaxscript.errors import Source

FINE = """\
class A:
    def f(x):
        y = g(x)
        return y

    def h(x):
        return x
"""


def read(text):
    return read_text(Source("model.py", text))


def test_python_is_read_whole():
    found = read(FINE)
    assert (found.error, found.left_out) == (None, ())
    assert ast.dump(found.tree) == ast.dump(ast.parse(FINE))


@pytest.mark.parametrize(
    ("written", "typed", "line"),
    [
        ("y = g(x)", "y = g(x, ", 3),
        ("y = g(x)", "y = g.", 3),
        ("y = g(x)", "y = 'abc", 3),
        ("y = g(x)", "if x:", 3),
        ("return y", "  return y", 4),
        ("return y", "retrun y", 4),
        ("y = g(x)", "y = g(x))", 3),
    ],
)
def test_one_broken_line_hides_no_other(written, typed, line):
    found = read(FINE.replace(written, typed))
    assert found.left_out == (line,)
    assert found.error.code == "RX0113"
    names = [node.name for node in ast.walk(found.tree) if hasattr(node, "name")]
    assert names == ["A", "f", "h"]
    assert ast.unparse(found.tree).endswith("def h(x):\n        return x")


@pytest.mark.parametrize("header", ["def f(x", "def f(", "def", "def f(x: "])
def test_a_broken_header_hides_only_its_function(header):
    found = read(FINE.replace("def f(x):", header))
    assert [n.name for n in ast.walk(found.tree) if isinstance(n, ast.FunctionDef)] == ["h"]


def test_the_lines_keep_their_numbers():
    found = read(FINE.replace("y = g(x)", "y = g(((\n\n"))
    last = found.tree.body[0].body[-1]
    assert (last.name, last.lineno, last.col_offset) == ("h", 8, 4)


def test_several_broken_lines_are_left_out():
    found = read(FINE.replace("y = g(x)", "y = g(x").replace("return x", "return ("))
    assert found.left_out == (3, 7)


@pytest.mark.parametrize("text", ["x = (" * 30, "x = '''\n" + "y\n" * 50, "\0", "(" * 5000])
def test_what_nothing_helps_has_no_tree_or_an_empty_one(text):
    found = read(text)
    assert found.error.code == "RX0113"
    assert found.tree is None or not any(isinstance(n, ast.FunctionDef) for n in found.tree.body)

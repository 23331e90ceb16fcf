"""Texts that are no Python while they are being typed."""

from __future__ import annotations

import ast

import pytest

from relaxscript.cli.lsp.broken_text import parse, read_text, readings
from relaxscript.errors import Source
from relaxscript_tests import examples
from relaxscript_tests.cli.lsp.test_edits import edited

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


def test_the_mistake_is_read_before_the_rest():
    broken = FINE.replace("y = g(x)", "y = g(x, ")
    (first, first_is_last), (second, second_is_last) = readings(Source("model.py", broken))
    assert (first.error, first.tree) == (second.error, None)
    assert (first_is_last, second_is_last) == (False, True)
    assert [is_last for _, is_last in readings(Source("model.py", FINE))] == [True]


@pytest.mark.parametrize(
    "line", ["y = g(x", "retrun y", "y = (1; z = 2", "if (x: y = 1", "y = 'abc\"", "x = y, )"]
)
def test_a_line_that_a_fix_mends_is_read_as_pass(line):
    for written in ("y = g(x)", "return y"):
        broken = FINE.replace(written, line)
        assert_is_read_without_its_lines(broken)


@pytest.mark.slow
def test_a_tree_is_that_of_the_text_without_the_lines_that_were_left_out(rng):
    for _ in range(examples(60)):
        for text in edited(rng):
            assert_is_read_without_its_lines(text)


def assert_is_read_without_its_lines(text):
    found = read(text)
    if found.tree is None or len(found.left_out) != 1:
        return
    [number] = found.left_out
    lines = found.source.text.split("\n")
    line = lines[number - 1]
    indent = line[: len(line) - len(line.lstrip())]
    trees = []
    for instead in (f"{indent}pass", f"{indent}if 1:", ""):
        lines[number - 1] = instead
        try:
            trees.append(dumped(parse("\n".join(lines))))
        except SyntaxError:
            continue
    assert dumped(found.tree) in trees, text


def dumped(tree):
    return ast.dump(tree, include_attributes=True)


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

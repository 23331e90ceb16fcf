"""Rejected programs: texts that Python cannot read (RX0113), and the slips that explain them."""

from __future__ import annotations

import textwrap

import pytest

from relaxscript.errors import DiagnosticError, Source, apply_fixes
from relaxscript.script import from_source

FUNCTION = """\
@R.function
def f(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "bool")):
"""
BODY = {
    "a bracket is not closed": (
        "z = R.add(x, x\nreturn z\n", "(", "close it: `)`", "z = R.add(x, x)\nreturn z\n",
    ),
    "a bracket is not closed in several lines": (
        "z = R.add(\n    x,\n    x\nreturn z\n", "(", "close it: `)`",
        "z = R.add(\n    x,\n    x)\nreturn z\n",
    ),
    "a bracket is closed twice": (
        "z = R.add(x, x))\nreturn z\n", ")", "leave this `)` out", "z = R.add(x, x)\nreturn z\n",
    ),
    "a bracket is closed by another": (
        "z = R.add(x, x}\nreturn z\n", "}", "write `)`", "z = R.add(x, x)\nreturn z\n",
    ),
    "a comma is missing": (
        "z = R.add(x x)\nreturn z\n", "x x", "write a comma between them",
        "z = R.add(x, x)\nreturn z\n",
    ),
    "a colon is missing": (
        "with R.dataflow()\n    z = R.exp(x)\n    R.output(z)\nreturn z\n", ")",
        "end the line with `:`",
        "with R.dataflow():\n    z = R.exp(x)\n    R.output(z)\nreturn z\n",
    ),
    "a word is misspelt": (
        "reutrn x\n", "x", "did you mean `return`?", "return x\n",
    ),
    "a line is too deep": (
        "z = R.exp(x)\n  return z\n", " ", "begin the line with 4 blanks",
        "z = R.exp(x)\nreturn z\n",
    ),
    "a line is not deep enough": (
        "with R.dataflow():\nz = R.exp(x)\nreturn z\n", "z", "begin the line with 8 blanks",
        "with R.dataflow():\n    z = R.exp(x)\nreturn z\n",
    ),
    "a text ends with other quotes": (
        "z = R.astype(x, \"int8')\nreturn z\n", '"', "begin and end the string with `'`",
        "z = R.astype(x, 'int8')\nreturn z\n",
    ),
    "a text does not end": (
        'z = R.astype(x, "int8)\nreturn z\n', '"', 'end the string: `"int8"`',
        'z = R.astype(x, "int8")\nreturn z\n',
    ),
    "an assignment is a condition": (
        "if y = x:\n    z = x\nelse:\n    z = x\nreturn z\n", "y = x", "compare with `==`",
        "if y == x:\n    z = x\nelse:\n    z = x\nreturn z\n",
    ),
    "elements are assigned in parentheses": (
        "x(0) = x\nreturn x\n", "x(0)", "elements are written in brackets: `x[0]`",
        "x[0] = x\nreturn x\n",
    ),
    "two ampersands": (
        "z = y && y\nreturn z\n", "&", "write `and`", "z = y and y\nreturn z\n",
    ),
    "two bars": ("z = y || y\nreturn z\n", "|", "write `or`", "z = y or y\nreturn z\n"),
    "an exclamation mark": ("z = !y\nreturn z\n", "!", "write `not`", "z = not y\nreturn z\n"),
    "else if": (
        "if y:\n    z = x\nelse if y:\n    z = x\nelse:\n    z = x\nreturn z\n", None,
        "write `elif`", "if y:\n    z = x\nelif y:\n    z = x\nelse:\n    z = x\nreturn z\n",
    ),
    "let": ("let z = x\nreturn z\n", "z", "leave `let` out", "z = x\nreturn z\n"),
    "two plus signs": ("x++\nreturn x\n", None, "write `+= 1`", "x += 1\nreturn x\n"),
    "nothing explains it": ("z = = x\nreturn z\n", "=", None, None),
}  # fmt: skip


def inside(body: str) -> str:
    return FUNCTION + textwrap.indent(body, "    ")


@pytest.mark.parametrize("slip", BODY)
def test_what_python_cannot_read_is_explained_by_the_slip(slip):
    wrong, culprit, help, right = BODY[slip]
    with pytest.raises(DiagnosticError) as caught:
        from_source(inside(wrong))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "RX0113"
    assert diagnostic.message.startswith("this is not Python: ")
    assert diagnostic.help == help
    assert culprit is None or diagnostic.span.text == culprit
    mended = apply_fixes(Source("<text>", inside(wrong)), [diagnostic])
    assert mended == (inside(wrong) if right is None else inside(right))


def test_a_comma_between_parameters():
    text = '@R.function\ndef f(x: R.Tensor((2, 3), "float32") y: R.Object):\n    return x\n'
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    (diagnostic,) = caught.value.diagnostics
    assert apply_fixes(Source("<text>", text), [diagnostic]) == text.replace(") y:", "), y:")


def test_a_text_that_is_indented_as_a_whole():
    with pytest.raises(DiagnosticError) as caught:
        from_source(textwrap.indent(inside("return x\n"), "    "))
    (diagnostic,) = caught.value.diagnostics
    assert "textwrap.dedent(text)" in diagnostic.help
    assert diagnostic.fix == ()


def test_what_python_suggests_is_the_help_where_no_slip_explains_it():
    with pytest.raises(DiagnosticError) as caught:
        from_source(inside("z = R.exp(x=x if y)\nreturn z\n"))
    (diagnostic,) = caught.value.diagnostics
    assert "." not in diagnostic.message.removeprefix("this is not Python: ")

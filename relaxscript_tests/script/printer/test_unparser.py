"""What the unparser writes means the tree it was made from, and looks like the house style."""

from __future__ import annotations

import ast

import pytest

from relaxscript.script.printer import tree
from relaxscript.script.printer.unparser import HouseUnparser, unparse


def same(text: str) -> None:
    """Reading what is written of `text` gives back its tree."""
    parsed = ast.parse(text)
    for width in (1000, 100, 20):
        written = unparse(parsed, width)
        assert ast.dump(ast.parse(written)) == ast.dump(parsed), written
    assert ast.dump(ast.parse(ast.unparse(parsed))) == ast.dump(ast.parse(unparse(parsed)))


STATEMENTS = [
    "x = 1\ny: int = 2\na, b = b, a\na = b = c\n(a,) = b",
    "if a:\n    pass\nelif b:\n    x\nelif c:\n    y\nelse:\n    z",
    "if a:\n    pass\nelse:\n    if b:\n        x\n    y",
    "while a < b:\n    break",
    "for i, j in f(x):\n    pass",
    "with a as b, c(d) as (e, f):\n    pass",
    "assert a < b, 'why'\nassert c",
    "def f(a, b: int, c: T.Buffer((1,))) -> int:\n    return\n",
    "@a.b(c)\nclass C:\n    'doc'\n\n    x = 1\n\n    def f(self): ...\n",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_every_statement_means_what_it_did(text: str):
    same(text)


EXPRESSIONS = [
    "a + b * c - (d - e) / f // g % h @ i", "(a + b) * c", "a - (b + c)", "(a ** b) ** c",
    "a ** -b ** c",
    "-a ** b", "(-a) ** b", "- -a", "not a == b", "(not a) == b", "~a | b ^ c & d << e >> f",
    "a and b or c and not d", "(a or b) and c", "a and (b and c)",
    "a < b <= c", "(a < b) < c", "a < (b < c)", "a is not b",
    "a not in b",
    "lambda: 0", "lambda x, y: x", "(lambda x: x)(1)",
    "f(a, b, d=e, **g)", "(a,)", "()",
    "{}", "{'a': b, c: d}", "x[1:2, ::3]", "x[1:2,]", "x[a, b]", "x[a,]", "x[()]", "x[:]",
    "x[a:b:c]",
    "(a.b).c(d)[e]", "(1).real", "1.5.real", "1j.imag", "(1, 2)[0]", "'a'.b",
    "(a + b).c",
    "-1", "1e400", "-1e400", "1e400j", "0x10", "1_000", "b'a\\x00\"'", "'it''s'", "'\\'\"'",
    "'a\\n\\\\'",
    "'\u00e9\\ud800'", "...", "None",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_every_expression_means_what_it_did(text: str):
    same(f"x = ({text})")
    same(text)


@pytest.mark.parametrize(
    "text",
    [
        'x = "text"', "x = 'say \"hi\"'", 'x = "it\'s"', "y = a + b * c - (d - e)",
            "y = (a + b) * c",
        "y = not a and b or -c ** 2", "y = x[i, j + 1].f(a, k=c)[0:n]", "a, b = t", "x = (a,)",
        "for i, j in T.grid(n, 64):\n    pass", "return_ = lambda x: x + 1",
    ],
)  # fmt: skip
def test_the_house_style_is_written_as_it_is(text: str):
    assert unparse(ast.parse(text)) == text


def test_parentheses_stand_only_where_they_are_needed():
    assert unparse(ast.parse("x = ((a) + ((b) * (c)))")) == "x = a + b * c"
    assert unparse(ast.parse("if (a) and ((b) < (c)): pass")) == "if a and b < c:\n    pass"


def test_definitions_are_separated_by_a_line_and_outermost_by_two():
    written = unparse(
        ast.parse("class A:\n  def f(): ...\n  def g(): ...\nx = 1\n@d\ndef h(): ...\ny = 2")
    )
    assert written == (
        "class A:\n    def f():\n        ...\n\n    def g():\n        ...\n\n"
        "\nx = 1\n\n\n@d\ndef h():\n    ...\n\n\ny = 2"
    )


def test_comments_are_statements():
    written = unparse(ast.Module([tree.Comment("why"), ast.Pass(), tree.Comment("")], []))
    assert written == "# why\npass\n#"


@pytest.mark.slow
def test_a_chain_of_thousands_of_operators_is_written():
    left: ast.expr = ast.Name("a", ast.Load())
    for _ in range(20_000):
        left = ast.BinOp(left, ast.Add(), ast.Name("b", ast.Load()))
    assert unparse(left, 10**9) == "a" + " + b" * 20_000


def test_recording_says_which_pieces_belong_to_an_origin():
    name = tree.with_origins(tree.name("x"), "the name")
    made = tree.call(tree.name("f"), [name, tree.name("y")])
    unparser = HouseUnparser(made, 100, record=True)
    ((origin, start, end),) = unparser.marks
    assert (origin, "".join(unparser.pieces[start:end])) == ("the name", "x")
    assert unparser.text == "f(x, y)"

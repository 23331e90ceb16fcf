"""What the unparser writes means the tree it was made from, and looks like the house style."""

from __future__ import annotations

import ast
import sys

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
    "x = 1\ny: int = 2\n(z): int = 3\na.b += c * d\na, b = b, a\na = b = c\n(a,) = b\ndel a, b[0]",
    "if a:\n    pass\nelif b:\n    x\nelif c:\n    y\nelse:\n    z",
    "if a:\n    pass\nelse:\n    if b:\n        x\n    y",
    "while a < b:\n    break\nelse:\n    continue",
    "for i, j in f(x):\n    pass\nelse:\n    y",
    "async def f():\n    async for x in y:\n        await z",
    "async def f():\n    async with a as b, c:\n        return (yield)",
    "with a as b, c(d) as (e, f):\n    pass",
    "try:\n    a\nexcept E as e:\n    b\nexcept (A, B):\n    raise E from e\nelse:\n    c\n"
    "finally:\n    d",
    "import a.b as c, d\nfrom . import e\nfrom ..f import g as h\nglobal x\n",
    "assert a < b, 'why'\nassert c",
    "def f(a, /, b: int = 1, *c, d=2, e: str, **f) -> int:\n    return\n",
    "def f(*, a): ...\ndef g(*a): ...\ndef h(a=1): ...",
    "@a.b(c)\nclass C(D, metaclass=E):\n    'doc'\n\n    x = 1\n\n    def f(self): ...\n",
    "match x:\n    case 1 | 'a' | -2.5 | 1 + 2j:\n        a\n    case [a, *_, b] if c:\n        d\n"
    "    case {'k': v, 1: _, **rest}:\n        e\n    case C(a, b=(1 | 2) as c):\n        f\n"
    "    case None | True:\n        g\n    case a.b:\n        h\n"
    "    case (x as y) | (z as y):\n        i\n"
    "    case _:\n        j",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_every_statement_means_what_it_did(text: str):
    same(text)


EXPRESSIONS = [
    "a + b * c - (d - e) / f // g % h @ i", "(a + b) * c", "a - (b + c)", "(a ** b) ** c",
    "a ** -b ** c",
    "-a ** b", "(-a) ** b", "- -a", "not a == b", "(not a) == b", "~a | b ^ c & d << e >> f",
    "a and b or c and not d", "(a or b) and c", "a and (b and c)", "(a if b else c) if d else e",
    "a if b else c if d else e", "a < b <= c", "(a < b) < c", "a < (b < c)", "a is not b",
    "a not in b",
    "lambda: 0", "lambda x, *y, z=1, **k: x", "(lambda x: x)(1)", "[lambda: x, (yield)]",
    "f(*a, b, *c, d=e, **g)", "f(x for x in y)", "f((x for x in y), z)", "(a, *b)", "(a,)", "()",
    "[a, *b]", "{a, *b}", "{**a, 'b': c}", "{}", "[x for x in (a if b else c) if d if (lambda: e)]",
    "{k: v for k, v in z}", "x[1:2, ::3]", "x[1:2,]", "x[a, b]", "x[a,]", "x[()]", "x[:]",
    "x[a:b:c]",
    "x[(a := 1)]", "(a.b).c(d)[e]", "(1).real", "1.5.real", "1j.imag", "(1, 2)[0]", "'a'.b",
    "(a + b).c",
    "-1", "1e400", "-1e400", "1e400j", "0x10", "1_000", "b'a\\x00\"'", "'it''s'", "'\\'\"'",
    "'a\\n\\\\'",
    "'\u00e9\\ud800'", "...", "None", "f'{a!r:>{b}} {{c}}'", "f'{x:%H:%M}'", "await_", "(a := b)",
    "[a := b]",
    "(a, b := c)", "f(a := b)",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_every_expression_means_what_it_did(text: str):
    same(f"x = ({text})")
    same(text)


# What the running Python has beside the syntax of 3.10.
NEWER = {
    (3, 11): ["try:\n    a\nexcept* E as e:\n    b\nelse:\n    c\nfinally:\n    d", "x[*a, b]"],
    (3, 12): ["def f[n, *T, **P, m: int](x: n) -> m: ...\nclass C[n](D): ...\ntype A[T] = list[T]"],
    (3, 13): ["def f[n = int, *T = U](): ..."],
    (3, 14): ["x = t'{a} b'"],
}


@pytest.mark.parametrize("version", NEWER)
def test_the_syntax_of_newer_pythons_means_what_it_did(version: tuple[int, int]):
    for text in NEWER[version] if sys.version_info >= version else ():
        same(text)


@pytest.mark.parametrize(
    "text",
    [
        'x = "text"', "x = 'say \"hi\"'", 'x = "it\'s"', "y = a + b * c - (d - e)",
            "y = (a + b) * c",
        "y = not a and b or -c ** 2", "y = x[i, j + 1].f(a, *b, k=c)[0:n]", "a, b = t", "x = (a,)",
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


def test_a_chain_of_thousands_of_operators_is_written():
    left: ast.expr = ast.Name("a", ast.Load())
    for _ in range(20_000):
        left = ast.BinOp(left, ast.Add(), ast.Name("b", ast.Load()))
    assert unparse(left, 10**9) == "a" + " + b" * 20_000


def test_recording_says_which_pieces_belong_to_an_origin():
    name = tree.placed(tree.name("x"), "the name")
    made = tree.call(tree.name("f"), [name, tree.name("y")])
    unparser = HouseUnparser(made, 100, record=True)
    ((origin, start, end),) = unparser.marks
    assert (origin, "".join(unparser.pieces[start:end])) == ("the name", "x")
    assert unparser.text == "f(x, y)"

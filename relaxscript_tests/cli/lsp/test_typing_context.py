"""What is being typed at the mark."""

from __future__ import annotations

import pytest

from relaxscript.cli.lsp.typing_context import OpenCall, typing_at
from relaxscript.errors import Source
from relaxscript_tests.cli.lsp.texts import marked


def typing(text):
    text, place = marked(text)
    return typing_at(Source("model.py", text), place)


@pytest.mark.parametrize(
    ("text", "owner", "start"),
    [
        ("y = R.nn.re‸", "R.nn", "re"), ("y = R.‸", "R", ""), ("wi‸", "", "wi"), ("‸", "", ""),
        ("f(a).sh‸ape", "", "sh"), ("R.add(x, 𝛼‸)", "", "𝛼"), ('"a" + R.‸', "R", ""),
    ],
)  # fmt: skip
def test_a_name_is_what_is_before_the_mark(text, owner, start):
    found = typing(text)
    assert (found.owner, found.start, found.in_string) == (owner, start, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('R.Tensor(("n‸', "string"), ("x = 'a‸", "string"), ('"""doc\n\n R.‸', "string"),
        ('x = "\\"‸', "string"), ("y = 1  # R.‸", "comment"), ('x = "a"‸', ""), ("x = ''‸", ""),
        ("# c\n‸", ""), ("x = 'open\ny = ‸", ""), ('"""a "x" b"""\n‸', ""), ('f"{x}‸', "string"),
        ("x = '#'‸", ""), ("'''a''' + '''b‸", "string"),
    ],
)  # fmt: skip
def test_strings_and_comments_are_known(text, expected):
    found = typing(text)
    assert (found.in_string, found.in_comment) == (expected == "string", expected == "comment")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R.sum(x, ax‸", OpenCall("R.sum", 1)),
        ("R.sum(‸", OpenCall("R.sum", 0)),
        ("f(a, (b, c), [d, e], k=g(1), z=‸", OpenCall("f", 4, "z")),
        ("R.call_tir(cls.f, (x, y, ‸", OpenCall("R.call_tir", 1)),
        ('R.f("a), b", ‸', OpenCall("R.f", 1)),
        ("h = R.add(\n    x,\n    R.‸", OpenCall("R.add", 1)),
        ("R.sum(\n    x = R.add(‸", OpenCall("R.add", 0)),
        ("f(x == ‸", OpenCall("f", 0)),
        ("R.add(x, y)‸", None),
        ("def f(x, ‸", None),
        ("class C(‸", None),
        ("y = (x, ‸", None),
        ("y = R.add(x\nreturn ‸", None),
        ("R.add(x, # ), \n‸", OpenCall("R.add", 1)),
    ],
)
def test_the_innermost_open_call_is_known(text, expected):
    assert typing(text).call == expected


def test_a_long_text_is_gone_through_once():
    text = "x = 'a' # b\n" * 20_000 + "y = R.add(x, "
    found = typing(text + "‸")
    assert found.call == OpenCall("R.add", 1)


LONG = ("a" * 300_000, "a." * 150_000, "\n" * 300_000, "(" * 300_000, "f( " * 100_000,
        "f(" + " " * 300_000, '"' * 300_001)  # fmt: skip


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_no_text_takes_long(text):
    typing(f"{text}‸")

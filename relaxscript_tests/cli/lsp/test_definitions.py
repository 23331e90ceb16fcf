"""Where the name at the mark is defined."""

from __future__ import annotations

import pytest

from relaxscript.cli.lsp.definitions import definition_of
from relaxscript_tests.cli.lsp.test_words import at
from relaxscript_tests.cli.lsp.texts import DIGITS, IMPORTS, analysed, marked


def defined(text: str) -> str | None:
    """The line and the beginning of what is found."""
    text, place = marked(text)
    span = definition_of(analysed(text), place)
    return (
        None
        if span is None
        else f"{span.line}:{span.source.text[span.source.offset(*span.start) :][:12]}"
    )


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("cls.re‸lu,", "9:relu(x: T.Bu"),
        ("‸cls.relu", "20:cls = Digits"),
        ("cls = Dig‸its", "7:Digits:\n    "),
        ("R.add(‸a, x)", "22:a = R.call_t"),
        ("R.add(a, ‸x)", "17:x: R.Tensor("),
        ("return ‸z", "23:z = R.nn.sof"),
        ('(‸n, 64), "float32"))\n', "19:n = T.int64("),
        ("WID‸TH), ", "3:WIDTH = 64\n\n"),
        ("x[‸vi, vj]", "13:vi, vj = T.a"),
        ("max(‸x[vi", "9:x: T.Buffer("),
        ("T.grid(‸n,", "10:n = T.int64("),
        ("R.a‸dd(a", None),
        ("T.gr‸id(", None),
        ("‸R.add(a", "1:relax as R, "),
        ("@I.ir_‸module", None),
        ("with‸ R.dataflow", None),
    ],
)
def test_names_lead_to_their_definitions(where, expected):
    assert defined(at(DIGITS, where)) == expected


def test_a_dimension_leads_to_where_it_is_named_first():
    text = IMPORTS + (
        '@R.function\ndef f(x: R.Tensor(("n", 4)), y: R.Tensor(("n‸", 4))) -> R.Tensor(("n", 4)):\n'
        "    return x\n"
    )
    assert defined(text) == '3:"n", 4)), y:'


def test_in_a_broken_text_names_are_found_by_the_text():
    text = at(DIGITS, "R.add(‸a, x)").replace("@ w)", "@ ")
    assert defined(text) is None  # the line itself is not read
    text = at(DIGITS, "R.output(‸z)").replace("@ w)", "@ ")
    assert defined(text) is None
    text = at(DIGITS, "cls.re‸lu,").replace("@ w)", "@ ")
    assert defined(text) == "9:relu(x: T.Bu"


def test_python_around_is_followed_too():
    text = IMPORTS + "def g(a):\n    b = a\n    return ‸b\n\nb = 3\n"
    assert defined(text) == "3:b = a\n    re"

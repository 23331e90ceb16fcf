"""The pictures, whole, so that their layout can be reviewed by eye."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from relaxscript.errors import Diagnostic, Source, Span, render
from relaxscript_tests.errors.places import DIGITS, place
from relaxscript_tests.markup import Markup

X = DIGITS.between(DIGITS.offset(21, 26), DIGITS.offset(21, 27))
W = DIGITS.between(DIGITS.offset(21, 29), DIGITS.offset(21, 30))
MATMUL = Diagnostic(
    "RX0203",
    "`R.matmul` cannot multiply these operands",
    W,
    [(W, "has 63 rows"), (X, "has 64 columns"), (place(DIGITS, "63"), "`w` has 63 rows here")],
    help="the last axis of `x` must equal the last-but-one axis of `w`",
)


def shows(found: Diagnostic | list[Diagnostic], picture: str) -> bool:
    """Whether the text of `found` is `picture`, and ANSI and HTML say the same in colours."""
    expected = picture.strip("\n")
    assert render(found) == expected
    assert re.sub(r"\x1b\[[\d;]*m", "", render(found, style="ansi")) == expected
    assert Preformatted.of(render(found, style="html")) == expected
    return True


class Preformatted(HTMLParser):
    """The text inside `<pre>`, as a browser shows it."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.text = ""

    @classmethod
    def of(cls, html: str) -> str:
        reader = cls()
        reader.feed(html)
        return reader.text

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.inside |= tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag != "pre"

    def handle_data(self, data: str) -> None:
        self.text += data if self.inside else ""


def test_labels_on_one_line_are_stacked_and_other_lines_come_in_order():
    assert shows(
        MATMUL,
        """
error[RX0203]: `R.matmul` cannot multiply these operands
  --> digits.py:21:29
   |
17 |     def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((63, 64), "float32")):
   |                                                              -- `w` has 63 rows here
21 |             h = R.matmul(x, w)
   |                          -  ^ has 63 rows
   |                          has 64 columns
   = help: the last axis of `x` must equal the last-but-one axis of `w`
""",
    )


def test_a_fix_is_shown_as_the_line_it_makes():
    span = place(DIGITS, "sofmax")
    found = Diagnostic(
        "RX0102", "`R.nn` has no `sofmax`", span, help="write `softmax`", fix=[(span, "softmax")]
    )
    assert shows(
        found,
        """
error[RX0102]: `R.nn` has no `sofmax`
  --> digits.py:22:23
   |
22 |             gv = R.nn.sofmax(h @ v)
   |                       ^^^^^^
   = help: write `softmax`
   |
22 +             gv = R.nn.softmax(h @ v)
   |                       ~~~~~~~
""",
    )


def test_fixes_that_share_a_line_make_one_and_others_follow():
    source = Source("f.py", "y = f(a, b)\nz = 1\nw = g\n")
    found = Diagnostic(
        "RX0103",
        "no",
        place(source, "f"),
        fix=[
            (place(source, "w"), "v"),
            (place(source, "b"), "b=2"),
            (place(source, "a, "), ""),
            (source.between(11, 11), "\nx = é"),
        ],
    )
    assert shows(
        found,
        """
error[RX0103]: no
 --> f.py:1:5
  |
1 | y = f(a, b)
  |     ^
  = help: write
  |
1 + y = f(b=2)
  |       ~~~
2 + x = é
  | ~~~~~
  |
3 + v = g
  | ~
""",
    )


def test_a_fix_replaces_several_lines_by_one():
    source = Source("f.py", "y = f(\n  x,\n)\n")
    call = source.between(4, 13)
    found = Diagnostic("RX0103", "no", None, help="join", fix=[(call, "f(x)")])
    assert shows(
        found,
        """
error[RX0103]: no
  = help: join
  |
1 + y = f(x)
  |     ~~~~
""",
    )


def test_a_label_in_another_file_has_a_block_of_its_own():
    other = Source("layers.py", "\n\ndef g(x):\n    return x\n")
    found = Diagnostic(
        "RX0206",
        "`g` takes one argument",
        place(DIGITS, "R.matmul(x, w)"),
        [(place(other, "g(x)"), "defined here")],
        notes=["one line\nand another"],
        severity="warning",
    )
    assert shows(
        found,
        """
warning[RX0206]: `g` takes one argument
  --> digits.py:21:17
   |
21 |             h = R.matmul(x, w)
   |                 ^^^^^^^^^^^^^^
  ::: layers.py:3:5
   |
 3 | def g(x):
   |     ---- defined here
   = note: one line
           and another
""",
    )


def test_a_span_of_several_lines_is_marked_line_by_line():
    source = Source("f.py", "y = call(\n    a,\n\n    b,\n)  # end\n")
    span = source.between(4, source.text.index(")") + 1)
    found = Diagnostic(
        "RX0103", "too many", span, [(span, "takes one"), (place(source, "b"), "second")]
    )
    assert shows(
        found,
        """
error[RX0103]: too many
 --> f.py:1:5
  |
1 | y = call(
  |     ^^^^^
2 |     a,
  |     ^^
4 |     b,
  |     -^
  |     second
5 | )  # end
  | ^ takes one
""",
    )


def test_the_middle_of_a_long_span_is_left_out():
    source = Source("f.py", "def f():\n" + "".join(f"    x{i} = {i}\n" for i in range(9)))
    found = Diagnostic("RX0105", "no return", source.whole)
    assert shows(
        found,
        """
error[RX0105]: no return
  --> f.py:1:1
   |
 1 | def f():
   | ^^^^^^^^
 2 |     x0 = 0
   |     ^^^^^^
...
 9 |     x7 = 7
   |     ^^^^^^
10 |     x8 = 8
   |     ^^^^^^
""",
    )


def test_several_diagnostics_are_separated_by_a_blank_line():
    found = [Diagnostic("RX0701", "no file\nat all", None), Diagnostic("RX0702", "no x", None)]
    assert shows(found, "error[RX0701]: no file\n  at all\n\nerror[RX0702]: no x")


def test_no_diagnostics_are_no_text():
    assert render([]) == ""


def test_a_line_that_the_source_does_not_have_is_left_out():
    found = Diagnostic("RX0604", "failed", Span(Source("gone.py", ""), 12, 5, 12, 9))
    assert shows(found, "error[RX0604]: failed\n  --> gone.py:12:5\n   |")


def test_a_span_of_blank_lines_gets_a_caret_at_its_beginning():
    source = Source("f.py", "x\n\n\ny\n")
    found = Diagnostic("RX0105", "no return", source.between(1, 3))
    assert shows(found, "error[RX0105]: no return\n --> f.py:1:2\n  |\n1 | x\n  |  ^")


def test_a_place_at_the_end_of_a_line_gets_a_caret():
    source = Source("f.py", "y = \n")
    found = Diagnostic("RX0113", "a value is missing", source.between(4, 4))
    assert shows(
        found,
        """
error[RX0113]: a value is missing
 --> f.py:1:5
  |
1 | y =
  |     ^
""",
    )


def test_html_escapes_what_the_user_wrote():
    source = Source("<script>.py", 'x = "<b>&" < y\n')
    html = render(Diagnostic("RX0101", "<i>", place(source, "y"), help="<u>"), style="html")
    for tag in ("<script", "<b>", "<i>", "<u>"):
        assert tag not in html
    assert "&lt;b&gt;&amp;" in html


def test_html_needs_nothing_from_outside_and_knows_dark_rooms():
    html = render(MATMUL, style="html")
    assert "prefers-color-scheme: dark" in html
    assert not re.search(r"<script|https?:|url\(|@import|\bon\w+=", html)


def test_many_diagnostics_are_folded_after_the_first_ones():
    found = [Diagnostic("RX0101", f"`{name}` is not defined", None) for name in "abcdefghijkl"]
    shown = Markup(render(found, style="html"))
    assert shown.folds == [False]
    assert shown.text.replace("more\n", "") == render(found)
    assert Markup(render(found[:8], style="html")).folds == []


def test_ansi_uses_the_sixteen_colours_only():
    codes = re.findall(r"\x1b\[([\d;]*)m", render(MATMUL, style="ansi"))
    assert {part for code in codes for part in code.split(";")} <= {
        "0",
        "1",
        *map(str, range(30, 38)),
    }


def test_escape_sequences_of_the_user_do_not_reach_the_terminal():
    source = Source("f\x1b.py", "x = '\x1b[31m\u202e'\n")
    text = render(Diagnostic("RX0101", "a\x1bb", place(source, "x"), help="c\x07"))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "x = '␛[31m\ufffd'" in text


@pytest.mark.slow
@given(st.data())
def test_every_diagnostic_can_be_drawn_and_says_the_same_in_every_style(data: st.DataObject):
    texts = st.text("ab é日\t\n\r\x0c<&", max_size=60)
    sources = [Source(name, data.draw(texts)) for name in ("a.py", "b.py")]

    def span() -> Span:
        source = data.draw(st.sampled_from(sources))
        return source.between(*sorted(data.draw(st.tuples(*[st.integers(0, 60)] * 2))))

    labels = [(span(), data.draw(texts)) for _ in range(data.draw(st.integers(0, 4)))]
    fix = [(span(), data.draw(texts)) for _ in range(data.draw(st.integers(0, 2)))]
    found = Diagnostic("RX0101", "no", span(), labels, fix=fix)
    assert shows(found, render(found))

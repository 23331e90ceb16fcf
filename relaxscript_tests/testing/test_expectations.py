"""The notation of expectations: what each line says, and that writing is the inverse of reading."""

from __future__ import annotations

import pytest

from relaxscript.errors import Diagnostic, Edit, Label, Source, Span
from relaxscript.testing.expectations import (
    Place,
    read_expectations,
    write_expectation,
    write_label,
)


def read(text: str):
    return read_expectations(text.splitlines())


def test_carets_are_the_span_in_the_line_above():
    [found] = read(
        "y = R.add(x, zz)\n#            ^^ error: RX0101 `zz` is not defined"
    ).diagnostics
    assert found.place == Place(1, 14, 1, 16)
    assert (found.severity, found.code, found.message) == (
        "error",
        "RX0101",
        "`zz` is not defined",
    )


def test_several_comments_speak_of_the_same_line():
    text = "a + b\n#<    error: RX0101 `a`\n#   ^ warning: RX0101 `b`\nc"
    first, second = read(text).diagnostics
    assert first.place == Place(1, 1, 1, 2)
    assert second.place == Place(1, 5, 1, 6)
    assert (first.severity, second.severity) == ("error", "warning")


@pytest.mark.parametrize(("mark", "end"), [("#<", 2), ("#<^", 3), ("# <^^^", 5)])
def test_a_less_sign_begins_the_mark_above_the_number_sign(mark, end):
    [found] = read(f"while True:\n{mark} error: RX0104 no").diagnostics
    assert found.place == Place(1, 1, 1, end)


def test_columns_count_characters_and_not_bytes():
    [found] = read('é = "ü" + z\n#         ^ error: RX0101 `z` is not defined').diagnostics
    assert found.place == Place(1, 11, 1, 12)


def test_an_exclamation_mark_stands_for_a_place_of_no_width():
    [found] = read("f(x)\n#  ! error: RX0103 more").diagnostics
    assert found.place == Place(1, 4, 1, 4)
    [found] = read("f(x)\n#<! error: RX0103 more").diagnostics
    assert found.place == Place(1, 1, 1, 1)


def test_no_mark_means_no_place():
    [found] = read("f(x)\n# error: RX0602 the function takes 2 arguments").diagnostics
    assert found.place is None


def test_a_place_over_several_lines_ends_in_a_line_of_code():
    text = "y = f(\n#   ^^...+2:2 error: RX0103 no\n    x,\n    #<! warning: RX0101 x\n)"
    first, _ = read(text).diagnostics
    assert first.place == Place(1, 5, 5, 2)


def test_remarks_belong_to_the_diagnostic_above_them():
    text = """
y = z
#   ^ error: RX0101 `z` is not defined
#     help: did you mean `x`?
#     note: one
#     note: two
#     fix: x
"""
    [found] = read(text).diagnostics
    assert found.help == "did you mean `x`?"
    assert found.notes == ["one", "two"]
    assert found.fixes == ["x"]


def test_a_label_stands_under_its_own_place():
    [label] = read("f(x)\n# - label: has 3 rows").labels
    assert label.place == Place(1, 3, 1, 4)
    assert label.text == "has 3 rows"


def test_a_bar_continues_the_sentence_before():
    text = """
f(x)
# ^ error: RX0101 a long
#   | sentence
#   help: and a
#   | help
# - label: a
#   | label
"""
    found = read(text)
    assert found.diagnostics[0].message == "a long sentence"
    assert found.diagnostics[0].help == "and a help"
    assert found.labels[0].text == "a label"


def test_a_long_mark_may_have_its_words_in_the_next_line():
    text = "f(x)\n#<^^^\n# | error: RX0101 a long\n# | sentence\n#- label: no\n# --\n# | label: a"
    found = read(text)
    assert found.diagnostics[0].place == Place(1, 1, 1, 5)
    assert found.diagnostics[0].message == "a long sentence"
    assert found.labels[1] == (Place(1, 3, 1, 5), "a")


def test_other_comments_are_text_like_any_other():
    found = read("x = y\n# an error: of ours\n# ^ see above\n#   ^^ error: RX0101 no")
    assert [e.place for e in found.diagnostics] == [Place(3, 5, 3, 7)]


def test_only_the_lines_asked_for_are_read_and_comments_that_follow_them():
    lines = "a\n#< error: RX1 a\nb\n#< error: RX2 b\nc\n#< error: RX3 c".splitlines()
    assert [e.code for e in read_expectations(lines, 3, 3).diagnostics] == ["RX2"]


SOURCE = Source("<text>", '    é = f(x,\n          "ü", y)\n    return é\n')
SPANS = [
    Span(SOURCE, 1, 5, 1, 6),
    Span(SOURCE, 1, 5, 1, 9),
    Span(SOURCE, 1, 6, 1, 7),
    Span(SOURCE, 1, 9, 1, 9),
    Span(SOURCE, 1, 5, 1, 5),
    Span(SOURCE, 1, 9, 2, 17),
    Span(SOURCE, 2, 16, 2, 17),
    Span(SOURCE, 3, 12, 3, 13),
    None,
]


@pytest.mark.parametrize("span", SPANS, ids=repr)
def test_what_is_written_reads_back(span):
    diagnostic = Diagnostic(
        "RX0101", "a sentence", span, (), ("a note",), "some help", [Edit(SPANS[0], "a\nb")]
    )
    lines = list(SOURCE.lines)
    at = 1 if span is None else span.line
    text = [*lines[:at], *write_expectation(diagnostic, lines), *lines[at:]]
    [found] = read_expectations(text).diagnostics
    expected = None if span is None else Place(*span.start, *span.end)
    if expected is not None and expected.end_line > expected.line:
        expected = expected._replace(end_line=expected.end_line + 4)
    assert found.key == ("error", "RX0101", "a sentence", expected)
    assert (found.help, found.notes, found.fixes) == ("some help", ["a note"], ["a\\nb"])


@pytest.mark.parametrize("span", [s for s in SPANS if s and s.line == s.end_line], ids=repr)
def test_a_written_label_reads_back(span):
    lines = list(SOURCE.lines)
    text = [*lines[: span.line], write_label(Label(span, "is 3"), lines), *lines[span.line :]]
    [found] = read_expectations(text).labels
    assert found == (Place(*span.start, *span.end), "is 3")

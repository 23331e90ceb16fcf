"""What is known of a text, and what is read again after a change."""

from __future__ import annotations

import logging

import pytest

from relaxscript.cli import scripts_in_file
from relaxscript.cli.autofix import look
from relaxscript.cli.lsp.analysis import analyse, analyses, holds_scripts
from relaxscript.errors import Source
from relaxscript_tests.cli.lsp.texts import DIGITS, IMPORTS, analysed
from relaxscript_tests.cli.programs import BAD

TWO = f"""{IMPORTS}
N = 4

@R.function
def f(x: R.Tensor((N,), "float32")):
    return x

@R.function
def g(x: R.Tensor((3,), "float32")):
    return x
"""


def test_the_mistakes_are_those_of_check():
    for text in (BAD, DIGITS, DIGITS.replace("@ w", "@ x"), "@R.functon\ndef f(): pass\n"):
        assert analysed(text).diagnostics == look([Source("model.py", text)], None).found


def test_what_only_a_run_can_tell_is_a_remark():
    found = analysed(TWO.replace("N = 4", "N = len(__file__)"))
    [remark] = found.remarks
    assert (found.diagnostics, remark.span.line) == ((), 6)
    assert remark.message == "what depends on `N` is checked in a run only"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("import numpy\n", False), (IMPORTS, True), ("import tvm\n", True), ("@R.function\n", True),
     ("@property\ndef f(): ...", False), ("", False)],
)  # fmt: skip
def test_a_glance_shows_what_is_of_no_interest(text, expected):
    assert holds_scripts(text) is expected


def test_a_file_without_scripts_is_not_read():
    text = "def f(:\n" * 9
    assert not analysed(text).diagnostics
    assert not analysed(text).definitions


def test_a_definition_that_did_not_change_is_not_read_again():
    first = analysed(TWO)
    second = analysed(TWO.replace("(3,)", "(5,)"), 2, first)
    assert second.definitions[0] is first.definitions[0]
    assert second.definitions[1] is not first.definitions[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [("N = 4", "N = 5"), ("N = 4", "N = 4.0"), ("N = 4", "# N"), ("N = 4", "N = 4\n")],
)  # fmt: skip
def test_a_definition_in_other_surroundings_is_read_again(old, new):
    first = analysed(TWO)
    second = analysed(TWO.replace(old, new), 2, first)
    fresh = analysed(TWO.replace(old, new), 2)
    assert second.definitions[0] is not first.definitions[0]
    assert second.diagnostics == fresh.diagnostics


def test_other_names_around_matter_to_suggestions_only():
    wrong = TWO.replace("return x", "return MM", 1)
    for text, is_read_again in ((TWO, False), (wrong, True)):
        first = analysed(text)
        second = analysed(text.replace("N = 4", "N, MM0 = 4, 3"), 2, first)
        assert (second.definitions[0] is not first.definitions[0]) is is_read_again


def test_of_a_broken_definition_only_the_broken_line_is_blamed():
    broken = DIGITS.replace("R.add(a, x) @ w)", "R.add(a, ")
    [only] = analysed(broken).diagnostics
    assert (only.code, only.span.line) == ("RX0113", 23)


def test_other_definitions_of_a_broken_text_are_checked():
    text = TWO.replace("return x\n\n", "return (\n\n", 1).replace("(3,)", '("q+", 3)')
    assert [d.code for d in analysed(text).diagnostics] == ["RX0113", "RX0108"]


def test_the_first_answer_on_a_broken_text_keeps_the_mistakes_of_what_did_not_change():
    wrong = TWO.replace("return x", "return z")
    before = analysed(wrong)
    broken = wrong.replace("return z", "return (", 1).replace("N = 4", "N = 4\n\n")
    first, whole = analyses(Source("model.py", broken), 2, before)
    assert [(d.code, d.span.line) for d in before.diagnostics] == [("RX0101", 7), ("RX0101", 11)]
    assert [(d.code, d.span.line) for d in first.diagnostics] == [("RX0113", 9), ("RX0101", 13)]
    assert (first.is_whole, whole.is_whole) == (False, True)
    assert first.diagnostics == whole.diagnostics


def test_a_text_that_nothing_helps_keeps_what_was_known():
    wrong = TWO.replace("return x", "return z")
    broken = wrong + "x = (\n" * 30
    [error] = analysed(broken).diagnostics
    kept = analysed(broken, 2, analysed(wrong))
    assert [d.code for d in kept.diagnostics] == ["RX0101", "RX0101", "RX0113"]
    assert kept.diagnostics[-1] == error


def test_an_error_of_ours_is_logged_and_costs_one_definition(monkeypatch, caplog):
    parse = scripts_in_file.parse_definition

    def failing(cx, node, decorator):
        if node.name == "f":
            raise ValueError("broken by the test")
        return parse(cx, node, decorator)

    monkeypatch.setattr(scripts_in_file, "parse_definition", failing)
    text = TWO.replace("return x", "return z")
    with caplog.at_level(logging.ERROR):
        found = analysed(text)
    assert [d.span.line for d in found.diagnostics] == [11]
    assert "InternalError: `f` of model.py" in caplog.text
    assert "ValueError (broken by the test)" in caplog.text


def test_reading_ends_where_it_is_asked_to():
    class Enough(BaseException):
        pass

    asked = []

    def check():
        asked.append(1)
        if len(asked) > 20:
            raise Enough

    with pytest.raises(Enough):
        analyse(Source("model.py", DIGITS), 1, None, check)
    assert len(asked) == 21

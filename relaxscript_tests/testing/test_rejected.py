"""Checking rejected programs: what passes, what fails and with which words, and fixes."""

from __future__ import annotations

import warnings
from functools import partial

import pytest

from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    Edit,
    Label,
    RelaxWarning,
    Source,
    Span,
    VMError,
)
from relaxscript.script import relax as R
from relaxscript.testing import check_rejected, diagnostics_of, rejected


def blaming(word: str, message: str = "is wrong", code: str = "RX0101", **more):
    """A parser that dislikes every `word` of a text."""

    def parse(text: str, filename: str) -> None:
        source = Source(filename, text)
        found = []
        for number, line in enumerate(source.lines, 1):
            code_of_line = line.partition("#")[0]
            if word in code_of_line:
                column = code_of_line.index(word) + 1
                span = Span(source, number, column, number, column + len(word))
                labels = [Label(span, text) for text in more.get("labels", ())]
                fix = [Edit(span, new) for new in more.get("fix", ())]
                help, notes = more.get("help"), more.get("notes", ())
                found.append(Diagnostic(code, message, span, labels, notes, help, fix))
        if found:
            raise DiagnosticError(found)

    return parse


def failure(text, **options) -> str:
    with pytest.raises(AssertionError) as caught:
        check_rejected(text, **options)
    return str(caught.value)


def test_a_program_that_gets_what_it_lists_passes():
    text = """
        y = bad
        #   ^^^ error: RX0101 is wrong
    """
    [found] = check_rejected(text, parse=blaming("bad"))
    assert found.message == "is wrong"


def test_a_diagnostic_that_is_not_listed_is_shown_in_the_notation():
    said = failure("y = bad", parse=blaming("bad", help="write good"))
    assert "found, but not listed:\nline 1:\ny = bad\n#   ^^^ error: RX0101 is wrong" in said
    assert "# help: write good" in said


def test_a_listed_diagnostic_that_does_not_come_is_shown():
    said = failure("y = 1\n#   ^ error: RX0101 is wrong", parse=blaming("bad"))
    assert "listed, but not found:\nline 1:\ny = 1\n#   ^ error: RX0101 is wrong" in said


@pytest.mark.parametrize(
    "comment",
    [
        "#   ^^ error: RX0101 is wrong",
        "#  ^^^ error: RX0101 is wrong",
        "#   ^^^ error: RX0102 is wrong",
        "#   ^^^ error: RX0101 is wronger",
        "#   ^^^ warning: RX0101 is wrong",
        "# error: RX0101 is wrong",
    ],
)
def test_place_code_words_and_severity_must_all_be_right(comment):
    assert "not listed" in failure(f"y = bad\n{comment}", parse=blaming("bad"))


@pytest.mark.parametrize("remark", ["help: write good", "note: a fact", "fix: good"])
def test_remarks_that_are_written_must_be_right(remark):
    text = f"y = bad\n#   ^^^ error: RX0101 is wrong\n#     {remark}"
    right = blaming("bad", help="write good", notes=["a fact"], fix=["good"])
    check_rejected(text, parse=right)
    wrong = blaming("bad", help="h", notes=["n"], fix=["f"])
    assert "found with other remarks:" in failure(text, parse=wrong)


def test_where_one_label_is_written_all_must_be():
    text = "y = bad\n#   ^^^ error: RX0101 is wrong\n#   --- label: one"
    check_rejected(text, parse=blaming("bad", labels=["one"]))
    check_rejected(text.rpartition("\n")[0], parse=blaming("bad", labels=["one"]))
    said = failure(text, parse=blaming("bad", labels=["one", "two"]))
    assert "found, but not listed:\nline 1:\ny = bad\n#   --- label: two" in said
    said = failure(text, parse=blaming("bad", labels=[]))
    assert "listed, but not found: label: one" in said


def test_the_same_mistake_twice_is_listed_twice():
    text = "bad\n#<^^ error: RX0101 is wrong\nbad"
    assert "line 3:" in failure(text, parse=blaming("bad"))


def test_fixes_are_applied_and_must_help():
    text = "y = bad\n#   ^^^ error: RX0101 is wrong\n#     fix: {}"
    check_rejected(text.format("good"), parse=blaming("bad", fix=["good"]))
    said = failure(text.format("a bad"), parse=blaming("bad", fix=["a bad"]))
    assert "with the fix applied: RX0101 is wrong" in said
    assert "y = a bad" in said


def test_fixes_are_checked_whether_listed_or_not():
    text = "y = bad\n#   ^^^ error: RX0101 is wrong"
    parse = blaming("bad", fix=["a bad"])
    assert "with the fix applied" in failure(text, parse=parse)
    check_rejected(text, parse=parse, check_fixes=False)


def test_what_offers_no_fix_may_remain():
    def both(text, filename):
        parsers = [blaming("bad", fix=["good"]), blaming("worse")]
        found = [d for parse in parsers for d in diagnostics_of(partial(parse, text, filename))]
        raise DiagnosticError(found)

    text = """
        y = bad
        #   ^^^ error: RX0101 is wrong
        z = worse
        #   ^^^^^ error: RX0101 is wrong
    """
    assert len(check_rejected(text, parse=both)) == 2


def test_a_program_is_a_text_or_a_function():
    with pytest.raises(TypeError, match="a program is a string or a function, not 3"):
        check_rejected(3)


def test_a_function_inside_a_test_is_checked_at_once():
    @rejected
    def program():
        @R.function
        def f(x: R.Tensor((2, 3), "float32")):
            é = R.add(xx, x)
            #         ^^ error: RX0101 `xx` is not defined
            return é


def test_a_function_inside_a_test_fails_at_once():
    with pytest.raises(AssertionError, match="`xx` is not defined"):

        @rejected
        def program():
            @R.function
            def f(x: R.Tensor((2, 3), "float32")):
                y = R.add(xx, x)
                return y


@rejected
def test_a_function_at_the_top_of_a_module_is_a_test():
    """It keeps its name and docstring."""

    @R.function
    def f(width: R.Tensor((2, 3), "float32")):
        y = R.add(widht, width)
        #         ^^^^^ error: RX0101 `widht` is not defined
        #               help: did you mean `width`?
        #               fix: width
        return y


def test_the_test_made_of_a_function_keeps_its_name():
    made = test_a_function_at_the_top_of_a_module_is_a_test
    assert made.__name__ == "test_a_function_at_the_top_of_a_module_is_a_test"
    assert made.__doc__ == "It keeps its name and docstring."


def test_a_fix_sees_what_the_function_captured():
    scale = 3

    @rejected
    def program():
        @R.function
        def f(width: R.Tensor((2, 3), "float32")):
            y = R.add(widht, R.const(scale, "float32"))
            #         ^^^^^ error: RX0101 `widht` is not defined
            #               fix: width
            return y


def test_comments_behind_the_last_line_of_a_function_belong_to_it():
    @rejected
    def program():
        raise VMError("it failed", code="RX0604")
        # error: RX0604 it failed


def test_warnings_are_diagnostics_too():
    def warns():
        diagnostic = Diagnostic("RX0207", "perhaps", None, severity="warning")
        warnings.warn(RelaxWarning(diagnostic), stacklevel=1)

    assert [d.message for d in diagnostics_of(warns)] == ["perhaps"]


def test_warnings_of_others_are_errors():
    with pytest.raises(AssertionError, match="the program also warns: UserWarning"):
        diagnostics_of(lambda: warnings.warn("something else", stacklevel=1))


def test_an_accepted_program_has_no_diagnostics():
    assert check_rejected("x = 1", parse=blaming("bad")) == []

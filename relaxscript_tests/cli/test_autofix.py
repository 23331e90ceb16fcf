"""Fixes are applied until there is nothing more to fix, and never make things worse."""

from __future__ import annotations

import pytest

from relaxscript.cli import autofix
from relaxscript.cli.autofix import ROUNDS, difference, look, mend
from relaxscript.cli.scripts_in_file import Script
from relaxscript.errors import Diagnostic, DiagnosticError, Edit, Source
from relaxscript_tests.cli.programs import BAD, IMPORTS


def mend_text(text):
    return mend(look([Source("a.py", text)], None), None)


def text_of(looked):
    [source] = looked.sources
    return source.text


@pytest.fixture
def rule(monkeypatch):
    """Mistakes of our own making, by what to write instead of a whole text."""

    def define(instead):
        def found(sources, strict):
            [source] = sources
            new = instead(source.text)
            fix = () if new is None else (Edit(source.whole, new),)
            wrong = Diagnostic("RX0101", f"{source.text} is wrong", source.whole, fix=fix)
            return [Script("f", 1, None, (wrong,))], []

        monkeypatch.setattr(autofix, "definitions", found)

    return define


def test_a_text_without_fixes_is_the_same():
    looked = look([Source("a.py", BAD.replace("imaeg", "zzz"))], None)
    assert mend(looked, None) is looked


def test_every_use_of_a_macro_mends_its_text_once():
    text = f"""{IMPORTS}
@R.macro
def twice(x):
    return R.ad(x, x)

@R.function
def f(x: R.Tensor((2, 3), "float32")):
    return twice(twice(x))
"""
    after = mend_text(text)
    assert text_of(after) == text.replace("R.ad(", "R.add(")
    assert after.found == ()


def test_fixes_that_overlap_are_done_one_after_another():
    text = BAD.replace("R.add(image, imaeg)", "R.reshpae(imaeg, shpae=(6,))")
    after = mend_text(text)
    assert "R.reshape(image, shape=(6,))" in text_of(after)
    assert after.found == ()


def test_fixes_that_lead_in_a_circle_come_to_an_end(rule):
    rule(lambda text: "b" if text == "a" else "a")
    after = mend_text("a")
    assert (text_of(after), len(after.fixed), len(after.found)) == ("b", 1, 1)


def test_fixes_that_never_end_are_given_up(rule):
    rule(lambda text: text + "a")
    assert len(text_of(mend_text("a"))) == 1 + ROUNDS


def test_a_fix_after_which_the_text_is_no_python_is_not_taken(monkeypatch):
    def found(source, strict):
        if "(" in source.text:
            raise DiagnosticError(Diagnostic("RX0113", "this is not Python", source.whole))
        wrong = Diagnostic("RX0101", "", source.whole, fix=[Edit(source.whole, "f(")])
        return [], [wrong]

    def definitions(sources, strict):
        try:
            return found(*sources, strict)
        except DiagnosticError as error:
            return [], list(error.diagnostics)

    monkeypatch.setattr(autofix, "definitions", definitions)
    after = mend_text("f")
    assert (text_of(after), after.fixed) == ("f", ())


def test_equal_texts_do_not_differ():
    assert difference(Source("a.py", BAD), Source("a.py", BAD)) == ""

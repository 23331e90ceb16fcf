"""Differences of programs: which lines are shown, for which functions, and how."""

from __future__ import annotations

import re

import pytest

import relaxscript as rx
from relaxscript.script import from_source
from relaxscript.script.difference import ScriptDiff, diff
from relaxscript.testing.programs import random_module
from relaxscript.transform import LegalizeOps, ToNonDataflow
from relaxscript_tests import examples
from relaxscript_tests.growth import growth
from relaxscript_tests.markup import Markup
from relaxscript_tests.transform.long_programs import long_module

BEFORE = """
@I.ir_module
class M:
    @R.function
    def gone(x: R.Tensor((4,), "float32")):
        return x

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = R.exp(a)
        c = R.exp(b)
        d = R.exp(c)
        return d

    @R.function
    def same(x: R.Tensor((4,), "float32")):
        return x
"""
AFTER = BEFORE.replace("c = R.exp(b)", "c = R.log(b)").replace("def gone", "def came")


def test_changes_are_shown_by_function_with_lines_around_them():
    changes = diff(from_source(BEFORE), from_source(AFTER), context=1)
    assert str(changes) == (
        "@@ -7,3 +1,0 @@ gone\n"
        "-    @R.function\n"
        '-    def gone(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):\n'
        "-        return x\n"
        "@@ -18,3 +18,3 @@ main\n"
        '         b: R.Tensor((4,), "float32") = R.exp(a)\n'
        '-        c: R.Tensor((4,), "float32") = R.exp(b)\n'
        '+        c: R.Tensor((4,), "float32") = R.log(b)\n'
        '         d: R.Tensor((4,), "float32") = R.exp(c)\n'
        "@@ -1,0 +7,3 @@ came\n"
        "+    @R.function\n"
        '+    def came(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):\n'
        "+        return x"
    )
    assert "def same" not in str(changes)


def test_programs_that_print_the_same_have_no_difference():
    changes = rx.diff(from_source(BEFORE), from_source(BEFORE))
    assert not changes
    assert str(changes) == repr(changes) == "both print the same"


def test_what_stands_before_the_functions_is_compared_too():
    mod = from_source(BEFORE)
    assert '+    I.module_attrs({"seen": 1})' in str(diff(mod, mod.with_attr("seen", 1)))


def test_functions_are_compared_alone():
    one, other = (from_source(text)["main"] for text in (BEFORE, AFTER))
    assert str(diff(one, other, context=0)).count("\n") == 2


def test_a_terminal_and_a_notebook_show_it_in_colour(capsys):
    changes = diff(from_source(BEFORE), from_source(AFTER))
    changes.show(style="ansi")
    assert "\x1b[1;31m-        c: " in capsys.readouterr().out
    shown = Markup(changes._repr_html_())
    assert shown.text == f"{changes}\n"
    assert ("span", "added") in shown.classes
    assert ("span", "removed") in shown.classes
    changes.show()
    assert capsys.readouterr().out == f"{changes}\n"


@pytest.mark.parametrize("wrong", [3, "a"])
def test_only_modules_and_functions_are_compared(wrong):
    with pytest.raises(TypeError, match="modules and functions are compared, not"):
        diff(wrong, from_source(BEFORE))


def test_the_context_is_a_number_of_lines():
    mod = from_source(BEFORE)
    with pytest.raises(TypeError, match="`context` is a number of lines, not -1"):
        diff(mod, mod, -1)


def patched(before: list[str], changes: ScriptDiff) -> list[str]:
    """The lines of a program without functions added or gone, after its changes."""
    made, done = [], 0
    for line in changes.lines:
        if line.startswith("@@"):
            start = int(re.match(r"@@ -(\d+)", line)[1]) - 1
            made += before[done:start]
            done = start
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert before[done] == line[1:]
            made += [line[1:]] if line[0] == " " else []
            done += 1
    return made + before[done:]


@pytest.mark.parametrize("context", [0, 1, 3])
def test_changes_make_one_script_of_the_other(context):
    for seed in range(examples(300)):
        mod = random_module(seed)
        made = ToNonDataflow()(mod)
        changes = diff(mod, made, context)
        assert patched(mod.script().split("\n"), changes) == made.script().split("\n")


@pytest.mark.slow
def test_comparing_is_linear_in_the_bindings():
    def prepare(count):
        mod = long_module("operators", count)
        made = LegalizeOps()(mod)
        return lambda: diff(mod, made)

    assert growth(prepare, 24) < 10


def test_a_notebook_folds_each_stretch_of_changes_and_opens_the_first_ones():
    many = ScriptDiff(tuple(line for i in range(9) for line in ("@@ f", *["+    y = x"] * 50)))
    assert Markup(many._repr_html_()).folds == [True] * 4 + [False] * 5

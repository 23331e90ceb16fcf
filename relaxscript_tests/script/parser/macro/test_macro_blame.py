"""Blame in macros points to the macro and to its uses, in other files too."""

from __future__ import annotations

import html
import re

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.errors.render import render
from relaxscript.script import from_source, relax as R, tir as T
from relaxscript_tests.script.parser.macro import shared_macros


def error_of(program):
    with pytest.raises(DiagnosticError) as caught:
        program()
    return caught.value


def in_another_file():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = shared_macros.mistaken_twice(x)
        z = shared_macros.mistaken(x)
        return z


def line_of(text, path=__file__):
    with open(path, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if text in line)


def test_a_mistake_in_a_macro_of_another_file_is_one_mistake_with_every_use():
    (diagnostic,) = error_of(in_another_file).diagnostics
    written = shared_macros.mistaken.source.filename
    span = diagnostic.span
    assert (span.filename, span.text, span.line) == (
        written, "FAKTOR", line_of("R.const(FAKTOR)", written)
    )  # fmt: skip
    assert [(label.span.filename, label.span.text, label.text) for label in diagnostic.labels] == [
        (written, "mistaken(x)", "`mistaken` is expanded here"),
        (__file__, "shared_macros.mistaken_twice(x)", "`mistaken_twice` is expanded here"),
        (__file__, "shared_macros.mistaken(x)", "`mistaken` is expanded here"),
    ]


def test_both_files_are_drawn_in_every_style():
    error = error_of(in_another_file)
    text = render(error.diagnostics)
    written = shared_macros.mistaken.source.filename
    assert f"--> {written}:{line_of('R.const(FAKTOR)', written)}:34" in text
    assert f"::: {__file__}:{line_of('y = shared_macros.mistaken_twice(x)')}:13" in text
    assert "------------------------------- `mistaken_twice` is expanded here" in text
    assert text.index("FAKTOR") < text.index(":::")
    ansi = re.sub(r"\x1b\[[0-9;]*m", "", render(error.diagnostics, style="ansi"))
    assert ansi == text
    page = re.sub(r"<style>.*?</style>", "", render(error.diagnostics, style="html"), flags=re.S)
    assert html.unescape(re.sub(r"<[^>]*>", "", page)).strip() == text.strip()
    assert str(error) == text


def test_python_shows_the_line_of_the_macro():
    error = error_of(in_another_file)
    assert error.filename == shared_macros.mistaken.source.filename
    assert error.text.strip().startswith("return R.multiply(x, R.const(FAKTOR))")


def test_of_many_uses_the_first_are_shown():
    uses = "\n".join(f"    x{i} = wrong(x)" for i in range(20))
    text = f"""
@R.macro
def wrong(x):
    return R.add(x, offset)

@R.function
def f(x: R.Tensor((2, 3), "float32")):
{uses}
    return x
"""
    (diagnostic,) = error_of(lambda: from_source(text)).diagnostics
    assert len(diagnostic.labels) == 6
    assert diagnostic.notes == ("and 14 more places",)


def test_mistakes_that_differ_from_use_to_use_are_several():
    @R.macro
    def product(a, b):
        return R.matmul(a, b)

    def program():
        @R.function
        def f(x: R.Tensor((2, 3), "float32"), y: R.Tensor((4, 5), "float32")):
            a = product(x, x)
            b = product(x, y)
            return x

    first, second = error_of(program).diagnostics
    assert first.span == second.span
    assert first.labels[-1].span.text == "product(x, x)"
    assert second.labels[-1].span.text == "product(x, y)"


def test_a_macro_may_be_defined_after_the_one_that_uses_it():
    @R.macro
    def first(x):
        return second(x)

    @R.macro
    def second(x):
        return R.exp(x)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return first(x)

    assert "R.exp(x)" in f.script()


def test_forty_levels_of_a_macro_are_fine():
    @R.macro
    def chain(x, n):
        return x if n == 0 else R.add(chain(x, n - 1), x)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return chain(x, 39)

    assert f.script().count("R.add") == 39


def test_a_parameter_may_have_the_name_of_the_macro_and_of_python():
    @T.macro
    def store(A, store, range):
        A[store] = T.float32(range)

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        store(A, 1, 2)

    assert "A[1] = T.float32(2.0)" in f.script()


def test_data_mode_evaluates_no_python_in_a_macro():
    text = """
@R.macro
def wrong(x):
    return R.const(open("/etc/passwd"))

@R.function
def f(x: R.Tensor((2, 3), "float32")):
    return wrong(x)
"""
    (diagnostic,) = error_of(lambda: from_source(text)).diagnostics
    assert diagnostic.message == "`open` is not defined"

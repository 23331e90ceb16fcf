"""Executables in notebooks: the whole listing, and the line that each instruction is from."""

from __future__ import annotations

from relaxscript.errors import Source
from relaxscript.runtime import ExecBuilder, Executable
from relaxscript_tests.markup import Markup

SOURCE = Source("model.py", "def main(x):\n    y = f(x)\n    return y\n")


def program(calls: int = 1, functions: int = 1) -> Executable:
    builder = ExecBuilder()
    for number in range(functions):
        with builder.function(f"main{number}", 1):
            for _ in range(calls):
                at = SOURCE.between(17, 25)
                builder.emit_call("test.f", [builder.r(0)], builder.r(1), span=at)
            builder.emit_ret(builder.r(1))
    return builder.get()


def test_the_whole_listing_is_there():
    made = program(3, 2)
    shown = Markup(made._repr_html_()).text
    assert shown.endswith(made.as_text().replace("\n\n", "\n"))
    assert shown.startswith("Executable of main0, main1 · instructions: 8 · constants: 0")


def test_an_instruction_says_the_line_that_it_is_from():
    hints = Markup(program()._repr_html_()).hints
    assert list(hints.values()) == ["model.py:2: y = f(x)"]
    assert next(iter(hints)).startswith("call  test.f ")


def test_long_functions_are_folded_and_so_are_many():
    assert Markup(program(60)._repr_html_()).folds == [False]
    assert Markup(program(28, 6)._repr_html_()).folds == [True] * 4 + [False] * 2

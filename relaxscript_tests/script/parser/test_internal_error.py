"""A crash of ours is reported as ours, not as a mistake of the program that was read."""

from __future__ import annotations

import pytest

from relaxscript.cli import main
from relaxscript.errors import InternalError
from relaxscript.script import from_source, relax as R
from relaxscript.script.parser.definitions import finish
from relaxscript.script.parser.relax_functions import dataflow as relax_dataflow

PROGRAM = """
@R.function
def f(x: R.Tensor((2, 3), "float32")):
    with R.dataflow():
        y = R.exp(x)
        R.output(y)
    return y
"""


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser that has a mistake of its own."""

    def parse_dataflow(cx, node):
        raise KeyError("block")

    monkeypatch.setattr(relax_dataflow, "parse_dataflow", parse_dataflow)


@pytest.mark.usefixtures("broken")
def test_a_crash_while_a_text_is_read():
    with pytest.raises(InternalError) as caught:
        from_source(PROGRAM, filename="model.py")
    said = str(caught.value)
    assert "KeyError ('block') while a script was read at model.py:4:5" in said
    assert "our mistake, not yours" in said
    assert "please report it together with the program" in said
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.usefixtures("broken")
def test_a_crash_while_a_decorated_function_is_read():
    with pytest.raises(
        InternalError, match=r"while a script was read at .*test_internal_error\.py"
    ):

        @R.function
        def f(x: R.Tensor((2, 3), "float32")):
            with R.dataflow():
                y = R.exp(x)
                R.output(y)
            return y


@pytest.mark.usefixtures("broken")
def test_a_crash_of_the_command_that_checks(tmp_path):
    file = tmp_path / "model.py"
    file.write_text(f"from relaxscript.script import relax as R\n{PROGRAM}", "utf-8")
    with pytest.raises(InternalError, match="our mistake"):
        main(["check", str(file)])


def test_what_has_no_words_is_named(monkeypatch: pytest.MonkeyPatch):
    def parse_dataflow(cx, node):
        raise AssertionError

    monkeypatch.setattr(relax_dataflow, "parse_dataflow", parse_dataflow)
    with pytest.raises(InternalError, match="AssertionError while a script was read"):
        from_source(PROGRAM)


def test_a_script_without_a_result_and_without_a_mistake_is_our_mistake():
    with pytest.raises(InternalError, match="a script has no result, and no mistake was recorded"):
        finish(lambda reporter: None, strict=None)

"""The collector while one text is parsed or printed: off, and afterwards as it was."""

from __future__ import annotations

import ast
import gc
import threading

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.runtime.collector import collector_paused
from relaxscript.script import from_source

TEXT = """
@R.function
def f(x: R.Tensor((2,), "float32")):
    return R.exp(x)
"""


def test_it_is_off_inside_and_runs_again_after():
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_runs_again_after_a_mistake_and_after_an_interrupt():
    with pytest.raises(DiagnosticError, match="`y` is not defined"):
        from_source(TEXT.replace("exp(x)", "exp(y)"))
    assert gc.isenabled()
    with pytest.raises(KeyboardInterrupt), collector_paused():
        raise KeyboardInterrupt
    assert gc.isenabled()


def test_where_a_program_has_switched_it_off_it_stays_off():
    gc.disable()
    try:
        from_source(TEXT).script()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_it_runs_while_a_text_of_python_is_executed():
    seen = []
    before = "import gc\nseen.append(gc.isenabled())\n"
    from_source(before + TEXT, mode="python", extra_vars={"seen": seen})
    assert seen == [True]


@pytest.mark.parametrize("first_ends_first", [True, False])
def test_threads_that_pause_it_at_once_leave_it_on(first_ends_first):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with collector_paused():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with collector_paused():
        assert not gc.isenabled()
        if first_ends_first:
            leave.set()
            thread.join()
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_what_a_program_froze_stays_frozen_and_nothing_else_is():
    frozen = gc.get_freeze_count()
    from_source(TEXT).script()
    assert gc.get_freeze_count() == frozen


MODULE = """
@I.ir_module
class Digits:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.exp(x)
"""


def test_the_syntax_of_a_script_ends_with_its_parsing():
    with collector_paused():
        before = _syntax_of_functions()
        from_source(MODULE)
        from_source(from_source(MODULE).script())
        assert _syntax_of_functions() == before


def _syntax_of_functions() -> int:
    return sum(isinstance(held, ast.FunctionDef) for held in gc.get_objects())

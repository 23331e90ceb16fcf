"""Strictness: what a block of Python and the environment say, and who obeys."""

from __future__ import annotations

import asyncio
import threading

import pytest

import relaxscript
from relaxscript.errors import DiagnosticError, RelaxWarning, config, is_strict
from relaxscript.ir import hooks
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op import namespace
from relaxscript.script import from_source, relax as R
from relaxscript.script.ir import ir_module

UNDECIDED = """
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    z = R.add(x, y)
    return z
"""
SAYING = "`n` and `m` must be equal"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELAXSCRIPT_STRICT", raising=False)


def decorated_function():
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
        z = R.add(x, y)
        return z

    return main


def decorated_module():
    @ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
            z = R.add(x, y)
            return z

    return Module


def text():
    return from_source(UNDECIDED)


def built():
    builder = relaxscript.BlockBuilder()
    x, y = (Var(name, TensorStructInfo((size,), "float32")) for name, size in ("xn", "ym"))
    with builder.function("main", [x, y]):
        builder.emit_func_output(builder.emit(namespace.add(x, y)))
    return builder.finalize()


every_entry = pytest.mark.parametrize("entry", [decorated_function, decorated_module, text, built])


@every_entry
def test_a_block_of_python_makes_errors_of_what_is_undecided(entry):
    with config(strict=True), pytest.raises(DiagnosticError, match="must be equal") as caught:
        entry()
    assert [(d.code, d.severity) for d in caught.value.diagnostics] == [("RX0207", "error")]
    with pytest.warns(RelaxWarning, match="must be equal"):
        assert entry() is not None


@every_entry
def test_the_environment_makes_errors_of_what_is_undecided(entry, monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_STRICT", "1")
    with pytest.raises(DiagnosticError, match="must be equal"):
        entry()


def test_the_innermost_block_answers_before_outer_ones_and_the_environment(monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_STRICT", "1")
    assert is_strict()
    with config(strict=False):
        assert not is_strict()
        with config(strict=True):
            assert is_strict()
            with config():
                assert is_strict()
        assert not is_strict()
    assert is_strict()


@pytest.mark.parametrize(("value", "strict"), [("", False), ("0", False), ("1", True)])
def test_the_environment_says_1_or_0(value, strict, monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_STRICT", value)
    assert is_strict() is strict


def test_what_a_call_says_itself_goes_before():
    with config(strict=True), pytest.warns(RelaxWarning, match=SAYING):
        from_source(UNDECIDED, strict=False)
    with config(strict=False), pytest.raises(DiagnosticError, match=SAYING):
        from_source(UNDECIDED, strict=True)


def test_a_block_is_left_when_something_is_raised_in_it():
    with pytest.raises(KeyError), config(strict=True):
        raise KeyError
    assert not is_strict()


def test_other_threads_are_as_they_were():
    answers = []
    inside = threading.Event()
    thread = threading.Thread(target=lambda: answers.append(inside.wait(60) and is_strict()))
    thread.start()
    with config(strict=True):
        inside.set()
        thread.join()
    assert answers == [False]


def test_other_tasks_are_as_they_were():
    async def strictly(inside: asyncio.Event, seen: asyncio.Event) -> bool:
        with config(strict=True):
            inside.set()
            await seen.wait()
            return is_strict()

    async def other(inside: asyncio.Event, seen: asyncio.Event) -> bool:
        await inside.wait()
        answer = is_strict()
        seen.set()
        return answer

    async def both():
        inside, seen = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(strictly(inside, seen), other(inside, seen))

    assert asyncio.run(both()) == [True, False]


def test_a_setting_that_is_neither_true_nor_false_is_refused_at_once():
    with pytest.raises(DiagnosticError, match="`strict` is True or False, not 'yes'") as caught:
        config(strict="yes")
    assert caught.value.diagnostics[0].span.filename == __file__


def test_a_builder_that_refuses_has_written_nothing():
    builder = relaxscript.BlockBuilder()
    x, y = (Var(name, TensorStructInfo((size,), "float32")) for name, size in ("xn", "ym"))
    with builder.function("main", [x, y]):
        with config(strict=True), pytest.raises(DiagnosticError, match="must be equal"):
            builder.emit(namespace.add(x, y))
        builder.emit_func_output(x)
    assert "add" not in builder.finalize().script()


def test_what_can_never_fit_is_warned_of_whatever_is_said():
    program = """
@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.match_cast(x, R.Tensor((3,), "float32"))
    return y
"""
    with config(strict=True), pytest.warns(RelaxWarning, match="can never succeed"):
        from_source(program)


def test_a_strict_mistake_hides_no_other():
    program = UNDECIDED.replace("return z", "return zz")
    with pytest.raises(DiagnosticError) as caught:
        from_source(program, strict=True)
    assert [d.code for d in caught.value.diagnostics] == ["RX0207", "RX0101"]


@pytest.mark.parametrize(
    ("outer", "inner", "refused"),
    [
        ("", "(strict=True)", True),
        ("(strict=True)", "", True),
        ("(strict=True)", "(strict=False)", False),
        ("", "", False),
    ],
)
def test_the_decorators_in_a_text_are_obeyed(outer, inner, refused):
    lines = UNDECIDED.replace("@R.function", f"@R.function{inner}").strip().splitlines()
    body = "\n".join(f"    {line}" for line in lines)
    program = f"@I.ir_module{outer}\nclass M:\n{body}\n"
    if refused:
        with pytest.raises(DiagnosticError, match=SAYING):
            from_source(program)
    else:
        with pytest.warns(RelaxWarning, match=SAYING):
            from_source(program)


def test_a_printed_program_is_read_again_without_being_refused():
    with pytest.warns(RelaxWarning, match=SAYING):
        function = from_source(UNDECIDED)
    with config(strict=True):
        assert relaxscript.structural_equal(hooks.parsed(function.script()), function)


def test_those_who_place_blame_themselves_are_told_and_not_refused():
    builder = relaxscript.BlockBuilder()
    x, y = (Var(name, TensorStructInfo((size,), "float32")) for name, size in ("xn", "ym"))
    with builder.function("main", [x, y]), config(strict=True):
        builder.emit(x)
        builder.bind(namespace.add(x, y))
        [deferred] = builder.deferred_checks
        assert deferred.text.startswith(SAYING)
        builder.emit_func_output(x)

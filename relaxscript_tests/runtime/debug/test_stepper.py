"""Runs step by step: places, values by their names, breakpoints, failures, and no other result."""

from __future__ import annotations

import builtins
import doctest

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies

import relaxscript as rx
from relaxscript.errors import VMError
from relaxscript.runtime import (
    Closure,
    PackedFunc,
    TensorCheck,
    VMInstrumentReturnKind,
    register_func,
)
from relaxscript.runtime.machine import VirtualMachine
from relaxscript.testing.compare import assert_allclose_tree, outcome
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import modules
from relaxscript_tests import examples
from relaxscript_tests.runtime.programs import adder, calling, checked, line, machine

# Lines of this text stand in the tests: the first function begins in line 3.
TEXT = """\
@I.ir_module
class Model:
    @R.function
    def double(a: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        b = R.add(a, a)
        return b

    @R.function
    def main(
        x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")
    ) -> R.Tensor(("n",), "float32"):
        cls = Model
        k = R.const(1.0, "float32")
        y = R.add(x, k)
        if c:
            t = R.multiply(y, y)
            z = R.add(t, t)
        else:
            z = R.negative(y)
        w = cls.double(z)

        @R.function
        def inner(q: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
            r = R.subtract(q, R.sum(w))
            return r

        p = inner(y)
        return p

    @R.function
    def fact(i: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Model
        if R.less(i, R.const(2, "int64")):
            f = R.const(1, "int64")
        else:
            j = R.subtract(i, R.const(1, "int64"))
            g = cls.fact(j)
            f = R.multiply(i, g)
        return f

    @R.function
    def fails(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        y = R.add(x, x)
        z = R.call_pure_packed("test.broken", y, sinfo_args=R.Tensor(("n",), "float32"))
        return z

    @R.function
    def outer(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        cls = Model
        u = cls.fails(x)
        return u
"""

X = np.array([1.0, 2.0, 3.0], "float32")
X4 = np.ones(4, "float32")
YES, NO = np.array(True), np.array(False)


@pytest.fixture
def vm():
    return rx.jit(rx.from_source(TEXT, filename="model.py"), target="reference")


def lines_of(stepper):
    """The lines at which a stepper stands until it has finished, repeated ones left out."""
    found = []
    while not stepper.finished:
        if stepper.location.line not in found[-1:]:
            found.append(stepper.location.line)
        stepper.step()
    return found


class TestSteps:
    def test_every_instruction_is_a_step_and_the_result_is_that_of_a_call(self, vm):
        stepper = vm.step("main", X, YES)
        assert lines_of(stepper)[:6] == [14, 15, 16, 17, 15, 20]
        assert stepper.finished
        np.testing.assert_array_equal(stepper.result, vm.main(X, YES))
        assert (stepper.location, stepper.frames) == (None, ())
        assert (stepper.registers, stepper.shapes) == ({}, {})
        assert repr(stepper) == "<stepper: finished with a tensor of shape (3,) and dtype float32>"

    def test_the_other_branch_is_taken(self, vm):
        stepper = vm.step("main", X, c=NO)
        assert 19 in (lines := lines_of(stepper))
        assert 16 not in lines
        np.testing.assert_array_equal(stepper.result, vm.main(X, NO))

    def test_a_place_is_a_line_of_the_source_and_an_instruction_in_its_words(self, vm):
        stepper = vm.step("main", X, YES)
        place = stepper.location
        assert str(place) == "`main` at model.py:14: y = relax.add(x, k)"
        assert place.span.text == "R.add(x, k)"
        assert repr(stepper) == f"<stepper: before {place}>"
        assert repr(stepper.frames[-1]) == f"<{place}>"

    def test_values_stand_under_the_names_of_the_source(self, vm):
        stepper = vm.step("main", X, YES)
        assert list(stepper.registers) == ["x", "c", "k"]
        assert stepper.registers["x"] is X
        assert stepper.registers["k"] == 1
        stepper.step()
        assert stepper.registers["y"].tolist() == [2, 3, 4]
        assert stepper.shapes == {"n": 3}

    def test_variables_of_a_branch_are_gone_after_it(self, vm):
        stepper = vm.step("main", X, YES).break_at("z")
        stepper.run()
        assert "t" in stepper.registers
        stepper.run()
        assert stepper.location.line == 20
        assert "t" not in stepper.registers
        assert stepper.registers["z"].tolist() == [8, 18, 32]

    def test_a_variable_whose_register_is_taken_is_gone(self, vm):
        stepper = vm.step("main", X, YES).break_at("p").run()
        assert "z" not in stepper.registers
        assert {"x", "y", "w", "p"} <= set(stepper.registers)

    def test_functions_and_closures_are_values(self, vm):
        stepper = vm.step("main", X, YES).break_at(27).run()
        inner = stepper.registers["inner"]
        assert isinstance(inner, Closure)
        assert inner(X).shape == (3,)

    def test_values_of_every_kind_are_shown(self):
        def main(ib):
            with ib.function("main", 0):
                kinds = {
                    "null": ib.void_arg(), "number": ib.imm(3), "late": ib.f("test.late"),
                    "copy": ib.f("vm.builtin.copy"), "linked": ib.f("linked"),
                    "self": ib.f("main"), "text": ib.convert_constant("words"),
                }  # fmt: skip
                ib.emit_call("test.see", list(kinds.values()), ib.r(0))
                for name, arg in kinds.items():
                    ib.variable(name, arg, 0, 2)
                ib.emit_ret(ib.r(0))

        stepper = machine(main, externals={"linked": len}).step("main")
        seen = stepper.registers
        assert (seen["null"], seen["number"], seen["late"]) == (None, 3, None)
        assert (seen["copy"]("x"), seen["linked"].function, seen["text"]) == ("x", len, "words")
        assert isinstance(seen["copy"], PackedFunc)
        assert seen["self"].name == "main"
        assert stepper.location.text == (
            "%0 = test.see(null, number, late, copy, linked, self, text)"
        )
        register_func("test.late", max)
        assert stepper.registers["late"].function is max

    def test_handwritten_bytecode_is_shown_by_its_registers(self):
        def main(ib):
            with ib.function("main", 1, ["x"]):
                args = [ib.vm_state(), ib.r(0), ib.imm(2), "c", None, ib.f("test.add")]
                ib.emit_call("test.see", args)
                ib.emit_if(ib.r(0), 2)
                ib.emit_goto(1)
                ib.emit_ret(ib.r(0))

        register_func("test.see", lambda *args: None)
        stepper = machine(main).step("main", True)
        texts = [stepper.location.text]
        while not stepper.step().finished:
            texts.append(stepper.location.text)
        assert texts == [
            "test.see(vm, x, 2, c[0], null, test.add)", "if x else goto 3", "goto 3", "return x",
        ]  # fmt: skip

    def test_a_loop_of_handwritten_bytecode_runs(self):
        def main(ib):
            with ib.function("main", 2, ["x", "step"]):
                ib.emit_call("test.less", [ib.r(0), ib.imm(10)], ib.r(2))
                ib.emit_if(ib.r(2), 3)
                ib.emit_call("test.add", [ib.r(0), ib.r(1)], ib.r(0))
                ib.emit_goto(-3)
                ib.emit_ret(ib.r(0))

        assert machine(main).step("main", np.array(1), np.array(4)).run().result == 13


class TestCalls:
    def test_step_enters_a_call_and_out_leaves_it(self, vm):
        stepper = vm.step("main", X, YES).break_at(20).run().step()
        assert [frame.location.function for frame in stepper.frames] == ["main", "double"]
        assert list(stepper.registers) == ["a"]
        assert stepper.frames[0].location.text == "w = double(z)"
        assert "z" in stepper.frames[0].registers
        stepper.out()
        assert len(stepper.frames) == 1
        assert stepper.registers["w"].tolist() == [16, 36, 64]

    def test_next_goes_over_a_call(self, vm):
        stepper = vm.step("main", X, YES).break_at(20).run().next()
        assert [frame.location.function for frame in stepper.frames] == ["main"]
        assert "w" in stepper.registers

    def test_next_and_out_stop_at_a_breakpoint_inside(self, vm):
        stepper = vm.step("main", X, YES).break_at(20).run().break_at("b").next()
        assert stepper.registers["b"].tolist() == [16, 36, 64]
        stepper = vm.step("fact", np.array(3)).break_at("i").run()
        assert len(stepper.out().frames) == 2

    def test_next_returns_from_a_call(self, vm):
        stepper = vm.step("main", X, YES).break_at("b").run()
        assert [frame.location.function for frame in stepper.next().frames] == ["main"]

    def test_out_of_the_first_call_is_the_end(self, vm):
        assert vm.step("main", X, YES).out().finished

    def test_a_closure_is_entered(self, vm):
        stepper = vm.step("main", X, YES).break_at("r").run()
        assert stepper.location.function == "main.inner"
        assert {"q", "w", "r"} <= set(stepper.registers)
        assert stepper.shapes["m"] == 3

    def test_a_closure_that_is_a_value_is_entered(self):
        vm = machine(adder)
        closure = vm.make(np.array(2))
        stepper = vm.step("apply", closure, np.array(1))
        assert stepper.step().location.function == "add"
        assert stepper.registers == {"x": 1, "y": 2}
        assert stepper.run().result == 3

    def test_a_function_value_of_python_is_called(self):
        vm = machine(adder)
        assert vm.step("apply", PackedFunc("p", np.sum), np.ones(3)).run().result == 3
        other = machine(adder).make(np.array(2))
        assert vm.step("apply", other, np.array(1)).step().registers["f"] is other

    def test_recursion_stops_at_every_depth(self, vm):
        stepper = vm.step("fact", np.array(5)).break_at("g")
        depths = []
        while not stepper.run().finished:
            depths.append((len(stepper.frames), int(stepper.registers["g"])))
        assert depths == [(4, 1), (3, 2), (2, 6), (1, 24)]
        assert stepper.result == 120

    def test_what_a_call_gives_is_checked_when_it_returns(self):
        def main(ib):
            with ib.function("main", 1):
                want = TensorCheck("float32", 1)
                ib.emit_call("other", [ib.r(0)], ib.r(1), result=want, span=line(3))
                ib.emit_ret(ib.r(1))

        def other(ib):
            with ib.function("other", 1):
                ib.emit_ret(ib.r(0), span=line(5))

        assert machine(main, other).step("main", X).step().step().location.text == "return %1"
        with pytest.raises(VMError, match="the result of `other`") as caught:
            machine(main, other).step("main", 3).run()
        assert caught.value.span == line(3)

    def test_an_instrument_watches_a_stepper_as_well(self):
        vm = machine(calling("test.add", 2))
        vm.set_instrument(lambda *args: VMInstrumentReturnKind.SKIP_RUN)
        assert vm.step("main", 1, 2).run().result is None


class TestBreakpoints:
    def test_a_run_stops_when_a_variable_has_its_value(self, vm):
        stepper = vm.step("main", X, YES).break_at("y").run()
        assert stepper.location.line == 15
        assert stepper.registers["y"].tolist() == [2, 3, 4]

    def test_a_run_stops_before_a_line(self, vm):
        stepper = vm.step("main", X, YES).break_at(17).run()
        assert (stepper.location.line, "t" in stepper.registers) == (17, True)
        assert "z" not in stepper.registers
        assert stepper.run().finished

    def test_a_line_with_a_branch_stops_once(self, vm):
        stepper = vm.step("main", X, YES).break_at(15).run()
        assert stepper.location.text.startswith("if c")
        assert stepper.run().finished

    def test_what_is_there_at_the_start_stops_the_first_run(self, vm):
        for where in ("x", "k", 14):
            stepper = vm.step("main", X, YES).break_at(where)
            assert stepper.run().location.line == 14
            assert stepper.run().finished

    def test_a_function_limits_a_breakpoint(self, vm):
        assert vm.step("outer", X).break_at("x", "fails").run().location.function == "fails"
        assert vm.step("main", X, YES).break_at("x", "fails").run().finished

    def test_breakpoints_are_listed_and_forgotten(self, vm):
        stepper = vm.step("main", X, YES).break_at("y").break_at(20)
        assert stepper.breakpoints == ("y", 20)
        assert stepper.clear("y").run().location.line == 20
        assert stepper.clear().breakpoints == ()
        with pytest.raises(VMError, match="there is no breakpoint at `y`") as caught:
            stepper.break_at(20).clear("y")
        assert caught.value.diagnostic.notes == ("breakpoints: line 20",)
        with pytest.raises(VMError, match="there is no breakpoint at line 3") as caught:
            stepper.clear().clear(3)
        assert caught.value.diagnostic.notes == ("breakpoints: none",)

    @pytest.mark.parametrize(
        ("where", "function", "message", "note"),
        [
            ("inne", None, "the program has no variable `inne`", "did you mean `inner`?"),
            ("zz9plural", None, "the program has no variable `zz9plural`", None),
            ("t", "double", "`double` has no variable `t`", "variables: a, b"),
            (18, None, "no instruction of the program comes from line 18",
             "the nearest line with one is 17"),
            (99, "double", "no instruction of `double` comes from line 99",
             "the nearest line with one is 6"),
            ("y", "dubble", "there is no function `dubble`", "did you mean `double`?"),
        ],
    )  # fmt: skip
    def test_what_is_not_there_is_said_with_what_is_near(self, vm, where, function, message, note):
        stepper = vm.step("main", X, YES)
        with pytest.raises(VMError) as caught:
            stepper.break_at(where, function)
        assert (caught.value.diagnostic.message, caught.value.code) == (message, "RX0607")
        assert note is None or caught.value.diagnostic.notes[0] == note
        assert stepper.breakpoints == ()

    @pytest.mark.parametrize("where", [True, 1.5, None])
    def test_a_breakpoint_is_a_name_or_a_line(self, vm, where):
        with pytest.raises(VMError, match="the name of a variable or a line, got") as caught:
            vm.step("main", X, YES).break_at(where)
        assert caught.value.code == "RX0608"

    def test_a_program_without_source_has_no_lines(self):
        def main(ib):
            with ib.function("main", 1):
                ib.emit_ret(ib.r(0))

        with pytest.raises(VMError) as caught:
            machine(main).step("main", 1).break_at(2)
        assert "made without a source" in caught.value.diagnostic.notes[0]


class TestMistakes:
    def test_a_function_that_is_not_there(self, vm):
        with pytest.raises(VMError, match="there is no function `mian`"):
            vm.step("mian", X)

    def test_arguments_that_do_not_fit_are_refused_as_in_a_call(self, vm):
        said = [outcome(lambda: vm.main(X)), outcome(lambda: vm.step("main", X))]
        assert str(said[0]) == str(said[1])
        assert said[0].code == "RX0602"

    def test_a_saved_call_has_no_steps(self, vm):
        vm.save_function("double", "saved", X)
        with pytest.raises(VMError, match="`saved` is a call that was saved") as caught:
            vm.step("saved")
        assert caught.value.code == "RX0607"

    def test_there_is_no_result_before_the_end_and_no_step_after_it(self, vm):
        stepper = vm.step("double", X)
        with pytest.raises(VMError, match="there is no result: the call has not ended yet"):
            stepper.result
        stepper.run()
        for go in (stepper.step, stepper.next, stepper.out, stepper.run):
            with pytest.raises(VMError, match="there is no next step: the call has returned"):
                go()

    def test_a_failure_is_that_of_a_call_and_shows_where_it_was(self, vm):
        register_func("test.broken", lambda x: 1 / 0)
        stepper = vm.step("outer", X)
        said = [outcome(lambda: vm.outer(X)), outcome(stepper.run)]
        assert str(said[0]) == str(said[1])
        assert isinstance(said[1].__cause__, ZeroDivisionError)
        assert stepper.location.line == said[1].span.line == 44
        assert stepper.registers["y"].tolist() == [2, 4, 6]
        assert [frame.location.function for frame in stepper.frames] == ["outer", "fails"]
        assert repr(stepper).startswith("<stepper: failed in `fails` at model.py:44")
        with pytest.raises(VMError, match="there is no result: the call failed"):
            stepper.result
        with pytest.raises(VMError, match="there is no next step: the call failed"):
            stepper.run()

    def test_calls_nest_as_deep_as_in_a_call(self, vm):
        vm.call_depth_limit = 3
        stepper = vm.step("fact", np.array(9))
        said = [outcome(lambda: vm.fact(np.array(9))), outcome(stepper.run)]
        assert str(said[0]) == str(said[1])
        assert said[0].code == "RX0609"
        assert len(stepper.frames) == 4

    def test_a_result_that_does_not_fit_is_refused_as_in_a_call(self):
        register_func("test.result", lambda w: w)
        vm = machine(checked)
        args = np.ones((2, 4), "float32"), np.ones(4, "float32")
        said = [outcome(lambda: vm.main(*args)), outcome(lambda: vm.step("main", *args).run())]
        assert str(said[0]) == str(said[1])
        assert "the result of `main`" in said[0].diagnostic.message

    def test_a_destination_that_is_not_written_is_refused_as_in_a_call(self):
        register_func("test.forgets", lambda x, out: x + 1)

        def main(ib):
            with ib.function("main", 2):
                ib.emit_call("test.forgets", [ib.r(0), ib.r(1)])
                ib.emit_ret(ib.r(1))

        stepper = machine(main).step("main", np.ones(2), np.zeros(2))
        with pytest.raises(VMError, match=r"`test\.forgets` returned its result"):
            stepper.run()

    def test_an_interrupted_step_can_be_taken_again(self):
        calls = []

        def interrupted(x):
            calls.append(x)
            if len(calls) == 1:
                raise KeyboardInterrupt
            return x

        register_func("test.slow", interrupted)
        stepper = machine(calling("test.slow")).step("main", 5)
        with pytest.raises(KeyboardInterrupt):
            stepper.run()
        assert stepper.run().result == 5
        assert len(calls) == 2


class TestAgreement:
    def test_the_example_of_the_documentation_runs(self, monkeypatch):
        monkeypatch.setattr(builtins, "_", None, raising=False)  # where doctest puts what it showed
        text = "\n".join([
            "@I.ir_module", "class Model:", "    @R.function",
            '    def main(x: R.Tensor(("n",), "float32")):', "        # twice, and what is above 0",
            "        h = R.add(x, x)", "        y = R.nn.relu(h)", "        return y",
        ])  # fmt: skip
        vm = rx.jit(rx.from_source(text, filename="model.py"), target="reference")
        example = doctest.DocTestParser().get_doctest(
            VirtualMachine.step.__doc__, {"vm": vm, "np": np}, "step", None, 0
        )
        said = []
        failed, tried = doctest.DocTestRunner().run(example, out=said.append)
        assert (failed, tried) == (0, 5), "".join(said)

    @pytest.mark.slow
    @settings(max_examples=examples(300), phases=(Phase.explicit, Phase.reuse, Phase.generate))
    @given(modules(), strategies.integers(0, 10))
    def test_steps_come_to_what_a_call_comes_to(self, mod, seed):
        vm = rx.jit(mod, target="reference")
        inputs = [inputs_for(mod["main"], seed) for _ in "12"]
        called = outcome(lambda: vm.main(*inputs[0]))
        stepper = outcome(lambda: vm.step("main", *inputs[1]))
        stepped = stepper if isinstance(stepper, VMError) else outcome(lambda: walked(stepper))
        if isinstance(called, VMError):
            assert str(called) == str(stepped)
        else:
            assert_allclose_tree(stepped, called)


def walked(stepper):
    """The result of a run whose state is looked at before each step."""
    while not stepper.finished:
        assert stepper.location.text
        assert set(stepper.registers) is not None
        stepper.step()
    return stepper.result

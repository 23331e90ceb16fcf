"""Functions and modules that are called with arrays run at once, as operators do."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError, RelaxWarning, VMError
from relaxscript.ir import structural_equal
from relaxscript.ir.relax import Call
from relaxscript.script import ir as I, relax as R, tir as T


@R.function
def alone(x: R.Tensor(("n",), "float32")):
    return R.nn.relu(x)


@T.prim_func
def doubled(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)


@T.prim_func
def tripled(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(3)


@I.ir_module
class Model:
    scaled = doubled

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Model
        return R.call_tir(cls.scaled, (x,), out_sinfo=R.Tensor((4,), "float32"))

    @R.function(private=True)
    def hidden(x: R.Tensor((4,), "float32")):
        return x


X = np.array([-1, 0, 1, 2], "float32")


def test_a_function_alone_runs():
    assert alone(X).tolist() == [0, 0, 1, 2]
    assert alone(x=X[:3]).tolist() == [0, 0, 1]
    assert rx.jit(alone)(X).tolist() == [0, 0, 1, 2]


def test_a_prim_func_alone_runs():
    for function in (doubled, rx.jit(doubled)):
        y = np.zeros(4, "float32")
        function(X, y)
        assert y.tolist() == [-2, 0, 2, 4]


def test_lists_of_numbers_are_told_that_they_are_no_arrays():
    for given in ([-1, 0, 1], [[1.0, 2.0]]):
        with pytest.raises(VMError, match=r"`x` is a list of .; must be a tensor of shape"):
            alone(given)


def test_what_a_kernel_refuses_is_shown_by_the_frames_of_the_user_alone():
    with pytest.raises(VMError, match="has dtype float64, not float32") as info:
        doubled(X, X.astype("float64"))
    frames = [line for line in info.value._render_traceback_() if line.startswith("  File")]
    assert len(frames) == 1
    assert __file__ in frames[0]


def test_members_of_a_module_run():
    assert Model.main(X).tolist() == [-2, 0, 2, 4]
    y = np.zeros(4, "float32")
    Model.scaled(X, y)
    assert y.tolist() == [-2, 0, 2, 4]
    with pytest.raises(VMError, match="`hidden` is private"):
        Model.hidden(X)


def test_a_member_runs_in_the_module_that_it_was_taken_from():
    other = Model.clone()
    other["scaled"] = tripled
    one, two = Model.main, other.main
    assert (one(X)[3], two(X)[3]) == (4, 6)
    assert other["main"] is Model["main"]


def test_a_module_that_changes_is_compiled_again_and_only_then(monkeypatch):
    from relaxscript import compiler

    built = []
    build = compiler.build
    monkeypatch.setattr(compiler, "build", lambda mod: built.append(mod) or build(mod))
    mod = Model.clone()
    assert (mod.main(X)[3], mod.main(X)[3]) == (4, 4)
    mod.update_func("scaled", tripled)
    assert (mod.main(X)[3], len(built)) == (6, 2)
    y = np.zeros(4, "float32")
    mod.scaled(X, y)
    assert y[3] == 6


def test_a_function_taken_by_its_name_says_how_it_runs_with_the_others():
    with pytest.raises(
        DiagnosticError, match="uses others of its module runs in it only"
    ) as caught:
        Model["main"](X)
    assert caught.value.diagnostics[0].help == (
        "call it as an attribute of the module: `Model.main(x)`"
    )
    assert rx.jit(Model)(X).tolist() == [-2, 0, 2, 4]


def test_with_expressions_a_call_is_made():
    x = rx.Var("x", R.Tensor((4,), "float32"))
    for call in (Model.main(x), alone(rx.const(X)), alone()):
        assert isinstance(call, Call)
    with pytest.raises(TypeError, match="are not given by name"):
        alone(x=x)


def test_a_module_is_not_called_and_says_what_is():
    with pytest.raises(
        TypeError, match=r"a module is not called, .* write `Model\.main\(\.\.\.\)`"
    ):
        Model(X)


def test_what_was_compiled_is_not_copied_with_a_module():
    Model.main(X)
    for twin in (pickle.loads(pickle.dumps(Model)), copy.deepcopy(Model), copy.copy(Model)):
        assert structural_equal(twin, Model)
        assert twin.main(X).tolist() == [-2, 0, 2, 4]


def test_arguments_that_do_not_fit_are_told_as_ever():
    with pytest.raises(VMError, match="must be 4"):
        Model.main(X[:3])


def test_members_are_offered_at_the_prompt():
    assert {"main", "scaled", "hidden"} <= set(dir(Model))


def test_a_prim_func_that_only_others_call_is_told_by_the_machine():
    with pytest.raises(VMError, match="there is no function `scaled`") as caught:
        rx.jit(Model)["scaled"]
    assert caught.value.diagnostic.notes[-1] == (
        "`scaled` is called by other functions only; `Model.scaled(...)` runs it"
    )


@I.ir_module
class Hiding:
    @R.function
    def step(x: R.Tensor((4,), "float32")):
        return x

    @R.function
    def devices(x: R.Tensor((4,), "float32")):
        return x


def test_functions_that_are_hidden_by_the_machine_are_warned_of():
    with pytest.warns(RelaxWarning) as caught:
        machine = rx.jit(Hiding)
    found = [warning.message.diagnostic for warning in caught]
    assert [(d.code, d.message, d.help) for d in found] == [
        (
            "RX0607", "`vm.step` is a method of the machine, not the function `step`",
            'write `vm["step"]`',
        ),
        (
            "RX0607", "`vm.devices` is an attribute of the machine, not the function `devices`",
            'write `vm["devices"]`',
        ),
    ]  # fmt: skip
    assert machine["step"](X).tolist() == X.tolist()
    with pytest.raises(VMError, match="is called where it has one function, and this has 2"):
        machine(X)


def test_a_machine_takes_what_was_built():
    with pytest.raises(VMError, match="runs an Executable, got") as caught:
        rx.VirtualMachine(Model)
    assert "jit(...)" in caught.value.diagnostic.notes[0]


def test_a_machine_is_saved_as_its_program_and_a_module_once_it_is_built(tmp_path):
    rx.save(rx.jit(Model), tmp_path / "a.rx")
    assert rx.VirtualMachine(rx.load(tmp_path / "a.rx"))(X).tolist() == [-2, 0, 2, 4]
    with pytest.raises(DiagnosticError, match="a program is saved when it is built") as caught:
        rx.save(Model, tmp_path / "b.rx")
    assert caught.value.diagnostics[0].help == "write `rx.save(rx.build(...), path)`"

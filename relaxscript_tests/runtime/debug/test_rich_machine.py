"""Machines and closures in notebooks: what can be called, and with what."""

from __future__ import annotations

import numpy as np

import relaxscript as rx
from relaxscript.runtime import ExecBuilder
from relaxscript_tests.markup import Markup

SCRIPT = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        n = T.int64()
        with R.dataflow():
            y = R.nn.relu(x)
            R.output(y)
        return y

    @R.function
    def adder(y: R.Tensor((3,), "float32")) -> R.Callable(
        (R.Tensor((3,), "float32"),), R.Tensor((3,), "float32")
    ):
        @R.function
        def inner(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            s = R.add(x, y)
            return s

        return inner
"""
INNER = """\
closure adder.inner
adder.inner(x) -> R.Tensor((3,), "float32")  # bytecode
    x: R.Tensor((3,), "float32")
    captured: a tensor of shape (3,) and dtype float32
"""


def text(value):
    return Markup(value._repr_html_()).text


def test_a_machine_shows_its_functions_with_their_parameters_and_how_they_run():
    lines = text(rx.jit(rx.from_source(SCRIPT))).splitlines()
    assert lines[:3] == [
        "VirtualMachine of main, adder · cpu:0",
        'main(x) -> R.Tensor((n, 3), "float32")  # native code',
        '    x: R.Tensor((n, 3), "float32")',
    ]
    assert lines[3].startswith("adder(y) -> R.Callable(")
    assert lines[3].endswith("  # bytecode")


def test_a_machine_shows_its_devices_and_its_memory_and_saved_functions():
    built = rx.build(rx.from_source(SCRIPT))
    machine = rx.VirtualMachine(built, [rx.cpu(1)], memory_cfg="naive")
    machine.save_function("main", "kept", np.ones((2, 3), "float32"))
    first, *_, last = text(machine).splitlines()
    assert first == "VirtualMachine of main, adder, kept · cpu:1, cpu:0 · naive memory"
    assert last == "kept()  # saved"


def test_a_closure_shows_what_it_captured():
    machine = rx.jit(rx.from_source(SCRIPT))
    assert text(machine.adder(np.ones(3, "float32"))).rstrip() == INNER.rstrip()


def test_a_function_of_native_code_says_so():
    closure = rx.jit(rx.from_source(SCRIPT)).main.__self__
    assert text(closure).startswith(
        'closure main\nmain(x) -> R.Tensor((n, 3), "float32")  # native code'
    )


def test_a_program_without_annotations_shows_names_of_parameters():
    builder = ExecBuilder()
    with builder.function("main", 2, param_names=["x", "y"]):
        builder.emit_ret(builder.r(0))
    assert "main(x, y)  # bytecode\n    x\n    y\n" in text(rx.VirtualMachine(builder.get()))
    assert text(rx.VirtualMachine(ExecBuilder().get())).startswith(
        "VirtualMachine of no public function"
    )


def test_many_parameters_are_folded():
    builder = ExecBuilder()
    with builder.function("main", 100):
        builder.emit_ret(builder.r(0))
    assert Markup(rx.VirtualMachine(builder.get())._repr_html_()).folds == [False]

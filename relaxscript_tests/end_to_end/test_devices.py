"""Programs on several devices: where their values are, and what is said of those elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import VMError
from relaxscript.ir.module import IRModule
from relaxscript.runtime import register_func, remove_global_func
from relaxscript.runtime.values import DeviceTensor, cpu, to_device
from relaxscript.script import from_source, ir as I, relax as R
from relaxscript.testing import rejected
from relaxscript.testing.compare import EXECUTORS

HEAD = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})

    @T.prim_func
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + x[i]

    @R.function(pure=False)
    def main"""
ON0 = 'R.Tensor((4,), "float32", "llvm:0")'
ON1 = 'R.Tensor((4,), "float32", "llvm:1")'
X = np.arange(4, dtype="float32")

Load = Callable[[IRModule], Callable[..., Any]]
on_all_executors = pytest.mark.parametrize("load", EXECUTORS.values(), ids=EXECUTORS)


def loaded(load: Load, program: str) -> Callable[..., Any]:
    run = load(from_source(HEAD + program))
    return lambda *args: run("main", *args)


def refused(run: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(VMError) as caught:
        run(*args)
    return caught.value.diagnostic.message


@pytest.fixture(autouse=True)
def packed():
    register_func("tests.same", lambda x: x)
    yield
    remove_global_func("tests.same")


@on_all_executors
def test_a_value_that_was_moved_is_on_the_other_device(load: Load) -> None:
    run = loaded(
        load,
        f'(x: {ON0}):\n        y = R.to_vdevice(x, "llvm:1")\n        z = R.add(y, y)\n'
        '        w = R.to_vdevice((z, (x,)), "llvm:0")\n        return (z, w)\n',
    )
    moved, (back, (same,)) = run(X)
    assert isinstance(moved, DeviceTensor)
    assert moved.device == cpu(1)
    assert moved.numpy().tolist() == back.tolist() == [0, 2, 4, 6]
    assert isinstance(same, np.ndarray)


@on_all_executors
def test_prim_funcs_run_where_their_tensors_are(load: Load) -> None:
    run = loaded(
        load,
        f'(x: {ON0}):\n        y = R.to_vdevice(x, "llvm:1")\n'
        f"        z = R.call_tir(M.double, (y,), out_sinfo={ON1})\n        return z\n",
    )
    assert run(X).device == cpu(1)
    assert run(X).numpy().tolist() == [0, 2, 4, 6]


@on_all_executors
def test_an_argument_on_another_device_than_its_parameter(load: Load) -> None:
    run = loaded(load, f"(x: {ON0}, y: {ON1}):\n        return (x, y)\n")
    said = "`{0}` is on {2}; must be on {1}"
    assert refused(run, X, X) == said.format("y", "cpu:1", "cpu:0")
    there = to_device(X, cpu(1))
    assert refused(run, there, there) == said.format("x", "cpu:0", "cpu:1")


@on_all_executors
def test_a_cast_of_a_value_on_another_device(load: Load) -> None:
    run = loaded(load, f"(x: R.Object):\n        y = R.match_cast(x, {ON1})\n        return y\n")
    assert refused(run, X) == "`x` is on cpu:0; must be on cpu:1"
    assert run(to_device(X, cpu(1))).device == cpu(1)


@on_all_executors
def test_a_packed_function_that_gives_a_value_on_another_device(load: Load) -> None:
    run = loaded(
        load,
        f'(x: {ON0}):\n        y = R.call_packed("tests.same", x, sinfo_args={ON1})\n'
        "        return y\n",
    )
    said = "the result of `tests.same` is on cpu:0; must be on cpu:1"
    assert refused(run, X) == said


@pytest.mark.parametrize("target", ["reference", "llvm"])
@pytest.mark.parametrize("pipeline", ["default", "default_build"])
def test_operands_that_a_program_does_not_move_are_where_they_are_needed(
    target: str, pipeline: str
) -> None:
    mod = from_source(
        f"{HEAD}(x: {ON1}):\n"
        '        y = R.add(x, R.const([1, 1, 1, 1], "float32"))\n'
        '        z = R.multiply(y, R.full((4,), R.const(2, "float32")))\n'
        "        w = R.call_tir(M.double, (z,), "
        'out_sinfo=R.Tensor((4,), "float32"))\n        return w\n'
    )
    vm = rx.VirtualMachine(rx.build(mod, target, relax_pipeline=pipeline))
    made = vm["main"](to_device(X, cpu(1)))
    assert made.device == cpu(1)
    assert made.numpy().tolist() == [4, 8, 12, 16]


@pytest.mark.parametrize("pipeline", ["default", "default_build"])
def test_parameters_that_are_bound_are_copied_to_their_devices(pipeline: str) -> None:
    mod = from_source(
        f"{HEAD}(x: {ON1}, w: {ON1}, v: {ON0}):\n        y = R.add(x, w)\n        return (y, v)\n"
    )
    executable = rx.build(mod, params={"w": X, "v": X}, relax_pipeline=pipeline)
    y, v = rx.VirtualMachine(executable)["main"](to_device(X, cpu(1)))
    assert (y.device, y.numpy().tolist()) == (cpu(1), [0, 2, 4, 6])
    assert v.tolist() == X.tolist()


@on_all_executors
def test_kernels_of_modules_without_devices_run_on_the_host(load: Load) -> None:
    program = HEAD[: HEAD.index("    I.module")] + HEAD[HEAD.index("    @T.prim") :]
    f4 = 'R.Tensor((4,), "float32")'
    run = load(
        from_source(
            f"{program}(x: {f4}):\n        return R.call_tir(M.double, (x,), out_sinfo={f4})\n"
        )
    )
    assert "cpu:1" in refused(run, "main", to_device(X, cpu(1)))


@rejected
def test_a_kind_of_device_that_is_not_there():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda")]})

        @R.function
        def main(x: R.Tensor((4,), "float32", "llvm:0")):
            y = R.to_vdevice(x, "cuda:0")
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0703 there is no device of kind "cuda"
            #                             help: there are cpu, llvm
            return y

    rx.build(Module)


def test_a_device_that_is_listed_and_not_used_need_not_be_there() -> None:
    text = HEAD.replace('I.vdevice("llvm", 1)', 'I.vdevice("cuda")')
    mod = from_source(f"{text}(x: {ON0}):\n        return R.add(x, x)\n")
    assert rx.jit(mod).main(X).tolist() == [0, 2, 4, 6]

"""`build` and `jit`: what they take, what they refuse, and what they link."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest

import relaxscript.op as op
from relaxscript import compiler
from relaxscript.compiler import VirtualMachine, build, jit
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.ir.module import IRModule, Target
from relaxscript.ir.relax import Call, Constant, Function, GlobalVar, If, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.runtime import Device
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.transform import Normalize, get_pipeline

ONE = """
@R.function
def main(x: R.Tensor((2,), "float32")):
    return R.exp(x)
"""


@I.ir_module
class Model:
    @T.prim_func
    def double(a: T.Buffer(("n",), "float32"), b: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            b[i] = a[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Model
        y = R.call_tir(cls.double, (x,), R.Tensor((n,), "float32"))
        z = R.add(y, w)
        return z


X = np.array([1, 2], "float32")
W = np.array([10, 20], "float32")


@pytest.mark.parametrize(
    "target",
    [None, "llvm", "reference", "cpu", "llvm -opt-level=0", Target("llvm"), {"kind": "reference"}],
)
@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
def test_targets_and_modes(target, exec_mode):
    model = VirtualMachine(build(Model, target, exec_mode=exec_mode))
    np.testing.assert_array_equal(model.main(X, W), 2 * X + W)


def test_jit_builds_and_loads():
    model = jit(Model, device="cpu")
    assert model.devices == (Device("cpu", 0),)
    np.testing.assert_array_equal(model.main(X, W), 2 * X + W)
    np.testing.assert_array_equal(jit(Model, params={"w": W}).main(X), 2 * X + W)


def refused(match, *args, **options):
    with pytest.raises(DiagnosticError, match=match) as caught:
        build(*(args or (Model,)), **options)
    return caught.value.diagnostics[0]


def test_unknown_words_are_named_with_the_nearest():
    found = refused('there is no target "llmv"', target="llmv")
    assert (found.code, found.help) == ("RX0703", 'did you mean "llvm"?')
    assert refused('there is no target ""', target="").code == "RX0703"
    found = refused('no option of the target "opt-levl"', target="llvm -opt-levl=2")
    assert found.help == 'did you mean "opt-level"?'
    refused('there is no execution mode "byte"', exec_mode="byte")
    found = refused('there is no pipeline for relax_pipeline "defalt"', relax_pipeline="defalt")
    assert found.help == 'did you mean "default"?'
    found = refused("there is no parameter `v`", params={"v": W})
    assert (found.code, found.help) == ("RX0712", "there are `x`, `w`")


@pytest.mark.parametrize("option", ["check", "zero-memory"])
@pytest.mark.parametrize("value", ["0", "1"])
def test_a_target_says_whether_indices_are_checked_and_memory_is_zeroed(option, value):
    assert VirtualMachine(build(Model, f"llvm -{option}={value}")).main(X, W) is not None
    target = build(Model, {"kind": "llvm", option: value == "1"}).origin[1]
    assert target.attrs[option] is not None


@pytest.mark.parametrize("option", ["check", "zero-memory"])
def test_a_switch_of_the_target_is_0_or_1(option):
    found = refused(f'option "{option}" of the target is 0 or 1, not', target=f"llvm -{option}=no")
    assert (found.code, found.help) == ("RX0703", f'write "llvm -{option}=0"')


LEVELS = [4, -1, 1.5, True, "", "99", "x", pytest.param("9" * 5000, id="digits")]


@pytest.mark.parametrize("level", [*LEVELS, pytest.param(10**5000, id="huge")])
def test_a_level_that_there_is_not_is_refused_whether_or_not_there_is_code_to_make(level):
    @R.function
    def alone(x: R.Tensor((2,), "float32")):
        return R.add(x, x)

    target = {"kind": "llvm", "opt-level": level}
    for program in (Model, alone):
        found = refused('"opt-level" of the target is 0, 1, 2 or 3, not', program, target=target)
        assert (found.code, found.help) == ("RX0703", 'write "llvm -opt-level=2"')
        assert len(found.message) < 120


def test_a_switch_of_the_target_that_is_a_huge_number_is_not_written_out():
    refused("is 0 or 1, not a number of 16,610 bits", target={"kind": "llvm", "check": 10**5000})


def test_only_modules_and_functions_can_be_built():
    with pytest.raises(TypeError, match="takes an IRModule, a Relax function or a PrimFunc"):
        build("main")


def test_parameters_become_constants():
    executable = build(Model, params={"w": W})
    model = VirtualMachine(executable)
    np.testing.assert_array_equal(model.main(X), 2 * X + W)
    with pytest.raises(VMError, match=r"`x\.shape\[0\]` is 3; must be 2"):
        model.main(np.ones(3, "float32"))
    arrays = [c for c in executable.constants if isinstance(c, np.ndarray)]
    assert not arrays[0].flags.writeable


def test_an_array_that_is_no_argument_is_refused():
    found = refused(
        "the array for `w` does not fit: the rank is 2, not 1",
        params={"w": np.ones((2, 1), "float32")},
    )
    assert found.code == "RX0206"
    refused("does not fit: the dtype is float64, not float32", params={"w": W.astype("float64")})


@I.ir_module
class Public:
    @R.function
    def first(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")):
        y = R.add(x, w)
        return y

    @R.function
    def second(w: R.Tensor((2,), "float32"), x: R.Tensor((2,), "float32")):
        y = R.multiply(x, w)
        return y


def test_without_main_parameters_are_bound_in_all_public_functions():
    model = VirtualMachine(build(Public, params={"w": W}))
    np.testing.assert_array_equal(model.first(X), X + W)
    np.testing.assert_array_equal(model.second(X), X * W)


def test_a_pipeline_is_a_function_of_modules():
    seen = []

    def pipeline(mod):
        seen.append(mod)
        return get_pipeline("default")(mod)

    build(Model, relax_pipeline=pipeline, tir_pipeline=None)
    assert seen == [Model]


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_prim_func_alone_can_be_called(target):
    function = Model["double"]
    out = np.zeros(2, "float32")
    assert jit(function, target).double(X, out) is None
    np.testing.assert_array_equal(out, 2 * X)
    with pytest.raises(VMError, match="takes 2 arguments"):
        jit(function, target).double(X)
    with pytest.raises(VMError, match="float64"):
        jit(function, target).double(X.astype("float64"), out)


def test_a_function_made_by_hand_is_brought_into_normal_form():
    x = Var("x", TensorStructInfo(("n", 2), "float32"))
    function = Function([x], op.add(op.multiply(x, x), op.nn.relu(x)), None)
    value = np.array([[1, -2]], "float32")
    np.testing.assert_array_equal(jit(function).main(value), [[2, 4]])


def test_a_module_in_normal_form_stays_as_it_is():
    assert Normalize()(Model) is Model


def test_operands_that_do_not_go_together_are_an_error_of_the_build():
    x = Var("x", TensorStructInfo((2,), "float32"))
    y = Var("y", TensorStructInfo((3,), "float32"))
    refused("cannot take these operands", Function([x, y], Call(op.add.op, (x, y)), None))


def test_recursion_without_declared_result_is_an_error():
    x = Var("x", TensorStructInfo((2,), "float32"))
    function = Function([x], Call(GlobalVar("f"), (x,)), None, attrs={"global_symbol": "f"})
    found = refused("`f` is recursive and has no return annotation", IRModule({"f": function}))
    assert found.code == "RX0308"


def test_functions_without_declared_result_may_call_each_other_in_any_order():
    x = Var("x", TensorStructInfo((2,), "float32"))
    y = Var("y", TensorStructInfo((2,), "float32"))
    main = Function(
        [x], op.add(Call(GlobalVar("g"), (x,)), x), None, attrs={"global_symbol": "main"}
    )
    module = IRModule({"main": main, "g": Function([y], op.add(y, y), None)})
    np.testing.assert_array_equal(jit(module).main(X), 3 * X)


@pytest.mark.slow
def test_expressions_that_are_nested_too_deeply_are_an_error():
    x = Var("x", TensorStructInfo((2,), "float32"))
    condition = Constant(np.array(True))
    body = x
    for _ in range(5000):
        body = If(condition, body, x)
    refused("nested too deeply", Function([x], body, None))


def test_a_prim_func_that_has_no_meaning_is_an_error_of_the_build():
    @T.prim_func(check_well_formed=False)
    def wrong(a: T.Buffer((2,), "float32")):
        for i in T.thread_binding(2, thread="threadIdx.x"):
            a[i] = a[1 - i]

    assert refused("GPU", wrong).code == "RX0505"


PROGRAM = """
import sys
sys.modules["llvmlite"] = None
import numpy as np
import relaxscript as rx
mod = rx.from_source({source!r})
try:
    print(rx.jit(mod, {target!r}).main(np.ones(2, "float32")))
except rx.DiagnosticError as error:
    print(error.diagnostics[0].code, error)
"""

SOURCE = """
@I.ir_module
class M:
    @T.prim_func
    def f(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = M
        y = R.call_tir(cls.f, (x,), R.Tensor((2,), "float32"))
        return y
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "told"),
    [("reference", "[2. 2.]"), ("llvm", "RX0702 error[RX0702]: the target llvm needs llvmlite")],
)
def test_only_native_code_needs_llvmlite(target, told):
    program = PROGRAM.format(source=SOURCE, target=target)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(told)


def test_a_pipeline_gives_a_module():
    message = "the pipeline given as relax_pipeline gave NoneType, not an IRModule"
    with pytest.raises(DiagnosticError, match=message):
        build(Model, "reference", relax_pipeline=lambda mod: None)


def test_a_parameter_that_is_no_array_is_named():
    with pytest.raises(
        DiagnosticError, match=r"the value for `w` is no array: .* a list"
    ) as caught:
        build(Model, "reference", params={"w": [1.0]})
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span.text) == ("RX0206", "w")


def test_native_code_needs_llvmlite(monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    with pytest.raises(DiagnosticError, match="the target llvm needs llvmlite") as caught:
        build(Model, "llvm")
    assert caught.value.diagnostics[0].code == "RX0702"
    assert build(Model, "reference").has_function("main")


def test_the_collector_rests_while_our_pipelines_build_and_runs_in_those_of_users(monkeypatch):
    seen = []

    def lowered(mod, kernels):
        seen.append(gc.isenabled())
        return made(mod, kernels)

    made = compiler.codegen
    monkeypatch.setattr(compiler, "codegen", lowered)
    mod = from_source(ONE)
    build(mod)
    build(mod, relax_pipeline=get_pipeline("default"))
    assert (seen, gc.isenabled()) == ([False, True], True)


def test_the_collector_runs_again_after_a_build_that_fails(monkeypatch):
    def codegen(mod, kernels):
        raise VMError("stop", code="RX0601")

    monkeypatch.setattr(compiler, "codegen", codegen)
    with pytest.raises(VMError, match="stop"):
        build(from_source(ONE))
    assert gc.isenabled()

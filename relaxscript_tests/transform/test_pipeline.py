"""Pipelines by name, and what the lowering one makes of programs."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.backend import BACKENDS, Backend, register_backend
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import Target
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing.compare import assert_same
from relaxscript.transform import (
    DeadCodeElimination,
    Normalize,
    Sequential,
    get_default_pipeline,
    get_pipeline,
    module_pass,
    register_pipeline,
)
from relaxscript.transform.pipeline import (
    PIPELINE_MAP,
    dataflow_lower_passes,
    finalize_passes,
    legalize_passes,
    library_dispatch_passes,
)
from relaxscript_tests.end_to_end.executors import EXECUTORS, failure


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

        @R.function
        def plus(y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            return R.add(y, w)

        with R.dataflow():
            lv = R.call_tir(cls.double, (x,), R.Tensor((n,), "float32"))
            R.output(lv)
        return (plus(lv), R.shape([n * 2]))


X = np.array([1, 2], "float32")
W = np.array([10, 20], "float32")


def test_pipelines_have_names():
    assert get_pipeline().info.name == "zero"
    assert get_pipeline("default_build").info.name == "default_build"
    assert [step.info.name for step in get_pipeline("zero").passes] == [
        "Normalize", "LegalizeOps", "AnnotateTIROpPattern", "FoldConstant", "FuseOps", "FuseTIR",
    ]  # fmt: skip


def test_zero_leaves_prim_funcs_that_nothing_calls_after_folding():
    mod = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            c = R.exp(R.const([1.0, 2.0], "float32"))
            y = R.add(x, c)
            R.output(y)
        return y
""")
    zero = get_pipeline("zero")(mod)
    assert [var.name_hint for var in zero.functions] == ["main", "exp", "add"]
    assert [var.name_hint for var in DeadCodeElimination()(zero).functions] == ["main", "add"]


def test_an_unknown_name_is_an_error_that_offers_the_nearest():
    with pytest.raises(DiagnosticError, match="RX0703") as caught:
        get_pipeline("defalt_build")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == 'there is no pipeline "defalt_build"'
    assert diagnostic.help == 'did you mean "default_build"?'


def test_a_pipeline_is_registered_once():
    @register_pipeline("mine")
    def mine(title="mine"):
        return Sequential([Normalize(), get_pipeline("default")], name=title)

    try:
        assert get_pipeline("mine", title="other").info.name == "other"
        assert rx.build(Model, "reference", relax_pipeline="mine").has_function("main")
        with pytest.raises(DiagnosticError, match='the pipeline "mine" is there already'):
            register_pipeline("mine")(mine)
    finally:
        del PIPELINE_MAP["mine"]


def test_every_target_has_a_default_pipeline():
    for target in ("llvm -opt-level=0", "cpu -opt-level=0", Target("reference"), "another"):
        assert get_default_pipeline(target).info.name == "default"


def test_native_code_has_a_pipeline_of_its_own():
    import llvmlite.binding  # noqa: F401 -- without it operators run one by one

    for target in ("llvm -opt-level=2", Target("llvm"), "cpu"):
        assert get_default_pipeline(target).info.name == "llvm"


@pytest.mark.parametrize("target", ["llvm", "llvm -opt-level=0", "reference", "another"])
def test_the_default_pipeline_is_there_in_parts(target):
    parts = (library_dispatch_passes, legalize_passes, dataflow_lower_passes, finalize_passes)
    steps = [step for part in parts for step in part(target)]
    whole = get_default_pipeline(target).passes
    assert [step.info.name for step in steps] == [step.info.name for step in whole]


def test_passes_between_the_parts_see_loops_or_calls():
    seen = []

    @module_pass(opt_level=0)
    def look(mod, ctx):
        seen.append("R.add" in mod.script())
        return mod

    steps = [*legalize_passes("llvm"), look, *dataflow_lower_passes("llvm"), look]
    pipeline = Sequential([look, *steps, *finalize_passes("llvm")])
    machine = rx.VirtualMachine(rx.build(Model, "llvm", relax_pipeline=pipeline))
    np.testing.assert_array_equal(machine["main"](X, W)[0], X * 2 + W)
    assert seen == [True, False, False]


def test_a_registered_target_has_the_pipeline_that_is_registered_by_its_kind():
    def twice(a, b):
        b[...] = a * 2

    register_backend(Backend("toy", lambda functions, *_: dict.fromkeys(functions, twice)))
    try:
        assert get_default_pipeline("toy").info.name == "default"

        @register_pipeline("toy")
        def toy():
            return Sequential([Normalize(), get_pipeline("default")], name="toy")

        pipeline = get_default_pipeline("toy -level=1")
        assert pipeline.info.name == "toy"
        machine = rx.VirtualMachine(rx.build(Model, "toy", relax_pipeline=pipeline))
        np.testing.assert_array_equal(machine["main"](X, W)[0], X * 2 + W)
    finally:
        del BACKENDS["toy"]
        PIPELINE_MAP.pop("toy", None)


def test_a_pipeline_is_printed_with_what_its_passes_do():
    assert Sequential([Normalize(), get_pipeline("zero")], name="mine").script() == (
        "Sequential([\n"
        "    Normalize(),  # Bring every function into A-normal form: each operand a leaf, "
        "each binding typed.\n"
        "    zero(),       # Passes one after the other, as far as the current context has them "
        "enabled.\n"
        '], name="mine")'
    )
    names = [step.info.name for step in get_pipeline("default").passes]
    assert all(f"    {name}()," in get_pipeline("default").script() for name in names)


def test_a_pipeline_says_which_passes_it_runs():
    assert repr(get_pipeline("default")) == (
        "<pipeline default: Normalize, LowerToOneWorker, RealizeVDevice, ToNonDataflow, "
        "LambdaLift, RemovePurityChecking, CallTIRRewrite, VMShapeLower, LowerRuntimeBuiltin>"
    )
    assert str(Sequential([], name="none")) == "<pipeline none: no passes>"


def test_each_step_of_the_default_pipeline_can_be_looked_at():
    mod, scripts = Model, []
    for step in get_pipeline("default").passes:
        mod = step(mod)
        scripts.append(mod.script())
    assert "R.call_tir" not in scripts[-1]
    assert "vm.builtin.match_arguments" in scripts[-1]
    assert_same(from_source(scripts[-1]), mod)


def test_lowered_programs_show_what_the_machine_does():
    text = rx.build(Model, "reference", relax_pipeline="default_build").as_text()
    for builtin in ("make_shape", "alloc_storage", "alloc_tensor"):
        assert f"vm.builtin.{builtin}" in text
    assert "check %0                            is: a tensor of shape (n,)" in text
    assert "compute_symbolic_expr" not in text


@pytest.mark.parametrize("name", EXECUTORS)
def test_lowered_programs_give_the_same_values_and_messages(name):
    lowered = get_pipeline("default_build")(Model)
    (value, shape), (expected, _) = (EXECUTORS[name](m).main(X, W) for m in (lowered, Model))
    np.testing.assert_array_equal(value, expected)
    assert shape == (4,)
    first, second = (
        failure(lambda m=m: EXECUTORS[name](m).main(X, W[:1])) for m in (lowered, Model)
    )
    assert first.diagnostic.message == second.diagnostic.message
    assert first.span == second.span


def test_lowered_programs_are_saved_and_loaded(tmp_path):
    path = tmp_path / "model.rx"
    rx.save(rx.build(Model, relax_pipeline="default_build"), path)
    machine = rx.VirtualMachine(rx.load(path), rx.cpu())
    value, shape = machine["main"](X, W)
    np.testing.assert_array_equal(value, X * 2 + W)
    assert shape == (4,)

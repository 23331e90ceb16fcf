"""All that a program depends on, and what is not kept since only one process has it."""

from __future__ import annotations

import sys
import warnings
from functools import partial

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import opdef
from relaxscript.codegen.llvm import engine
from relaxscript.codegen.program_cache import program_key
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir import relax
from relaxscript.ir.instrument import PassInstrument
from relaxscript.op import exp
from relaxscript.transform import PassContext
from relaxscript.transform.pipeline import PIPELINE_MAP
from relaxscript_tests.codegen.program_cache.models import AT, TEXT, model, programs

# ---------------------------------------------------------------- what is another program

CHANGES = {
    "a constant": TEXT.replace("[2.0]", "[3.0]"),
    "an attribute": TEXT.replace("R.exp(x)", "R.clip(x, 0.0, 1.0)"),
    "the name of a variable": TEXT.replace("y = R.exp", "z = R.exp").replace("(y, at)", "(z, at)"),
    "the name of a function": TEXT.replace("pick", "pack"),
    "a column": TEXT.replace("y = R.exp(x) * ", "y = R.exp(x)  * "),
    "a line between two": TEXT.replace("        return", "\n        return"),
    "a dimension": TEXT.replace('x: R.Tensor(("n",)', 'x: R.Tensor(("n + 1",)').replace(
        'R.Tensor(("n + 1",)', 'R.Tensor((4,)'),
}  # fmt: skip


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_another_module_is_another_program(changed, cache, built):
    rx.build(model())
    rx.build(model(changed))
    assert (len(built), len(programs())) == (2, 2)


SETTINGS = {
    "a target": lambda mod: rx.build(mod, "llvm -check=0"),
    "a level": lambda mod: rx.build(mod, "llvm -opt-level=1"),
    "a pipeline": lambda mod: rx.build(mod, relax_pipeline="default_build"),
    "checks": lambda mod: rx.build(mod, remove_checks="unused"),
    "weights": lambda mod: rx.build(mod, params={"at": AT}),
}  # fmt: skip
CONTEXTS = {
    "a level of passes": partial(PassContext, opt_level=1),
    "a pass that is left out": partial(PassContext, disabled_pass=["FoldConstant"]),
    "a pass that is not": partial(PassContext, required_pass=["FoldConstant"]),
    "an option of passes": partial(PassContext, config={"relax.FuseOps.max_depth": 3}),
    "strictness": partial(rx.config, strict=True),
}  # fmt: skip


@pytest.mark.parametrize("build", SETTINGS.values(), ids=SETTINGS)
def test_other_settings_are_another_program(build, cache, built):
    rx.build(model())
    build(model())
    assert (len(built), len(programs())) == (2, 2)


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
def test_other_surroundings_are_another_program(context, cache, built):
    rx.build(model())
    with context():
        rx.build(model())
    assert (len(built), len(programs())) == (2, 2)


def test_another_package_or_computer_is_another_program(cache, built, monkeypatch):
    rx.build(model())
    with monkeypatch.context() as other:
        other.setattr(program_key, "PACKAGE_STATE", "another")
        rx.build(model())
    facts = engine.engine_dependencies()
    for name in facts:
        with monkeypatch.context() as other:
            other.setattr(engine, "engine_dependencies", lambda name=name: {**facts, name: "other"})
            rx.build(model())
    for module, name, value in (
        (np, "__version__", "1.0"), (sys, "version", "4.0"),
        (program_key, "this_processor", lambda: "another"),
    ):  # fmt: skip
        with monkeypatch.context() as other:
            other.setattr(module, name, value)
            rx.build(model())
    assert len(built) == len(programs()) == len(facts) + 5
    assert {"cpu", "features", "llvmlite", "llvm", "relaxscript"} <= set(facts)


# ---------------------------------------------------------------- what is not kept


def not_kept(build, built) -> None:
    for _ in range(2):
        build()
    assert (len(built), programs()) == (2, [])


def test_an_operator_of_the_user_is_not_kept(cache, built):
    @opdef.op("cached.twice")
    def twice(x: opdef.Tensor) -> opdef.Tensor:
        """Twice."""
        return x * 2

    twice.infer_rule(lambda context, x: x)
    try:
        text = '@R.function\ndef main(x: R.Tensor((3,), "float32")):\n    return R.cached.twice(x)'
        not_kept(lambda: rx.build(rx.from_source(text)), built)
    finally:
        opdef.remove_op("cached.twice")


def test_with_a_rule_of_the_user_nothing_is_kept(cache, built, monkeypatch):
    monkeypatch.setitem(exp.rules, "compute", lambda context, x: x)
    not_kept(lambda: rx.build(model()), built)


def test_with_a_pipeline_of_the_user_in_the_place_of_ours_nothing_is_kept(
    cache, built, monkeypatch
):
    ours = PIPELINE_MAP["llvm"]
    monkeypatch.setitem(PIPELINE_MAP, "llvm", lambda: ours())
    not_kept(lambda: rx.build(model()), built)


def test_a_pipeline_of_the_user_is_not_kept(cache, built):
    not_kept(lambda: rx.build(model(), relax_pipeline=rx.get_pipeline("default")), built)
    built.clear()
    not_kept(lambda: rx.build(model(), tir_pipeline=lambda mod: mod), built)


def test_what_an_instrument_watches_is_built(cache, built):
    with PassContext(instruments=[PassInstrument()]):
        not_kept(lambda: rx.build(model()), built)


def test_a_kernel_that_calls_python_is_not_kept(cache, built):
    text = """
@T.prim_func
def main(x: T.Buffer((3,), "float32")):
    T.evaluate(T.call_packed("test.program_cache.none"))
"""
    not_kept(lambda: rx.build(rx.from_source(text)), built)


def test_weights_that_are_no_arrays_of_numpy_are_not_kept(cache, built):
    class Named(np.ndarray):
        """An array of somebody else."""

    not_kept(lambda: rx.build(model(), params={"at": AT.view(Named)}), built)


def test_weights_that_no_tensor_can_hold_are_refused_as_ever(cache):
    with pytest.raises(DiagnosticError, match="`at`"):
        rx.build(model(), params={"at": np.array(["a", "b"])})


def test_a_module_that_no_script_can_say_is_refused_as_ever(cache):
    mod = model()
    x = relax.Var.make("x", None)
    mod["main"] = relax.Function.make((x,), relax.Tuple.make((x, object())))
    heard = []
    for folder in (cache.folder, "off"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RELAXSCRIPT_CACHE", folder)
            with pytest.raises(Exception, match=r"\w") as failed:
                rx.build(mod)
        heard.append((type(failed.value), str(failed.value)))
    assert heard[0] == heard[1]


def test_weights_that_take_long_to_hash_are_not_kept(cache, built, monkeypatch):
    monkeypatch.setattr(program_key, "MOST_BYTES", 3)
    not_kept(lambda: rx.build(model()), built)


def test_a_warning_is_heard_in_each_process(cache, built):
    text = """
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    return R.add(x, y)
"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mod = rx.from_source(text)
    heard = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rx.build(mod)
        heard.append([str(w.message) for w in caught if issubclass(w.category, RelaxWarning)])
    assert heard[0] == heard[1]


def test_what_is_refused_is_refused_again(cache):
    errors = []
    for _ in range(2):
        with pytest.raises(DiagnosticError, match="no parameter"):
            rx.build(model(), params={"att": AT})
        with pytest.raises(DiagnosticError, match="no option") as failed:
            rx.build(model(), "llvm -check-all=1")
        errors.append(str(failed.value))
    assert (errors[0], programs()) == (errors[1], [])

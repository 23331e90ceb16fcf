"""A dataflow block partly for a backend: partition, generate code, fuse the rest, lower, run.

Source: the Relax RFC, "D2: Dataflow block as a first-class construct".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from relaxscript import relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import PrimFunc
from relaxscript.relax.backend.numpy_blas import partition_for_numpy
from relaxscript.relax.backend.patterns import make_matmul_pattern
from relaxscript.runtime import register_func
from relaxscript.runtime.packed_func import remove_global_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import PassContext, Sequential, VerifyEach, default_build_pipeline


@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor(("n", 8), "float32"),
        w: R.Tensor((8, 6), "float32"),
        b: R.Tensor((6,), "float32"),
        v: R.Tensor((6, 5), "float32"),
        c: R.Tensor((5,), "float32"),
    ):
        n = T.int64()
        with R.dataflow():
            h = R.matmul(x, w)
            a = R.add(h, b)
            r = R.nn.relu(a)
            e = R.exp(r)
            s = R.multiply(e, R.const(0.5, "float32"))
            t = R.tanh(s)
            p = R.matmul(t, v)
            q = R.add(p, c)
            out = R.nn.relu(q)
            R.output(out)
        return out


def inputs_of(mod: IRModule, rng: np.random.Generator) -> list[Any]:
    dims = [[getattr(d, "value", 3) for d in p.struct_info.dims] for p in mod["main"].params]
    return [rng.normal(size=shape).astype("float32") for shape in dims]


def check_runs(made: IRModule, rng: np.random.Generator) -> None:
    """The module is lowered whole, and gives on every executor what numpy gives."""
    inputs = inputs_of(Model, rng)
    x, w, b, v, c = inputs
    hidden = np.maximum(x @ w + b, 0)
    expected = np.maximum(np.tanh(np.exp(hidden) * np.float32(0.5)) @ v + c, 0)
    with PassContext(instruments=[VerifyEach()]):
        lowered = default_build_pipeline()(made)
    for load in EXECUTORS.values():
        np.testing.assert_allclose(load(made)("main", *inputs), expected, rtol=1e-4, atol=1e-5)
    assert not {"R.call_dps_packed(", "R.call_tir("} & set(CALLEE.findall(lowered.script()))


FUSE = Sequential(
    [
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FuseOps(),
        relax.transform.FuseTIR(),
    ]
)


def kernels_of(mod: IRModule) -> list[str]:
    """The PrimFuncs of a module, by name."""
    return [gvar.name_hint for gvar, func in mod.functions.items() if isinstance(func, PrimFunc)]


CALLEE = re.compile(r"R\.\w+\(")
calls: list[str] = []


def generate(functions: Any, options: Any, constants: Any) -> Any:
    """A code generator: a dense layer in three calls of numpy."""

    def dense(x: Any, w: Any, b: Any, out: Any) -> None:
        calls.append("dense")
        np.matmul(x, w, out=out)
        np.add(out, b, out=out)
        np.maximum(out, 0, out=out)

    return {func.attrs["global_symbol"]: dense for func in functions}


@pytest.fixture
def _generator() -> Iterator[None]:
    register_func("relax.ext.mine", generate)
    calls.clear()
    yield
    remove_global_func("relax.ext.mine")


@pytest.mark.usefixtures("_generator")
def test_layers_go_to_a_backend_by_pattern_and_the_rest_is_fused(rng):
    pattern = make_matmul_pattern(with_bias=True, activation="relax.nn.relu")
    with PassContext(instruments=[VerifyEach()]):
        partition = relax.transform.FuseOpsByPattern(
            [("mine.dense", *pattern)], annotate_codegen=True
        )
        parts = partition(Model)
        generated = relax.transform.RunCodegen()(parts)
        made = FUSE(generated)
    script = generated["main"].script()
    assert script.count("R.call_dps_packed(") == 2
    assert "R.matmul" not in script
    assert kernels_of(made) == ["fused_exp_multiply_tanh"]
    check_runs(made, rng)
    assert len(calls) == 2 * len(EXECUTORS)


def test_neighbours_go_to_the_backend_of_numpy_as_one_and_the_rest_is_fused(rng):
    with PassContext(instruments=[VerifyEach()]):
        parts = partition_for_numpy(Model)
        made = FUSE(relax.transform.RunCodegen()(parts))
    theirs = [
        gvar.name_hint
        for gvar, func in parts.relax_functions().items()
        if "Codegen" in (func.attrs or {})
    ]
    assert len(theirs) == 2
    assert kernels_of(made) == ["fused_exp_multiply_tanh"]
    check_runs(made, rng)


def test_what_no_pattern_takes_is_fused_without_a_backend(rng):
    with PassContext(instruments=[VerifyEach()]):
        made = FUSE(Model)
    assert len(kernels_of(made)) < 9
    check_runs(made, rng)

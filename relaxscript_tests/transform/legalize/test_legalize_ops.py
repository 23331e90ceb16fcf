"""Operators become calls of PrimFuncs that mean the same."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import relax
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.transform import LegalizeOps


@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32"),
        y: R.Tensor(("m", 4), "float32"),
    ):  # fmt: skip
        with R.dataflow():
            a = R.add(x, w)
            b = R.add(y, w)
            c = R.multiply(R.exp(a), R.const(2.0, "float32"))
            R.output(b, c)
        return b, c


def prim_funcs(mod):
    return {gv.name_hint: f for gv, f in mod.functions.items() if isinstance(f, PrimFunc)}


def test_one_prim_func_serves_operands_that_differ_in_names_of_dimensions_only():
    @I.ir_module
    class Expected:
        @T.prim_func(private=True)
        def add(
            A: T.Buffer(("n", 4), "float32"), B: T.Buffer((4,), "float32"),
            T_add: T.Buffer(("n", 4), "float32"),
        ):  # fmt: skip
            T.func_attr({"tir.noalias": True})
            n = T.int64()
            for ax0, ax1 in T.grid(n, T.int64(4)):
                with T.block("T_add"):
                    v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                    T_add[v_ax0, v_ax1] = A[v_ax0, v_ax1] + B[v_ax1]

        @R.function
        def main(
            x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32"),
            y: R.Tensor(("m", 4), "float32"),
        ):  # fmt: skip
            n, m = T.int64(), T.int64()
            cls = Expected
            with R.dataflow():
                a = R.call_tir(cls.add, (x, w), out_sinfo=R.Tensor((n, 4), "float32"))
                b = R.call_tir(cls.add, (y, w), out_sinfo=R.Tensor((m, 4), "float32"))
                R.output(a, b)
            return a, b

    @I.ir_module
    class Before:
        @R.function
        def main(
            x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32"),
            y: R.Tensor(("m", 4), "float32"),
        ):  # fmt: skip
            with R.dataflow():
                a = R.add(x, w)
                b = R.add(y, w)
                R.output(a, b)
            return a, b

    assert_structural_equal(LegalizeOps()(Before), Expected)


def test_a_constant_that_is_a_scalar_is_written_into_the_loops():
    made = LegalizeOps()(Model)
    assert "* T.float32(2.0)" in made.script() or "* 2.0" in made.script()
    assert set(prim_funcs(made)) == {"add", "exp", "multiply"}


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_legalised_module_means_the_same(target):
    x, w = np.linspace(0, 1, 12, dtype="float32").reshape(3, 4), np.ones(4, "float32")
    made = rx.transform.get_pipeline("zero")(Model)
    assert_structural_equal(from_source(made.script()), made)
    run = rx.VirtualMachine(rx.build(Model, target, relax_pipeline="zero"))["main"]
    for found, expected in zip(run(x, w, x[:2]), rx.jit(Model).main(x, w, x[:2])):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_dimensions_that_no_buffer_has_are_given_to_the_prim_func():
    @I.ir_module
    class Doubled:
        @R.function
        def main(x: R.Tensor(("n * 2",), "float32"), s: R.Shape(["n"])):
            return R.exp(x)

    made = LegalizeOps()(Doubled)
    assert "tir_vars=R.shape([n])" in made.script()
    x = np.ones(6, "float32")
    result = rx.jit(made).main(x, rx.runtime.values.Shape((3,)))
    np.testing.assert_allclose(result, np.exp(x), rtol=1e-6)


def test_what_has_no_known_shape_or_no_compute_stays():
    @I.ir_module
    class Unknown:
        @R.function
        def main(x: R.Tensor(ndim=2, dtype="float32"), y: R.Tensor((4,), "float32")):
            return R.exp(x), R.unique(y)

    assert LegalizeOps()(Unknown) is Unknown or not prim_funcs(LegalizeOps()(Unknown))
    with pytest.warns(RelaxWarning, match=r"`relax.unique` is not legalised"):
        LegalizeOps(enable_warning=True)(Unknown)


def test_a_legalisation_of_the_users_own_takes_the_place_of_ours():
    def twice(builder, call):
        return builder.call_te(
            lambda x: rx.te.compute(x.shape, lambda i, j: x[i, j] * 2.0), *call.args
        )

    @I.ir_module
    class Exp:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
            return R.exp(x)

    made = LegalizeOps({"relax.exp": twice})(Exp)
    x = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(rx.jit(made).main(x), x * 2)


@pytest.mark.parametrize(
    ("legalize", "message"),
    [
        (lambda builder, call: 3, "gives a Python int, not an expression"),
        (
            lambda builder, call: relax.op.sum(call.args[0]),
            r'gives R.Tensor\(\(\), "float32"\), where the operator gives R.Tensor',
        ),
    ],
)
def test_a_legalisation_that_does_not_fit_is_refused(legalize, message):
    @I.ir_module
    class Exp:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
            y = R.exp(x)
            return y

    with pytest.raises(DiagnosticError, match=message) as caught:
        LegalizeOps({"relax.exp": legalize})(Exp)
    assert caught.value.diagnostics[0].code == "RX0703"
    assert caught.value.diagnostics[0].span.filename == __file__

"""Operators become calls of PrimFuncs that mean the same."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import LegalizeOps, Normalize


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
    assert "T_multiply[v_ax0, v_ax1] = A[v_ax0, v_ax1] * 2.0" in made.script()
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


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_operands_that_may_not_go_together_are_looked_at_when_they_run():
    mod = from_source("""
@I.ir_module
class Doubtful:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor((2, 3), "float32")):
        return R.add(x, y)
""")
    made = LegalizeOps()(mod)
    assert not prim_funcs(made)
    one, two = np.ones((1, 3), "float32"), np.full((2, 3), 2, "float32")
    np.testing.assert_array_equal(rx.jit(made).main(one, two), one + two)
    with pytest.raises(rx.VMError, match="cannot take these operands"):
        rx.jit(made).main(np.ones((4, 3), "float32"), two)


def test_what_goes_wrong_in_a_prim_func_is_shown_at_the_operator():
    mod = from_source("""
@I.ir_module
class Taken:
    @R.function
    def main(x: R.Tensor((4,), "float32"), i: R.Tensor((2,), "int64")):
        y = R.take(x, i)
        return y
""")
    made = LegalizeOps()(mod)
    assert prim_funcs(made)
    with pytest.raises(rx.VMError, match="index 7 is outside of dimension 0") as caught:
        rx.jit(made).main(np.ones(4, "float32"), np.array([0, 7]))
    span = caught.value.span
    assert span is not None
    assert (span.line, span.column, span.end_column) == (6, 13, 25)


def test_an_operator_that_fails_fails_as_the_prim_func_in_its_place():
    @I.ir_module
    class Taken:
        @R.function
        def main(x: R.Tensor((4,), "float32"), i: R.Tensor((2,), "int64")):
            y = R.take(x, i)
            return y

    args = np.ones(4, "float32"), np.array([1, 9])
    for step, code in ((Normalize(), "RX0606"), (LegalizeOps(), "RX0614")):
        for load in EXECUTORS.values():
            with pytest.raises(rx.VMError) as raised:
                load(step(Taken))("main", *args)
            assert raised.value.code == code
    assert LegalizeOps.fails_as == (("RX0606", "RX0614"),)


@pytest.mark.parametrize(
    "call", ["R.scatter_nd(x, i, x)", "R.gather_nd(x, i)", "R.scatter_nd(x, i, x, 'add')"]
)
def test_loops_that_depend_on_a_size_that_is_no_number_are_not_made(call):
    mod = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), i: R.Tensor(("n",), "int64")):
        y = {call}
        return y
""")
    assert LegalizeOps()(mod) is mod
    with pytest.raises(DiagnosticError, match="is not legalised"):
        LegalizeOps(require_all=True)(mod)

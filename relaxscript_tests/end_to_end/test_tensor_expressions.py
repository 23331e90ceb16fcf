"""Tensor expressions in programs, from a script and from Python, on every executor."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import relax, te, tir, topi
from relaxscript.runtime import register_func, remove_global_func
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.script.ir_builder import IRBuilder, ir as BI, relax as BR
from relaxscript.testing.compare import assert_same
from relaxscript_tests.end_to_end.executors import every_executor


def positive_sums(a, threshold):
    """The sums of what is above a threshold in each row, of rows after the first."""
    rows, columns = a.shape
    k = te.reduce_axis((0, columns), name="k")
    sums = te.compute(
        (rows,), lambda i: te.sum(a[i, k], axis=k, where=a[i, k] > threshold), name="sums"
    )
    return te.compute(
        (rows,), lambda i: te.if_then_else(te.all(i > 0, sums[i] < 100), sums[i], -1.0), name="kept"
    )


@I.ir_module
class Script:
    @R.function
    def main(x: R.Tensor(("n", 6), "float32"), w: R.Tensor((6, 5), "float32")):
        h = R.emit_te(topi.matmul, x, w)
        y = R.emit_te(positive_sums, h, 0.5)
        return y


def parameters():
    x = relax.Var("x", R.Tensor(("n", 6), "float32"))
    return x, relax.Var("w", R.Tensor((6, 5), "float32"))


def by_builder():
    x, w = parameters()
    bb = relax.BlockBuilder()
    with bb.function("main", [x, w]):
        y = bb.emit_te(positive_sums, bb.emit_te(topi.matmul, x, w), 0.5)
        bb.emit_func_output(y)
    return bb.get()


def by_ir_builder():
    with IRBuilder() as ib, BI.ir_module(), BR.function():
        BR.func_name("main")
        x = BR.arg("x", R.Tensor(("n", 6), "float32"))
        w = BR.arg("w", R.Tensor((6, 5), "float32"))
        h = BR.emit(BR.emit_te(topi.matmul, x, w))
        BR.func_ret_value(BR.emit(BR.emit_te(positive_sums, h, 0.5)))
    return ib.get()


@every_executor
@pytest.mark.parametrize("make", [lambda: Script, by_builder, by_ir_builder])
def test_a_product_a_reduction_and_a_condition(load, make, rng):
    x, w = (rng.integers(-3, 4, shape).astype("float32") for shape in ((4, 6), (6, 5)))
    product = x @ w
    sums = np.where(product > 0.5, product, 0).sum(axis=1)
    wanted = np.where((np.arange(4) > 0) & (sums < 100), sums, -1)
    module = make()
    assert_same(module, Script)
    for program in (module, from_source(module.script())):
        np.testing.assert_array_equal(load(program).main(x, w), wanted)


def test_the_same_is_printed_however_it_is_written():
    assert "cls.positive_sums, (h,)" in Script.script()
    assert Script.script().count("@T.prim_func(private=True)") == 2


def argmax(values):
    """The places and the values of the greatest of each row, the first of several."""

    def combine(a, b):
        later = tir.any(b[1] > a[1], tir.all(b[1] == a[1], b[0] < a[0]))
        return tir.Select(later, b[0], a[0]), tir.Select(later, b[1], a[1])

    greatest = te.comm_reducer(
        combine, lambda place, value: (te.const(-1, place), te.min_value(value)), name="argmax"
    )
    k = te.reduce_axis((0, values.shape[1]), name="k")
    return te.compute(
        (values.shape[0],), lambda i: greatest((k.var, values[i, k]), axis=k), name="argmax"
    )


@every_executor
def test_values_are_combined_in_pairs(load, rng):
    @I.ir_module
    class Greatest:
        @R.function
        def main(x: R.Tensor((5, "n"), "float32")):
            places, values = R.emit_te(argmax, x)
            return (places, values)

    x = rng.standard_normal((5, 7)).astype("float32")
    places, values = load(Greatest).main(x)
    np.testing.assert_array_equal(places, x.argmax(axis=1))
    np.testing.assert_array_equal(values, x.max(axis=1))


@every_executor
def test_a_packed_function_writes_several_tensors(load):
    def double_and_sum(a, doubled, sums):
        doubled[:] = a * 2
        sums[:] = a.sum(axis=1)

    def external(a):
        return te.extern(
            [a.shape, (a.shape[0],)], [a],
            lambda ins, outs: tir.call_packed("test.double_and_sum", ins[0], outs[0], outs[1]),
            name="external", dtype=["float32", "float32"],
        )  # fmt: skip

    def total(a):
        doubled, sums = external(a)
        return te.compute(a.shape, lambda i, j: doubled[i, j] + sums[i])

    @I.ir_module
    class External:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32")):
            return R.emit_te(total, x)

    x = np.arange(6, dtype="float32").reshape(2, 3)
    register_func("test.double_and_sum", double_and_sum)
    try:
        found = load(External).main(x)
    finally:
        remove_global_func("test.double_and_sum")
    np.testing.assert_array_equal(found, x * 2 + x.sum(axis=1, keepdims=True))


@every_executor
def test_a_prim_func_of_several_tensors_runs_in_a_module_of_its_own(load):
    n = te.var("n", "int64")
    a, b = te.placeholder((n, 3), name="a"), te.placeholder((3,), name="b")
    total = a + b
    function = te.create_prim_func([a, b, total, te.compute((n,), lambda i: total[i, 0] * 2)])

    @I.ir_module
    class Totals:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor((3,), "float32")):
            n = T.int64()
            out = [R.Tensor((n, 3), "float32"), R.Tensor((n,), "float32")]
            return R.call_tir(function, (x, y), out_sinfo=out)

    x, y = np.ones((2, 3), "float32"), np.arange(3, dtype="float32")
    total, first = load(Totals).main(x, y)
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(first, (x + y)[:, 0] * 2)

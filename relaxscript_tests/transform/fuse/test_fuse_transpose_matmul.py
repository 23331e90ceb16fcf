"""A product by a transposed matrix becomes one PrimFunc, which reads the matrix as it lies."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.transform import AdjustMatmulOrder, FuseTransposeMatmul, Sequential
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.algebra.before_after_products import check_block, script
from relaxscript_tests.transform.before_after import check

PRODUCT = """
    t = R.permute_dims(w)
    y = R.matmul(x, t)
"""
BEFORE = script("x: nx64; w: 32x64", PRODUCT)
AFTER = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def NT_matmul(
        A: T.Buffer(("n", 64), "float32"), B: T.Buffer((32, 64), "float32"),
        C: T.Buffer(("n", 32), "float32"),
    ):
        T.func_attr({"tir.noalias": True})
        n = T.int64()
        for i, j, k in T.grid(n, T.int64(32), T.int64(64)):
            with T.block("NT_matmul"):
                v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
                T.reads(A[v_i, v_k], B[v_j, v_k])
                T.writes(C[v_i, v_j])
                with T.init():
                    C[v_i, v_j] = T.float32(0)
                C[v_i, v_j] = C[v_i, v_j] + A[v_i, v_k] * B[v_j, v_k]

    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((32, 64), "float32")):
        n = T.int64()
        cls = M
        with R.dataflow():
            y = R.call_tir(cls.NT_matmul, (x, w), out_sinfo=R.Tensor((n, 32), "float32"))
            R.output(y)
        return y
"""


def fused(text: str) -> IRModule:
    """The module of a script after the pass, in which it finds something to do."""
    mod = from_source(text)
    made = FuseTransposeMatmul()(mod)
    assert made is not mod
    return made


def assert_same_values(text: str, near: float = 1e-5) -> IRModule:
    """Before and after the pass a program gives the same on each executor, within a bound."""
    mod, made = from_source(text), fused(text)
    inputs = inputs_for(mod["main"], 0)
    expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
    for name in ("interpreter", "reference", "llvm"):
        actual = observe(EXECUTORS[name](made), "main", inputs)
        check_outcomes(name, actual, "before", expected, near, near)
    return made


def test_the_matrix_is_read_as_it_lies():
    check(FuseTransposeMatmul(), BEFORE, AFTER)


@pytest.mark.parametrize(
    "params",
    ["x: nx64; w: 32x64", "x: 64; w: 32x64", "x: nxk; w: mxk", "x: 2x5x64; w: 3x64",
     "x: 4x6 of float64; w: 3x6 of float64", "x: 4x6 of int32; w: 3x6 of int32",
     "x: 4x6 of float16; w: 3x6 of float16", "x: 0x6; w: 3x6", "x: 4x1; w: 3x1"],
)  # fmt: skip
def test_vectors_batches_symbolic_sizes_and_dtypes_give_the_same_values(params):
    assert_same_values(script(params, PRODUCT), 2e-3 if "float16" in params else 1e-5)


@pytest.mark.parametrize(
    "params", ["x: 2x5x6; w: 2x3x6", "x: 5x6; w: 2x3x6", "x: bx5x6; w: bx3x6", "x: 4x5x6; w: 1x3x6"]
)
def test_batches_of_matrices_are_read_as_they_lie(params):
    body = "t = R.permute_dims(w, [0, 2, 1])\ny = R.matmul(x, t)"
    assert "permute_dims" not in assert_same_values(script(params, body)).script()


@pytest.mark.parametrize(
    ("params", "out_dtype"),
    [("x: 4x6 of float16; w: 3x6 of float16", "float32"), ("x: 4x6; w: 3x6", "float16"),
     ("x: 4x6 of int8; w: 3x6 of int8", "int32"), ("x: 4x6; w: 3x6", "float64")],
)  # fmt: skip
def test_sums_have_the_dtype_that_the_product_asks_for(params, out_dtype):
    body = f't = R.permute_dims(w)\ny = R.matmul(x, t, out_dtype="{out_dtype}")'
    assert_same_values(script(params, body), 2e-3 if out_dtype == "float16" else 1e-6)


def test_a_permutation_that_others_use_stays_for_these():
    text = script("x: 2x6; w: 3x6", PRODUCT + "    z = R.add(t, t)", "y, z")
    text = assert_same_values(text).script()
    assert "= R.permute_dims(w" in text
    assert "cls.NT_matmul, (x, w)" in text


def test_equal_products_share_a_function():
    body = "t = R.permute_dims(w)\na = R.matmul(x, t)\nb = R.matmul(z, t)\ny = R.add(a, b)"
    made = fused(script("x: 2x6; z: 2x6; w: 3x6", body))
    assert len(made.functions) == 2


@pytest.mark.parametrize(
    ("params", "body"),
    [
        ("x: 3x6; w: 3x4", "t = R.permute_dims(x)\ny = R.matmul(t, w)"),
        ("x: 5x6; w: 3x6x2", "t = R.permute_dims(w)\ny = R.matmul(x, t)"),
        ("x: 2x5x6; w: 2x6x3", "t = R.permute_dims(w, [0, 1, 2])\ny = R.matmul(x, t)"),
        ("x: 2x6; w: 6", "t = R.permute_dims(w)\ny = R.matmul(x, t)"),
    ],
)
def test_other_operands_and_other_permutations_stay(params, body):
    check_block(FuseTransposeMatmul(), params, body, None)


def test_products_outside_of_dataflow_blocks_stay():
    check(FuseTransposeMatmul(), script("x: 2x6; w: 3x6", PRODUCT, dataflow=False))


def test_a_permutation_of_another_block_stays():
    text = script("x: 2x6; w: 3x6", "t = R.permute_dims(w)", "t").replace(
        "        return t",
        "        z = R.add(x, x)\n        with R.dataflow():\n            y = R.matmul(z, t)\n"
        "            R.output(y)\n        return y",
    )
    check(FuseTransposeMatmul(), text)


def test_what_a_run_has_to_check_stays():
    with pytest.warns(match="rows"):
        check_block(FuseTransposeMatmul(), "x: 2xn; w: 3xm", PRODUCT, None)


def test_tensors_of_unknown_shape_stay():
    text = BEFORE.replace('R.Tensor((32, 64, ), "float32")', 'R.Tensor(ndim=2, dtype="float32")')
    assert text != BEFORE
    check(FuseTransposeMatmul(), text)


def test_a_cast_of_the_product_stays_a_cast():
    body = 't = R.permute_dims(w)\ny = R.match_cast(R.matmul(x, t), R.Tensor((2, 3), "float32"))'
    assert "R.match_cast(" in fused(script("x: 2x6; w: 3x6", body)).script()


def test_private_functions_and_branches_are_gone_through():
    text = """
@I.ir_module
class M:
    @R.function(private=True)
    def inner(x: R.Tensor((2, 6), "float32"), w: R.Tensor((3, 6), "float32")):
        with R.dataflow():
            t = R.permute_dims(w)
            y = R.matmul(x, t)
            R.output(y)
        return y

    @R.function
    def main(
        x: R.Tensor((2, 6), "float32"), w: R.Tensor((3, 6), "float32"), c: R.Tensor((), "bool")
    ):
        cls = M
        if c:
            y = cls.inner(x, w)
        else:
            with R.dataflow():
                u = R.add(x, x)
                v = R.add(w, w)
                t = R.permute_dims(v)
                y0 = R.matmul(u, t)
                R.output(y0)
            y = y0
        return y
"""
    made = assert_same_values(text)
    assert "permute_dims" not in made.script()
    assert len(made.functions) == 3


def test_an_order_of_less_work_is_read_as_it_lies_too():
    step = Sequential([AdjustMatmulOrder(), FuseTransposeMatmul()])
    body = "w = R.matmul(a, b)\nt = R.permute_dims(w)\ny = R.matmul(x, t)"
    made = step(from_source(script("x: 1x64; a: 64x8; b: 8x64", body)))
    text = made.script()
    assert text.count("R.call_tir(") == 2
    assert "R.permute_dims(" not in text


def test_a_long_row_of_products_is_fused_in_linear_time():
    def prepare(count):
        lines = ["v0 = R.add(x, x)"]
        for k in range(1, count):
            lines += [f"t{k} = R.permute_dims(w)", f"v{k} = R.matmul(v{k - 1}, t{k})"]
        mod = from_source(script("x: 2x6; w: 6x6", "\n".join(lines), f"v{count - 1}"))
        return lambda: FuseTransposeMatmul()(mod)

    assert growth(prepare, 40) < 10


def test_results_of_special_numbers_are_those_of_the_product():
    mod = fused(script("x: 2x2; w: 1x2", PRODUCT))
    x = np.float32([[np.inf, 1], [np.nan, 0]])
    for name in ("reference", "llvm"):
        found = EXECUTORS[name](mod)("main", x, np.float32([[2, 1]]))
        np.testing.assert_array_equal(found, np.float32([[np.inf], [np.nan]]))

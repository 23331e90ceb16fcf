"""Products of several matrices are made in the order of least work, where that is proved."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import AdjustMatmulOrder
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.algebra.before_after_products import check_block, script
from relaxscript_tests.transform.before_after import check

FEW_ROWS = "x: 1x64; a: 64x8; b: 8x64"
PRODUCT_FIRST = """
    w = R.matmul(a, b)
    y = R.matmul(x, w)
"""


def test_a_row_is_multiplied_first():
    check_block(
        AdjustMatmulOrder(), FEW_ROWS, PRODUCT_FIRST,
        """
        lv = R.matmul(x, a)
        y = R.matmul(lv, b)
        """,
    )  # fmt: skip


def test_a_column_is_multiplied_first():
    check_block(
        AdjustMatmulOrder(), "x: 64x32; a: 32x64; b: 64x1",
        """
        w = R.matmul(x, a)
        y = R.matmul(w, b)
        """,
        """
        lv = R.matmul(a, b)
        y = R.matmul(x, lv)
        """,
    )  # fmt: skip


def test_the_cheaper_order_stays():
    check_block(AdjustMatmulOrder(), "x: 64x64; a: 64x64; b: 64x1", PRODUCT_FIRST, None)


@pytest.mark.parametrize(
    "params",
    ["x: 64; a: 64x8; b: 8x64", "x: 2x1x64; a: 2x64x8; b: 8x64", "x: 1x64; a: 2x64x8; b: 2x8x64",
     "x: 1x64 of int32; a: 64x8 of int32; b: 8x64 of int32",
     "x: 1x64 of float16; a: 64x8 of float16; b: 8x64 of float16"],
)  # fmt: skip
def test_vectors_batches_and_other_dtypes_are_multiplied_so_too(params):
    check_block(
        AdjustMatmulOrder(), params, PRODUCT_FIRST,
        """
        lv = R.matmul(x, a)
        y = R.matmul(lv, b)
        """,
    )  # fmt: skip


def test_a_size_may_be_any_where_the_order_takes_less_work_for_all():
    check_block(
        AdjustMatmulOrder(), "x: nx64; a: 64x4; b: 4x64", PRODUCT_FIRST,
        """
        lv = R.matmul(x, a)
        y = R.matmul(lv, b)
        """,
    )  # fmt: skip


@pytest.mark.parametrize("params", ["x: nx64; a: 64xm; b: mx64", "x: nx64; a: 64x40; b: 40x64"])
def test_an_order_stays_that_may_be_cheaper_for_some_sizes(params):
    check_block(AdjustMatmulOrder(), params, PRODUCT_FIRST, None)


def test_a_vector_between_tensors_of_several_matrices_stays():
    check_block(AdjustMatmulOrder(), "x: 64; a: 2x64x8; b: 2x8x64", PRODUCT_FIRST, None)


def test_a_transposed_product_is_one_in_the_other_order():
    check_block(
        AdjustMatmulOrder(), "x: 1x64; a: 4x64; b: 64x4",
        """
        w = R.matmul(b, a)
        t = R.permute_dims(w)
        y = R.matmul(x, t)
        """,
        """
        lv = R.permute_dims(a)
        lv1 = R.matmul(x, lv)
        lv2 = R.permute_dims(b)
        y = R.matmul(lv1, lv2)
        """,
    )  # fmt: skip


def test_of_several_matrices_each_is_multiplied_in_turn():
    check_block(
        AdjustMatmulOrder(), "x: 64x1; a: 1x64; b: 64x32; c: 32x1",
        """
        w = R.matmul(x, a)
        v = R.matmul(w, b)
        y = R.matmul(v, c)
        """,
        """
        lv = R.matmul(a, b)
        lv1 = R.matmul(lv, c)
        y = R.matmul(x, lv1)
        """,
    )  # fmt: skip


def test_a_product_that_others_use_stays_and_counts():
    check_block(AdjustMatmulOrder(), "x: 1x64; a: 64x64; b: 64x64", PRODUCT_FIRST, None, "w, y")


def test_a_product_that_others_use_stays_for_these_where_the_order_is_cheaper_all_the_same():
    check_block(
        AdjustMatmulOrder(), FEW_ROWS, PRODUCT_FIRST,
        """
        w = R.matmul(a, b)
        lv = R.matmul(x, a)
        y = R.matmul(lv, b)
        """,
        "w, y",
    )  # fmt: skip


def test_a_product_of_a_dtype_of_its_own_stays():
    check_block(
        AdjustMatmulOrder(), "x: 1x64 of int32; a: 64x8 of int8; b: 8x64 of int8",
        """
        w = R.matmul(a, b, out_dtype="int32")
        y = R.matmul(x, w)
        """,
        None,
    )  # fmt: skip


def test_what_a_run_has_to_check_stays():
    with pytest.warns(match="columns"):
        check_block(AdjustMatmulOrder(), "x: 1x64; a: 64xm; b: kx64", PRODUCT_FIRST, None)


def test_a_matrix_that_somebody_writes_into_is_read_when_it_was():
    check(AdjustMatmulOrder(), """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(
        x: R.Tensor((1, 64), "float32"), a: R.Tensor((64, 8), "float32"),
        b: R.Tensor((8, 64), "float32"),
    ):
        w = R.matmul(a, b)
        _ = R.call_packed("change", a, sinfo_args=R.Tuple())
        y = R.matmul(x, w)
        return y
""")  # fmt: skip


def test_what_is_computed_outside_of_a_local_function_is_not_computed_there():
    check(AdjustMatmulOrder(), """
@I.ir_module
class M:
    @R.function
    def main(a: R.Tensor((64, 8), "float32"), b: R.Tensor((8, 64), "float32")):
        w = R.matmul(a, b)

        @R.function
        def rows(x: R.Tensor((1, 64), "float32")) -> R.Tensor((1, 64), "float32"):
            return R.matmul(x, w)

        return rows
""")  # fmt: skip


def test_outside_of_dataflow_blocks_the_order_changes_too():
    before = script(FEW_ROWS, PRODUCT_FIRST, dataflow=False)
    after = "lv = R.matmul(x, a)\ny = R.matmul(lv, b)"
    check(AdjustMatmulOrder(), before, script(FEW_ROWS, after, dataflow=False))


def test_both_orders_give_the_same_numbers():
    rng = np.random.default_rng(1)
    mod = from_source(script("x: 1x64; a: 4x64; b: 64x4", "w = R.matmul(b, a)\n"
                             "t = R.permute_dims(w)\ny = R.matmul(x, t)"))  # fmt: skip
    inputs = [rng.normal(size=s).astype("float32") for s in ((1, 64), (4, 64), (64, 4))]
    wanted = inputs[0].astype("float64") @ (inputs[2].astype("float64") @ inputs[1]).T
    for run in EXECUTORS.values():
        made = run(AdjustMatmulOrder()(mod))("main", *inputs)
        np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-4)


def chain(count: int) -> str:
    """A row and the product of many matrices, made from the left."""
    lines = ["w0 = R.matmul(a, a)"]
    lines += [f"w{k} = R.matmul(w{k - 1}, a)" for k in range(1, count)]
    return script("x: 1x8; a: 8x8", "\n".join([*lines, f"y = R.matmul(x, w{count - 1})"]))


def test_a_chain_of_products_is_turned_in_linear_time():
    def prepare(count):
        mod = from_source(chain(count))
        return lambda: AdjustMatmulOrder()(mod)

    assert growth(prepare, 40) < 10


def test_a_pass_takes_no_arguments():
    with pytest.raises(DiagnosticError, match="`AdjustMatmulOrder` takes 0 arguments, not 1"):
        AdjustMatmulOrder(3)

"""Columns are taken from a product, and not from its operand."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import ReorderTakeAfterMatmul
from relaxscript_tests.transform.algebra.before_after_products import check_block, script
from relaxscript_tests.transform.before_after import check

COLUMNS = """
    c = R.take(w, i, axis={axis})
    y = R.matmul(x, c)
"""


@pytest.mark.parametrize(
    ("params", "axis", "place"),
    [("x: 2x16; w: 16x8; i: 3 of int64", 1, 1), ("x: 2x16; w: 16x8; i: n of int64", -1, 1),
     ("x: 16; w: 16xm; i: 3 of int64", 1, 0), ("x: 2x16; w: 5x16x8; i: 3 of int32", 2, 2)],
)  # fmt: skip
def test_columns_are_taken_from_the_product(params, axis, place):
    after = f"lv = R.matmul(x, w)\ny = R.take(lv, i, axis={place})"
    check_block(ReorderTakeAfterMatmul(), params, COLUMNS.format(axis=axis), after)


def test_the_mode_and_the_dtype_of_the_product_stay():
    check_block(
        ReorderTakeAfterMatmul(), "x: 2x16 of float16; w: 16x8 of float16; i: 3 of int64",
        """
        c = R.take(w, i, axis=1, mode="wrap")
        y = R.matmul(x, c, out_dtype="float32")
        """,
        """
        lv = R.matmul(x, w, out_dtype="float32")
        y = R.take(lv, i, axis=1, mode="wrap")
        """,
    )  # fmt: skip


def test_what_is_taken_twice_is_taken_from_the_product_twice():
    check_block(
        ReorderTakeAfterMatmul(), "x: 2x16; w: 16x8; i: 5 of int64; j: 3 of int64",
        """
        b = R.take(w, i, axis=1)
        c = R.take(b, j, axis=1)
        y = R.matmul(x, c)
        """,
        """
        lv = R.matmul(x, w)
        lv1 = R.take(lv, i, axis=1)
        y = R.take(lv1, j, axis=1)
        """,
    )  # fmt: skip


MATRICES = COLUMNS.format(axis=0)


def test_where_each_matrix_takes_its_own_it_is_multiplied_with_all():
    check_block(
        ReorderTakeAfterMatmul(), "x: nx7x16; w: 4x16x8; i: n of int64", MATRICES,
        """
        lv = R.permute_dims(w, axes=[1, 0, 2])
        lv1 = R.reshape(lv, (16, 32))
        lv2 = R.matmul(x, lv1)
        lv3 = R.reshape(lv2, (n, 7, 4, 8))
        lv4 = R.take(lv3, i, axis=2)
        y = R.einsum((lv4,), subscripts="ijik->ijk")
        """,
    )  # fmt: skip


@pytest.mark.parametrize("executor", EXECUTORS)
def test_each_matrix_has_the_product_with_its_own(executor):
    mod = from_source(script("x: nx7x16; w: 4x16x8; i: n of int64", MATRICES))
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(3, 7, 16)), rng.normal(size=(4, 16, 8))
    i = np.array([3, 0, 3])
    made = EXECUTORS[executor](ReorderTakeAfterMatmul()(mod))(
        "main", x.astype("float32"), w.astype("float32"), i
    )
    np.testing.assert_allclose(made, x @ w[i], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("params", "axis"),
    [("x: 2x16; w: 9x8; i: 16 of int64", 0), ("x: 3x16; w: 4x16x8; i: 5 of int64", 0),
     ("x: 5x6x1x16; w: 4x16x8; i: 5x6 of int64", 0), ("x: 1x7x16; w: 4x16x8; i: 3 of int64", 0),
     ("x: 16; w: 16; i: 16 of int64", 0)],
)  # fmt: skip
def test_what_is_chosen_otherwise_stays(params, axis):
    check_block(ReorderTakeAfterMatmul(), params, COLUMNS.format(axis=axis), None)


def test_an_index_that_is_not_there_is_found_where_it_was_outside_of_dataflow_blocks():
    params = "x: 2x16; w: 16x8; i: 3 of int64"
    check(ReorderTakeAfterMatmul(), script(params, COLUMNS.format(axis=1), dataflow=False))


def test_what_is_taken_before_a_block_stays_before_it():
    check(ReorderTakeAfterMatmul(), """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor((2, 16), "float32"), w: R.Tensor((16, 8), "float32"),
        i: R.Tensor((3,), "int64"),
    ):
        c = R.take(w, i, axis=1)
        with R.dataflow():
            y = R.matmul(x, c)
            R.output(y)
        return y
""")  # fmt: skip


def test_what_is_taken_for_others_as_well_stays_for_these():
    params = "x: 2x16; w: 16x8; i: 3 of int64"
    after = "c = R.take(w, i, axis=1)\nlv = R.matmul(x, w)\ny = R.take(lv, i, axis=1)"
    check_block(ReorderTakeAfterMatmul(), params, COLUMNS.format(axis=1), after, "c, y")

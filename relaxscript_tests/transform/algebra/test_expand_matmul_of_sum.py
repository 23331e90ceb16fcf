"""A product with a sum becomes a sum of products."""

from __future__ import annotations

import pytest

from relaxscript.script import from_source
from relaxscript.transform import AdjustMatmulOrder, ExpandMatmulOfSum, Sequential
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.algebra.before_after_products import check_block, script

PARAMS = "x: 2x16; w: 16x4; d: 16x4; a: 16x3; b: 3x4"
SUM = """
    s = R.add(w, d)
    y = R.matmul(x, s)
"""
EXPANDED = """
    lv = R.matmul(x, w)
    lv1 = R.matmul(x, d)
    y = R.add(lv, lv1)
"""


def test_each_term_is_multiplied():
    check_block(ExpandMatmulOfSum(), PARAMS, SUM, EXPANDED)


@pytest.mark.parametrize(
    "params",
    ["x: 16; w: 16x4; d: 16x4", "x: 2x5x16; w: 16x4; d: 16x4", "x: nx16; w: 16xm; d: 16xm",
     "x: 5x2x16; w: 5x16x4; d: 16x4", "x: 2x16 of int8; w: 16x4 of int8; d: 16x4 of int8",
     "x: 2x16; w: 16; d: 16"],
)  # fmt: skip
def test_vectors_batches_symbolic_sizes_and_integers_are_expanded_too(params):
    check_block(ExpandMatmulOfSum(), params, SUM, EXPANDED)


def test_a_sum_of_sums_is_expanded_and_what_is_there_twice_is_multiplied_once():
    check_block(
        ExpandMatmulOfSum(), PARAMS,
        """
        s = R.add(w, d)
        t = R.add(s, s)
        y = R.matmul(x, t)
        """,
        """
        lv = R.matmul(x, w)
        lv1 = R.matmul(x, d)
        lv2 = R.add(lv, lv1)
        y = R.add(lv2, lv2)
        """,
    )  # fmt: skip


def test_the_terms_of_a_permuted_sum_are_permuted():
    check_block(
        ExpandMatmulOfSum(), "x: 2x16; w: 4x16; d: 4x16",
        """
        s = R.add(w, d)
        t = R.permute_dims(s)
        y = R.matmul(x, t)
        """,
        """
        lv = R.permute_dims(w)
        lv1 = R.matmul(x, lv)
        lv2 = R.permute_dims(d)
        lv3 = R.matmul(x, lv2)
        y = R.add(lv1, lv3)
        """,
    )  # fmt: skip


def test_a_sum_that_others_use_stays_for_these():
    check_block(ExpandMatmulOfSum(), PARAMS, SUM, "s = R.add(w, d)\n" + EXPANDED, "s, y")


@pytest.mark.parametrize(
    "params",
    ["x: 2x16; w: 16x4; d: 4", "x: 2x16; w: 16x4; d: 1x4", "x: 2x16; w: 1x4; d: 16x1"],
)
def test_a_term_that_is_spread_over_rows_or_columns_stays(params):
    check_block(ExpandMatmulOfSum(), params, SUM, None)


def test_a_sum_on_the_left_stays():
    body = "s = R.add(w, d)\ny = R.matmul(s, x)"
    check_block(ExpandMatmulOfSum(), "x: 4x2; w: 16x4; d: 16x4", body, None)


def test_a_product_of_a_wider_dtype_stays_since_a_sum_may_be_cut_off_before():
    body = 's = R.add(w, d)\ny = R.matmul(x, s, out_dtype="int32")'
    params = "x: 2x16 of int8; w: 16x4 of int8; d: 16x4 of int8"
    check_block(ExpandMatmulOfSum(), params, body, None)


def test_what_a_run_has_to_check_stays():
    with pytest.warns(match="rows"):
        check_block(ExpandMatmulOfSum(), "x: 2xn; w: mx4; d: mx4", SUM, None)


def test_a_low_rank_term_is_multiplied_from_the_left_in_the_end():
    check_block(
        Sequential([ExpandMatmulOfSum(), AdjustMatmulOrder()]),
        "x: 2x16; w: 16x16; a: 16x1; b: 1x16",
        """
        d = R.matmul(a, b)
        s = R.add(w, d)
        y = R.matmul(x, s)
        """,
        """
        lv = R.matmul(x, w)
        lv1 = R.matmul(x, a)
        lv2 = R.matmul(lv1, b)
        y = R.add(lv, lv2)
        """,
    )  # fmt: skip


def test_a_sum_of_many_is_expanded_in_linear_time():
    def prepare(count):
        lines = ["s0 = R.add(w, w)", *(f"s{k} = R.add(s{k - 1}, w)" for k in range(1, count))]
        text = script("x: 2x16; w: 16x4", "\n".join([*lines, f"y = R.matmul(x, s{count - 1})"]))
        mod = from_source(text)
        return lambda: ExpandMatmulOfSum()(mod)

    assert growth(prepare, 40) < 10

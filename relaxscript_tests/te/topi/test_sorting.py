"""Elements in order: `topi.sort`, `topi.argsort`, `topi.topk`."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

from .running import computed

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("length", [0, 1, 2, 5, 8, 13])
@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_equal_elements_keep_their_order(length, target, rng):
    x = rng.integers(0, 4, (2, length))
    t = te.placeholder((2, te.var("n", "int64")), "int64", "x")
    up = computed(topi.argsort(t, dtype="int64"), {t: x}, target)
    np.testing.assert_array_equal(up, np.argsort(x, kind="stable"))
    down = computed(topi.argsort(t, is_ascend=False, dtype="int64"), {t: x}, target)
    np.testing.assert_array_equal(down, np.argsort(-x, kind="stable"))


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_nan_is_the_largest_and_zeros_are_equal(target):
    x = np.array([NAN, 1, -0.0, INF, NAN, 0.0, -INF], "float32")
    t = te.placeholder(x.shape, name="x")
    found = computed(topi.argsort(t), {t: x}, target)
    np.testing.assert_array_equal(found, np.array([6, 2, 5, 1, 3, 0, 4], "float32"))
    found = computed(topi.sort(t, is_ascend=False), {t: x}, target)
    np.testing.assert_array_equal(found, np.array([NAN, NAN, INF, 1, 0, 0, -INF], "float32"))
    np.testing.assert_array_equal(np.signbit(found[4:6]), [True, False])


def test_rows_are_sorted_as_far_as_a_count_says(rng):
    x, counts = rng.normal(size=(3, 5)).astype("float32"), np.array([0, 3, 5], "int32")
    t, c = te.placeholder(x.shape, name="x"), te.placeholder((3,), "int32", "c")
    found = computed(topi.argsort(t, c, dtype="int32"), {t: x, c: counts})
    wanted = np.tile(np.arange(5), (3, 1))
    for row, count in enumerate(counts):
        wanted[row, :count] = np.argsort(x[row, :count])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("k", [0, 2, 9])
@pytest.mark.parametrize("is_ascend", [False, True])
def test_the_first_of_an_order_are_given_with_their_indices(k, is_ascend, rng):
    x = rng.permutation(12).reshape(4, 3).astype("float32")
    t = te.placeholder(x.shape, name="x")
    values, indices = topi.topk(t, k, 0, is_ascend=is_ascend)
    order = np.argsort(x if is_ascend else -x, 0)[: k or 4]
    np.testing.assert_array_equal(computed(indices, {t: x}), order)
    np.testing.assert_array_equal(computed(values, {t: x}), np.take_along_axis(x, order, 0))


def test_what_is_wanted_may_be_one_of_both():
    t = te.placeholder((4, te.var("n", "int64")), name="x")
    indices = topi.topk(t, 2, ret_type="indices", dtype="int8")
    assert indices.dtype == "int8"
    found = computed(topi.topk(t, 5, ret_type="values"), {t: np.zeros((4, 3), "float32")})
    np.testing.assert_array_equal(found, np.zeros((4, 3)))


def test_counts_and_results_that_are_none_are_refused():
    t = te.placeholder((4, 3))
    with pytest.raises(DiagnosticError, match=r"`topi\.argsort` takes a number for each row"):
        topi.argsort(t, te.placeholder((4, 3), "int32"))
    with pytest.raises(DiagnosticError, match='gives "both", "values" or "indices"'):
        topi.topk(t, ret_type="index")

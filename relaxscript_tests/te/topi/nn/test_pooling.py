"""Poolings by the functions that users know: `topi.nn.pool2d`, `topi.nn.adaptive_pool` ..."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript_tests.te.topi.running import computed, normal

TARGETS = ["llvm", "reference"]


@pytest.mark.parametrize("pads", [False, True])
@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("dilation", [1, [1, 2]])
def test_means_of_windows_count_what_is_inside(pads, ceil, dilation, rng):
    x = normal(rng, 1, 2, 6, 8)
    a = te.placeholder(x.shape, name="a")
    made = topi.nn.pool2d(a, [2, 3], 2, dilation, [1, 0, 1, 2], "avg", ceil, "NCHW", pads)
    wanted = R.nn.avg_pool2d(x, [2, 3], 2, [1, 0, 1, 2], dilation, ceil, pads)
    np.testing.assert_allclose(computed(made, {a: x}), wanted, rtol=1e-6)


@pytest.mark.parametrize("target", TARGETS)
def test_the_largest_of_a_window_is_not_of_what_pads_it(target, rng):
    x = -np.abs(normal(rng, 1, 7, 2))
    a = te.placeholder(x.shape, name="a")
    made = topi.nn.pool1d(a, 3, 2, 1, 1, "max", layout="NWC")
    wanted = R.nn.max_pool1d(x, 3, 2, 1, layout="NWC")
    assert (computed(made, {a: x}, target) == wanted).all()
    x = normal(rng, 1, 2, 3, 4, 5)
    a = te.placeholder(x.shape, name="a")
    made = topi.nn.pool3d(a, 2, 1, 1, 0, "max")
    assert (computed(made, {a: x}, target) == R.nn.max_pool3d(x, 2)).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("rows", "count"), [(7, 3), (6, 3), (3, 7), (5, 5), (12, 8)])
def test_windows_of_about_one_size_cover_everything(rows, count, target, rng):
    x = normal(rng, 2, 1, rows)
    a = te.placeholder(x.shape, name="a")
    found = computed(topi.nn.adaptive_pool1d(a, count, "avg"), {a: x}, target)
    np.testing.assert_allclose(found, R.nn.adaptive_avg_pool1d(x, count), rtol=1e-6)
    n = te.var("n", "int64")
    a = te.placeholder((2, 1, n), name="a")
    found = computed(topi.nn.adaptive_pool1d(a, count, "max"), {a: x}, target)
    edges = [(i * rows // count, -(-(i + 1) * rows // count)) for i in range(count)]
    assert (found == np.stack([x[..., i:j].max(-1) for i, j in edges], -1)).all()


def test_all_of_an_image_is_one_element(rng):
    x = normal(rng, 2, 3, 4, 5)
    a = te.placeholder(x.shape, name="a")
    found = computed(topi.nn.global_pool(a, "max"), {a: x})
    assert (found == x.max((2, 3), keepdims=True)).all()
    made = topi.nn.adaptive_pool(a, [1, 2], "avg", "NHWC")
    wanted = R.nn.adaptive_avg_pool2d(x, [1, 2], "NHWC")
    np.testing.assert_allclose(computed(made, {a: x}), wanted, rtol=1e-6)
    x = normal(rng, 1, 2, 3, 4, 5)
    a = te.placeholder(x.shape, name="a")
    found = computed(topi.nn.adaptive_pool3d(a, 2, "avg"), {a: x})
    np.testing.assert_allclose(found, R.nn.adaptive_avg_pool3d(x, 2), rtol=1e-6)


@pytest.mark.parametrize(
    ("rank", "pool_type", "layout", "said"),
    [
        (4, "sum", "NCHW", 'it is "max" or "avg"'),
        (3, "max", "NCHW", 'takes a tensor of the axes "NCHW"'),
        (4, "max", "NCH", 'takes the axes of "NCHW" in some order'),
        (5, "max", "NCHW4c", 'takes the axes of "NCHW" in some order'),
    ],
)
def test_tensors_and_poolings_that_there_are_not_are_refused(rank, pool_type, layout, said):
    with pytest.raises(DiagnosticError, match=said):
        topi.nn.pool2d(te.placeholder((1, 2, 3, 4, 4)[:rank]), 2, 1, 1, 0, pool_type, layout=layout)

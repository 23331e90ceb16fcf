"""Transposed convolutions by the functions that users know: `topi.nn.conv2d_transpose_nchw`."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript_tests.te.topi.running import computed, normal

OF_AXES = [
    (topi.nn.conv1d_transpose_ncw, R.nn.conv1d_transpose, (2, 3, 4), (3, 2, 3)),
    (topi.nn.conv2d_transpose_nchw, R.nn.conv2d_transpose, (1, 3, 2, 4), (3, 2, 2, 3)),
    (topi.nn.conv3d_transpose_ncdhw, R.nn.conv3d_transpose, (1, 2, 2, 1, 3), (2, 1, 1, 2, 2)),
]


@pytest.mark.parametrize("target", ["llvm", "reference"])
@pytest.mark.parametrize(("stride", "padding", "more"), [(1, 0, 0), (3, 1, 2)])
@pytest.mark.parametrize(("transposed", "meaning", "data", "kernel"), OF_AXES)
def test_elements_are_spread_over_windows(
    transposed, meaning, data, kernel, stride, padding, more, target, rng
):
    x, k = normal(rng, *data), normal(rng, *kernel)
    a, b = te.placeholder(data, name="a"), te.placeholder(kernel, name="b")
    made = transposed(a, b, stride, padding, "float32", more)
    wanted = meaning(x, k, stride, padding, more)
    np.testing.assert_allclose(computed(made, {a: x, b: k}, target), wanted, rtol=1e-4, atol=1e-5)


def test_channels_are_in_groups(rng):
    x, k = normal(rng, 1, 4, 2, 3), normal(rng, 4, 3, 2, 2)
    a, b = te.placeholder(x.shape, name="a"), te.placeholder(k.shape, name="b")
    made = topi.nn.group_conv2d_transpose_nchw(a, b, 2, [0, 1], None, [1, 0], 2)
    wanted = R.nn.conv2d_transpose(x, k, 2, [0, 1], [1, 0], groups=2)
    np.testing.assert_allclose(computed(made, {a: x, b: k}), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("data", "more", "said"),
    [
        ((1, 3, 2, 4), 2, "less than its stride"),
        ((1, 3, 2, 4), (0, 0, 0), "one number for each axis"),
        ((1, 2, 2, 4), 0, "is for another number of channels"),
        ((1, 3, 4), 0, 'takes a tensor of the axes "NCHW"'),
    ],
)
def test_tensors_and_numbers_that_do_not_fit_are_refused(data, more, said):
    kernel = te.placeholder((3, 2, 2, 3))
    with pytest.raises(DiagnosticError, match=said):
        topi.nn.conv2d_transpose_nchw(te.placeholder(data), kernel, 2, 0, None, more)

"""Convolutions by the functions that users know: `topi.nn.conv2d_nchw` and those like it."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript_tests.te.topi.running import computed, normal


def placeholders(x, k):
    return te.placeholder(x.shape, name="x"), te.placeholder(k.shape, name="k")


@pytest.mark.parametrize(
    ("convolution", "data", "kernel", "layouts"),
    [
        (topi.nn.conv2d_nchw, (1, 3, 5, 6), (4, 3, 2, 3), ("NCHW", "OIHW")),
        (topi.nn.conv2d_nhwc, (1, 5, 6, 3), (2, 3, 3, 4), ("NHWC", "HWIO")),
        (topi.nn.conv2d_hwcn, (5, 6, 3, 1), (2, 3, 3, 4), ("HWCN", "HWIO")),
    ],
)
@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_convolution_of_each_layout(convolution, data, kernel, layouts, target, rng):
    x, k = normal(rng, *data), normal(rng, *kernel)
    a, b = placeholders(x, k)
    found = computed(convolution(a, b, 2, [1, 0], 1), {a: x, b: k}, target)
    wanted = R.nn.conv2d(x, k, 2, [1, 0], 1, 1, *layouts)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_groups_take_their_shares_of_the_channels(rng):
    x, k = normal(rng, 2, 4, 5), normal(rng, 6, 2, 3)
    a, b = placeholders(x, k)
    found = computed(topi.nn.group_conv1d_ncw(a, b, 1, 1, 1, 2), {a: x, b: k})
    np.testing.assert_allclose(found, R.nn.conv1d(x, k, 1, 1, 1, 2), rtol=1e-4, atol=1e-5)
    x, k = normal(rng, 1, 2, 3, 4, 4), normal(rng, 2, 1, 2, 2, 2)
    a, b = placeholders(x, k)
    found = computed(topi.nn.conv3d_ncdhw(a, b, 1, 0, 1, 2), {a: x, b: k})
    np.testing.assert_allclose(found, R.nn.conv3d(x, k, groups=2), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("last", [False, True])
def test_each_channel_has_kernels_of_its_own(last, rng):
    x, k = normal(rng, 2, 3, 5, 6), normal(rng, 3, 2, 2, 3)
    wanted = R.nn.conv2d(x, k.reshape(6, 1, 2, 3), 2, [1, 0], [1, 2], 3)
    convolution = topi.nn.depthwise_conv2d_nchw
    if last:
        x, k, wanted = x.transpose(0, 2, 3, 1), k.transpose(2, 3, 0, 1), np.moveaxis(wanted, 1, -1)
        convolution = topi.nn.depthwise_conv2d_nhwc
    a, b = placeholders(x, k)
    found = computed(convolution(a, b, 2, [1, 0], [1, 2]), {a: x, b: k})
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    with pytest.raises(DiagnosticError, match="is for another number of channels"):
        convolution(a, te.placeholder((5, 5, 5, 5)), 1, 0, 1)


@pytest.mark.parametrize(
    ("padding", "numbers", "dilation"),
    [("VALID", 0, 1), ("SAME", (1, 1, 0, 1), 1), ("SAME", (1, 2, 0, 2), [1, 2])],
)
def test_padding_may_be_said_by_a_word(padding, numbers, dilation, rng):
    x, k = normal(rng, 1, 2, 6, 7), normal(rng, 3, 2, 2, 3)
    a, b = placeholders(x, k)
    made = topi.nn.conv2d(a, b, 1, padding, dilation)
    wanted = R.nn.conv2d(x, k, 1, numbers, dilation)
    np.testing.assert_allclose(computed(made, {a: x, b: k}), wanted, rtol=1e-4, atol=1e-5)


def test_a_convolution_is_named_as_users_know_it():
    a, b = te.placeholder((1, 3, 5, 6)), te.placeholder((4, 3, 2, 3))
    made = topi.nn.conv(a, b, 1, 1, 1, 1, "NCHW")
    assert (made.op.name, made.op.tag) == ("conv2d_nchw", "conv2d_nchw")
    assert [axis.var.name for axis in made.op.axis] == ["nn", "ff", "yy", "xx"]
    assert [axis.var.name for axis in made.op.reduce_axis] == ["rc", "ry", "rx"]
    assert made.op.input_tensors[0].op.name == "pad_temp"


@pytest.mark.parametrize(
    ("data", "kernel", "given", "said"),
    [
        ((1, 3, 5), (4, 3, 2, 3), {}, 'the axes of "NCW" in some order'),
        ((1, 3, 5, 6), (4, 3, 2), {}, 'takes a tensor of the axes "OIHW"'),
        ((1, 3, 5, 6), (4, 2, 2, 3), {}, "is for another number of channels"),
        ((1, 3, 5, 6), (4, 3, 2, 3), {"padding": "FULL"}, "the padding is numbers"),
        ((1, 3, 5, 6), (4, 3, 2, 3), {"strides": 0}, "it is a number from 1 on"),
        ((1, 3, 5, 6), (4, 3, 2, 3), {"data_layout": "NCHW4c"}, "in some order"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(data, kernel, given, said):
    options = {"strides": 1, "padding": 0, "dilation": 1, **given}
    with pytest.raises(DiagnosticError, match=said):
        topi.nn.conv2d(te.placeholder(data), te.placeholder(kernel), **options)

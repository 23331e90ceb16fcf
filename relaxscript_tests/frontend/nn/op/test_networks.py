"""Functions that networks are made of compute what their formulas say."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import op
from relaxscript_tests.frontend.nn.computing import Computing, assert_near, computed, refused

RNG = np.random.default_rng(7)


def drawn(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("float32")


# ---------------------------------------------------------------- convolutions


def convolved(
    x: Any, weight: Any, bias: Any, stride: int, padding: int, dilation: int, groups: int
) -> Any:
    """A convolution along all axes behind the channels, window by window."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * rank)
    spans = [(size - 1) * dilation + 1 for size in weight.shape[2:]]
    counts = [(size - span) // stride + 1 for size, span in zip(x.shape[2:], spans)]
    result = np.zeros((len(x), len(weight), *counts))
    for place in np.ndindex(*counts):
        window = x[(..., *(slice(p * stride, p * stride + s, dilation)
                           for p, s in zip(place, spans)))]  # fmt: skip
        for k, part in enumerate(np.split(window, groups, 1)):
            share = slice(k * len(weight) // groups, (k + 1) * len(weight) // groups)
            axes = list(range(1, rank + 2))
            result[(slice(None), share, *place)] = np.tensordot(part, weight[share], (axes, axes))
    return (result + bias.reshape(-1, *[1] * rank)).astype("float32")


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_convolution_takes_windows_with_strides_padding_dilation_and_groups(rank: int):
    sizes = (7, 6, 5)[:rank]
    x, weight, bias = drawn(2, 4, *sizes), drawn(6, 2, *(3, 2, 2)[:rank]), drawn(6)
    function = (op.conv1d, op.conv2d, op.conv3d)[rank - 1]
    got = computed(lambda x, w, b: function(x, w, b, 2, 1, 2, 2), x, weight, bias)
    assert_near(got, convolved(x, weight, bias, 2, 1, 2, 2))


def test_a_convolution_takes_images_with_their_channels_last():
    x, weight, bias = drawn(2, 4, 6, 5), drawn(3, 4, 3, 2), drawn(3)
    last = x.transpose(0, 2, 3, 1)
    got = computed(lambda x, w, b: op.conv2d(x, w, b, data_layout="NHWC"), last, weight, bias)
    assert_near(got, convolved(x, weight, bias, 1, 0, 1, 1).transpose(0, 2, 3, 1))


def test_a_transposed_convolution_adds_the_kernel_times_each_element():
    x, weight, bias = drawn(2, 3, 5), drawn(3, 4, 3), drawn(4)
    wanted = np.zeros((2, 4, (5 - 1) * 2 + 3 + 1), "float32")
    for place in range(5):
        wanted[:, :, place * 2 : place * 2 + 3] += np.einsum("bi,iok->bok", x[:, :, place], weight)
    wanted = wanted[:, :, 1:-1] + bias[:, None]
    function = lambda x, w, b: op.conv1d_transpose(x, w, b, 2, 1, 1)  # noqa: E731
    assert_near(computed(function, x, weight, bias), wanted)


# ---------------------------------------------------------------- norms


def normalized(x: Any, axes: tuple[int, ...]) -> Any:
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5)


def test_a_layer_norm_is_one_over_the_last_axes():
    x, weight, bias = drawn(2, 3, 4), drawn(3, 4), drawn(3, 4)
    whole = normalized(x, (1, 2))
    assert_near(computed(lambda x, w, b: op.layer_norm(x, (3, 4), w, b), x, weight, bias),
                whole * weight + bias)  # fmt: skip
    assert_near(computed(lambda x, w: op.layer_norm(x, (3, 4), w), x, weight), whole * weight)
    assert_near(computed(lambda x, b: op.layer_norm(x, (3, 4), bias=b), x, bias), whole + bias)
    assert_near(computed(lambda x: op.layer_norm(x, 4), x), normalized(x, (2,)))


def test_an_rms_norm_divides_by_the_root_of_the_mean_of_squares():
    x, weight = drawn(2, 3, 4), drawn(4)
    wanted = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * weight
    assert_near(computed(lambda x, w: op.rms_norm(x, w, -1, 1e-3), x, weight), wanted)


def test_a_group_norm_is_one_over_groups_of_channels():
    x, weight, bias = drawn(2, 6, 3, 2), drawn(6), drawn(6)
    whole = normalized(x.reshape(2, 3, -1), (2,)).reshape(x.shape)
    wanted = whole * weight[:, None, None] + bias[:, None, None]
    assert_near(computed(lambda x, w, b: op.group_norm(x, 3, w, b), x, weight, bias), wanted)
    assert_near(computed(lambda x: op.group_norm(x, 3, None, None), x), whole)
    last = x.transpose(0, 2, 3, 1)
    got = computed(lambda x, w, b: op.group_norm(x, 3, w, b, channel_axis=-1), last, weight, bias)
    assert_near(got, wanted.transpose(0, 2, 3, 1))


# ---------------------------------------------------------------- attention


def attended(query: Any, key: Any, value: Any, mask: Any, scale: float) -> Any:
    products = np.einsum("bqhf,bkhf->bhqk", query, key) * scale + mask
    shares = np.exp(products - products.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    return np.einsum("bhqk,bkhf->bqhf", shares, value).astype("float32")


def test_attention_is_of_tokens_behind_the_batch():
    query, key, value = drawn(2, 4, 3, 6), drawn(2, 5, 3, 6), drawn(2, 5, 3, 7)
    attention = op.scaled_dot_product_attention
    wanted = attended(query, key, value, 0, 6**-0.5)
    assert_near(computed(attention, query, key, value), wanted)
    hidden = np.where(np.tril(np.ones((4, 5), bool)), 0, -np.inf)
    got = computed(lambda q, k, v: attention(q, k, v, None, True, 0.5), query, key, value)
    assert_near(got, attended(query, key, value, hidden, 0.5))


def test_a_mask_is_added_or_says_which_keys_are_seen():
    query, key, value = drawn(2, 4, 3, 6), drawn(2, 5, 3, 6), drawn(2, 5, 3, 7)
    bias, seen = drawn(2, 1, 4, 5), RNG.random((2, 1, 4, 5)) < 0.7
    seen[..., 0] = True
    attention = op.scaled_dot_product_attention
    wanted = attended(query, key, value, bias, 6**-0.5)
    assert_near(computed(attention, query, key, value, bias), wanted)
    wanted = attended(query, key, value, np.where(seen, 0, -np.inf), 6**-0.5)
    assert_near(computed(attention, query, key, value, seen), wanted)


@pytest.mark.parametrize("width", [6, 7])
@pytest.mark.parametrize("flip", [False, True])
def test_times_are_sines_and_cosines_of_falling_frequencies(width: int, flip: bool):
    times = np.array([0, 3, 250], "int32")
    angles = times[:, None] * np.exp(-math.log(10000) * np.arange(3) / (3 - 1)) * 2
    waves = [np.cos(angles), np.sin(angles)] if flip else [np.sin(angles), np.cos(angles)]
    wanted = np.concatenate([*waves, np.zeros((3, width % 2))], 1).astype("float32")
    function = lambda t: op.get_timestep_embedding(t, width, flip, scale=2)  # noqa: E731
    assert_near(computed(function, times), wanted, 1e-4)


def test_times_are_given_in_the_default_dtype():
    nn.set_default_dtype("float16")
    try:
        got = computed(lambda t: op.get_timestep_embedding(t, 4), np.array([1, 2], "float32"))
    finally:
        nn.set_default_dtype("float32")
    assert got.dtype == np.float16


def test_times_need_frequencies():
    found = refused(lambda t: op.get_timestep_embedding(t, 2), np.array([1], "int32"))
    assert "no frequencies with `downscale_freq_shift=1`" in found.message


# ---------------------------------------------------------------- images


@pytest.mark.parametrize(
    "function",
    [
        lambda x: op.interpolate(x, (4, 6)),
        lambda x: op.interpolate(x, scale_factor=2),
        lambda x: op.interpolate(x, scale_factor=(2, 2.0)),
        lambda x: op.interpolate(x, scale_factor=2, mode="nearest-exact"),
    ],
)
def test_the_nearest_elements_are_repeated(function: Callable[..., Any]):
    x = drawn(1, 2, 2, 3)
    assert_near(computed(function, x), x.repeat(2, 2).repeat(2, 3))


def test_the_first_of_two_is_the_nearest():
    x = drawn(1, 1, 5, 5)
    assert_near(computed(lambda x: op.interpolate(x, (2, 3)), x), x[:, :, [0, 2]][..., [0, 1, 3]])
    by = lambda x: op.interpolate(x, scale_factor=0.5)  # noqa: E731
    assert_near(computed(by, x), x[:, :, [0, 2]][..., [0, 2]])


def test_elements_between_are_means():
    x = np.arange(3, dtype="float32").reshape(1, 1, 1, 3)
    got = computed(lambda x: op.interpolate(x, (1, 6), mode="bilinear"), x)
    assert_near(got[0, 0, 0], np.array([0, 0.25, 0.75, 1.25, 1.75, 2], "float32"))
    got = computed(lambda x: op.interpolate(x, (1, 5), mode="bilinear", align_corners=True), x)
    assert_near(got[0, 0, 0], np.array([0, 0.5, 1, 1.5, 2], "float32"))


def test_volumes_and_images_with_channels_last_have_another_size_too():
    x = drawn(1, 2, 2, 3, 1)
    by = lambda x: op.interpolate(x, scale_factor=(2, 1, 3), data_layout="NCDHW")  # noqa: E731
    assert_near(computed(by, x), x.repeat(2, 2).repeat(3, 4))
    by = lambda x: op.interpolate(x, scale_factor=2, data_layout="NHWC")  # noqa: E731
    assert_near(computed(by, x[..., 0]), x[..., 0].repeat(2, 1).repeat(2, 2))


def test_a_size_that_is_a_variable_is_multiplied():
    model = Computing(lambda x: op.interpolate(x, scale_factor=2))
    spec = {"forward": {"operands": [nn.spec.Tensor((1, 1, "h", 3), "float32")]}}
    info = model.export_tvm(spec)[0]["forward"].ret_struct_info
    assert str(info.dims[2]).replace(" ", "") in ("h*2", "2*h")
    assert info.dims[3].value == 6


def test_what_is_not_known_of_a_size_is_refused():
    x = drawn(1, 2, 3, 3)
    found = refused(lambda x: op.interpolate(x, 2, mode="bilinaer"), x)
    assert (found.message, found.help) == (
        "`interpolate` has no mode 'bilinaer'", "did you mean `bilinear`?",
    )  # fmt: skip
    found = refused(lambda x: op.interpolate(x), x)
    assert found.message == "`interpolate` takes either `size` or `scale_factor`"
    found = refused(lambda x: op.interpolate(x, 2, antialias=True), x)
    assert found.help == "leave out `antialias`"
    found = refused(lambda x: op.interpolate(x, scale_factor=(1, 2, 3)), x)
    assert found.message == "`interpolate` takes 2 scale factors for 'NCHW', not 3"
    found = refused(lambda x: op.interpolate(x, scale_factor=0.5, recompute_scale_factor=False), x)
    assert found.help == "leave out `recompute_scale_factor=False`"
    model = Computing(lambda x: op.interpolate(x, scale_factor=1.5))
    spec = {"forward": {"operands": [nn.spec.Tensor((1, 1, "h", 3), "float32")]}}
    with pytest.raises(DiagnosticError, match=r"the size h times 1\.5 is known only when"):
        model.export_tvm(spec)

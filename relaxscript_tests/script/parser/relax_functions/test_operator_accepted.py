"""Accepted programs: calls of operators with every argument written out, as TVM prints them."""

from __future__ import annotations

import warnings

import pytest

from relaxscript.errors import RelaxWarning
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same

PARAMETERS = """
    x: R.Tensor((2, 3), "float32"), i: R.Tensor((2, 3), "int64"), v: R.Tensor((3,), "float32"),
    image: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"),
    q: R.Tensor((1, 6, 4, 8), "float32"), s: R.Tensor((), "float32"), z: R.Tensor((), "int8"),
    n_rows: R.Tensor(("n", 3), "float32"),
"""
CALLS = """
R.abs(x)
R.add(x, v)
R.arange(R.prim_value(0), R.prim_value(10), R.prim_value(1), dtype="int64")
R.arange(n)
R.argmax(x, axis=1, keepdims=False)
R.argsort(x, axis=-1, descending=False, dtype="int32")
R.astype(x, dtype="float16")
R.broadcast_to(v, R.shape([2, 3]))
R.clip(x, R.prim_value(0), R.prim_value(6))
R.collapse_sum_to(x, R.shape([3]))
R.concat((x, n_rows), axis=0)
R.cumsum(x, axis=1, dtype="void", exclusive=False)
R.cumprod(x, dtype="float64")
R.dequantize(i, s, z, axis=-1, out_dtype="float32")
R.dynamic_strided_slice(v, R.const([0], "int64"), R.const([2], "int64"), R.const([1], "int64"))
R.einsum((x, v), subscripts="ij,j->i")
R.ewise_fma(x, x, x)
R.expand_dims(x, axis=[0])
R.eye(R.prim_value(3), R.prim_value(3), R.prim_value(0), dtype="float32")
R.eye_like(x, R.prim_value(1), dtype="void")
R.flatten(x)
R.flip(x, axis=0)
R.full(R.shape([2, 3]), R.const(1.0, "float32"), dtype="void")
R.gather_elements(x, i, axis=0)
R.gather_nd(x, R.const([[0], [2]], "int64"), batch_dims=1)
R.linear(x, R.const([[1, 2, 3]], "float32"))
R.matmul(x, v, out_dtype="void")
R.mean(x, axis=[0, 1], keepdims=True)
R.nonzero(x)
R.one_hot(i, R.prim_value(T.float32(1)), R.prim_value(T.float32(0)), depth=10, axis=-1)
R.permute_dims(x, axes=[1, 0])
R.quantize(x, s, z, axis=-1, out_dtype="int8")
R.repeat(x, repeats=2, axis=0)
R.reshape(x, R.shape([6]))
R.scatter_elements(x, i, x, axis=0, reduction="update")
R.scatter_nd(x, R.const([[0], [1]], "int64"), x, reduction="add")
R.sort(x, axis=-1, descending=True)
R.split(x, indices_or_sections=[1], axis=0)
R.squeeze(q, axis=[0])
R.stack((x, x), axis=0)
R.strided_slice(x, (R.prim_value(0),), (R.prim_value(0),), (R.prim_value(1),), assume_inbound=False)
R.strided_slice(n_rows, axes=[0], begin=[1], end=[n])
R.sum(x, axis=[1], keepdims=False)
R.take(x, R.const([0, 1], "int64"), axis=1, mode="fast")
R.tile(x, repeats=[2, 1])
R.topk(x, k=2, axis=-1, ret_type="both", largest=True, dtype="int32")
R.tril(x, R.prim_value(0))
R.unique(x, R.prim_value(1), R.prim_value(0), R.prim_value(0), R.prim_value(0))
R.unique(x, sorted=True, return_counts=True, axis=0)
R.variance(x, axis=None, keepdims=False)
R.where(R.greater(x, v), x, v)
R.zeros_like(x, dtype="void")
R.builtin.stop_lift_params(x)
R.grad.no_grad(x)
R.nn.adaptive_avg_pool2d(image, output_size=[1, 1], layout="NCHW", out_layout="NCHW")
R.nn.attention(q, q, q, scale=None, causal_mask="TopLeft", window_size=None)
R.nn.attention(q, q, q, R.const([[[[1]]]], "float32"), 0.5)
R.nn.attention_bias(q, q, q, R.const([[[[1]]]], "float32"), scale=None, causal_mask=None)
R.nn.avg_pool2d(image, pool_size=[2, 2], strides=[2, 2], count_include_pad=True)
R.nn.batch_norm(x, v, v, v, v, axis=1, epsilon=1e-05, center=True, scale=True, momentum=0.1)
R.nn.conv2d(image, w, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1,
    data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="void")
R.nn.conv2d_transpose(image, R.const([[[[1]]], [[[2]]], [[[3]]]], "float32"), strides=2)
R.nn.cross_entropy_with_logits(x, x)
R.nn.dropout(x, rate=0.5)
R.nn.gelu(x)
R.nn.group_norm(x, v, v, num_groups=3, channel_axis=1, axes=[], epsilon=1e-05)
R.nn.instance_norm(x, v, v, channel_axis=1, axes=[0])
R.nn.layer_norm(x, v, v, axes=[-1], epsilon=1e-05, center=True, scale=True)
R.nn.leakyrelu(x, alpha=0.01)
R.nn.log_softmax(x, axis=-1)
R.nn.max_pool2d(image, pool_size=[2, 2], strides=[2, 2], dilation=[1, 1], padding=[0, 0, 0, 0],
    ceil_mode=False, count_include_pad=False, layout="NCHW", out_layout="NCHW")
R.nn.nll_loss(x, R.const([0, 2], "int64"), v, reduction="mean", ignore_index=-100)
R.nn.pad(x, pad_width=[0, 0, 1, 1], pad_mode="constant", pad_value=0.0)
R.nn.pixel_shuffle(R.concat([image, image, image, image], axis=1), upscale_factor=2)
R.nn.prelu(x, v, axis=1)
R.nn.relu6(x)
R.nn.rms_norm(x, v, axes=[-1], epsilon=1e-05)
R.nn.softplus(x, beta=1.0, threshold=20.0)
"""


def calls() -> list[str]:
    """The calls, those on several lines as one."""
    found: list[str] = []
    for line in CALLS.strip().splitlines():
        if line.startswith(" "):
            found[-1] += line
        else:
            found.append(line)
    return found


@pytest.mark.parametrize("call", calls())
def test_a_call_is_printed_and_parsed_back(call: str) -> None:
    text = f"@R.function\ndef f({PARAMETERS}):\n    n = T.int64()\n    y = {call}\n    return y\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        function = from_source(text)
        printed = function.script(show_meta=True)
        again = from_source(printed)
    assert_same(again, function)
    assert again.script(show_meta=True) == printed

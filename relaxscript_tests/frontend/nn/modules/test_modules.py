"""Modules have the parameters of PyTorch's, and compute what their functions do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import op
from relaxscript_tests.frontend.nn.computing import Computing, assert_near, computed, tensor_spec
from relaxscript_tests.frontend.nn.models import random_weights

RNG = np.random.default_rng(13)


def drawn(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("float32")


def run(model: nn.Module, *arrays: Any) -> tuple[Any, dict[str, Any]]:
    """What a module gives with random weights, and these."""
    weights = random_weights(model)
    model.load_state_dict(weights)
    outer = Computing(model)
    outer.model = model  # type: ignore[attr-defined]
    spec = {"forward": {"operands": [*map(tensor_spec, arrays)]}}
    return outer.jit(spec).forward(arrays), weights


X, IMAGE, TOKENS = drawn(2, 5, 6), drawn(2, 4, 6, 5), np.array([[1, 0, 4]], "int32")
# Each module with its operand, the shapes of its parameters, and the function that it is.
SAME: dict[str, tuple[nn.Module, Any, dict[str, Any], Callable[..., Any]]] = {
    "ReLU": (nn.ReLU(), X, {}, op.relu),
    "SiLU": (nn.SiLU(), X, {}, op.silu),
    "GELU": (nn.GELU(), X, {}, op.gelu),
    "Identity": (nn.Identity(), X, {}, lambda x: x),
    "Linear": (
        nn.Linear(6, 3), X, {"weight": (3, 6), "bias": (3,)},
        lambda x, w, b: x @ w.permute_dims() + b,
    ),
    "MultiLinear": (
        nn.MultiLinear(6, [3, 1, 2], bias=False), X, {"weight": (6, 6)},
        lambda x, w: op.split(x @ w.permute_dims(), [3, 4], axis=-1),
    ),
    "Conv1D": (
        nn.Conv1D(5, 3, 2, stride=2, padding=1), X, {"weight": (3, 5, 2), "bias": (3,)},
        lambda x, w, b: op.conv1d(x, w, b, 2, 1),
    ),
    "Conv2D": (
        nn.Conv2D(4, 6, (3, 2), 2, 1, 1, 2), IMAGE, {"weight": (6, 2, 3, 2), "bias": (6,)},
        lambda x, w, b: op.conv2d(x, w, b, 2, 1, 1, 2),
    ),
    "Conv2D, channels last": (
        nn.Conv2D(5, 3, 2, bias=False, data_layout="NHWC"), IMAGE, {"weight": (3, 5, 2, 2)},
        lambda x, w: op.conv2d(x, w, data_layout="NHWC"),
    ),
    "Conv3D": (
        nn.Conv3D(2, 3, 2, dilation=2), drawn(1, 2, 4, 5, 3),
        {"weight": (3, 2, 2, 2, 2), "bias": (3,)},
        lambda x, w, b: op.conv3d(x, w, b, dilation=2),
    ),
    "ConvTranspose1D": (
        nn.ConvTranspose1D(5, 3, 4, 2, 1, 1), X, {"weight": (5, 3, 4), "bias": (3,)},
        lambda x, w, b: op.conv1d_transpose(x, w, b, 2, 1, 1),
    ),
    "LayerNorm": (
        nn.LayerNorm(6, 1e-3), X, {"weight": (6,), "bias": (6,)},
        lambda x, w, b: op.layer_norm(x, 6, w, b, 1e-3),
    ),
    "LayerNorm, plain": (
        nn.LayerNorm((5, 6), elementwise_affine=False), X, {},
        lambda x: op.layer_norm(x, (5, 6)),
    ),
    "RMSNorm": (
        nn.RMSNorm(6, -1, 1e-3), X, {"weight": (6,), "bias": (6,)},
        lambda x, w, b: op.rms_norm(x, w, -1, 1e-3) + b,
    ),
    "GroupNorm": (
        nn.GroupNorm(2, 4), IMAGE, {"weight": (4,), "bias": (4,)},
        lambda x, w, b: op.group_norm(x, 2, w, b),
    ),
    "GroupNorm, plain": (
        nn.GroupNorm(2, 4, affine=False), IMAGE, {},
        lambda x: op.group_norm(x, 2, None, None),
    ),
    "Embedding": (
        nn.Embedding(5, 3), TOKENS, {"weight": (5, 3)}, lambda x, w: op.take(w, x, 0),
    ),
    "Timesteps": (
        nn.Timesteps(6, True, 0), np.array([1, 50], "int32"), {},
        lambda x: op.get_timestep_embedding(x, 6, True, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SAME)
def test_it_is_a_function_with_parameters(kind: str):
    model, x, shapes, function = SAME[kind]
    assert {name: tuple(p.shape) for name, p in model.named_parameters()} == shapes
    got, weights = run(model, x)
    assert_near(got, computed(function, x, *weights.values()))


def activated(x: Any) -> Any:
    return x / (1 + np.exp(-x))


def test_vectors_of_times_go_through_two_products():
    sample, condition = drawn(3, 4), drawn(3, 2)
    got, w = run(nn.TimestepEmbedding(4, 5), sample)
    assert list(w) == ["linear_1.weight", "linear_1.bias", "linear_2.weight", "linear_2.bias"]
    inner = activated(sample @ w["linear_1.weight"].T + w["linear_1.bias"])
    assert_near(got, inner @ w["linear_2.weight"].T + w["linear_2.bias"])
    model = nn.TimestepEmbedding(4, 5, out_dim=3, post_act_fn="silu", cond_proj_dim=2)
    got, w = run(model, sample, condition)
    assert w["cond_proj.weight"].shape == (4, 2)
    inner = sample + condition @ w["cond_proj.weight"].T
    inner = activated(inner @ w["linear_1.weight"].T + w["linear_1.bias"])
    assert_near(got, activated(inner @ w["linear_2.weight"].T + w["linear_2.bias"]))


def attended(query: Any, key: Any, value: Any, heads: int, scale: float) -> Any:
    parts = [np.stack(np.split(x, heads, -1), 1) for x in (query, key, value)]
    products = parts[0] @ parts[1].swapaxes(-1, -2) * scale
    shares = np.exp(products - products.max(-1, keepdims=True))
    found = shares / shares.sum(-1, keepdims=True) @ parts[2]
    return np.concatenate(list(found.swapaxes(0, 1)), -1)


def test_attention_is_of_heads():
    x = drawn(2, 5, 6)
    got, w = run(nn.Attention(6, heads=3, dim_head=4), x)
    assert list(w) == [
        "to_q.weight", "to_k.weight", "to_v.weight", "to_out.0.weight", "to_out.0.bias",
    ]  # fmt: skip
    query, key, value = (x @ w[f"to_{name}.weight"].T for name in "qkv")
    found = attended(query, key, value, 3, 0.5)
    assert_near(got, found @ w["to_out.0.weight"].T + w["to_out.0.bias"], 1e-4)


def test_attention_is_to_the_tokens_of_a_condition():
    x, source = drawn(2, 5, 6), drawn(2, 4, 3)
    model = nn.Attention(
        6, 3, heads=2, dim_head=4, bias=True, norm_num_groups=2, out_bias=False, scale_qk=False
    )
    got, w = run(model, x, source)
    groups = np.stack(np.split(x, 2, -1), 2)
    mean, var = groups.mean((1, 3), keepdims=True), groups.var((1, 3), keepdims=True)
    normed = ((groups - mean) / np.sqrt(var + 1e-5)).reshape(x.shape)
    normed = normed * w["group_norm.weight"] + w["group_norm.bias"]
    query = normed @ w["to_q.weight"].T + w["to_q.bias"]
    key, value = (source @ w[f"to_{name}.weight"].T + w[f"to_{name}.bias"] for name in "kv")
    found = attended(query, key, value, 2, 1.0)
    assert_near(got, found @ w["to_out.0.weight"].T, 1e-4)


def test_another_dtype_is_that_of_parameters_but_not_of_a_product():
    model = nn.MultiLinear(2, [1, 2], out_dtype="float32")
    model.to("float16")
    assert {name: p.dtype for name, p in model.named_parameters()} == {
        "weight": "float16", "bias": "float32",
    }  # fmt: skip


# ---------------------------------------------------------------- mistakes


def test_channels_that_groups_cannot_share_are_refused():
    with pytest.raises(DiagnosticError, match=r"(?s)3 groups cannot share 4 channels.*groups=1"):
        nn.Conv2D(4, 6, 3, groups=3)
    with pytest.raises(DiagnosticError, match=r"2 groups cannot share 3 channels"):
        nn.ConvTranspose1D(4, 3, 3, groups=2)


def test_a_kernel_has_a_size_for_each_axis():
    with pytest.raises(DiagnosticError, match=r"`kernel_size` has 3 numbers, and images have 2"):
        nn.Conv2D(4, 6, (3, 3, 3))


def test_an_activation_that_there_is_not_is_refused():
    with pytest.raises(DiagnosticError, match=r"`TimestepEmbedding` has no activation 'relu'"):
        nn.TimestepEmbedding(4, 5, "relu")
    with pytest.raises(DiagnosticError, match=r"has no activation 'relu'"):
        nn.TimestepEmbedding(4, 5, post_act_fn="relu")


class Block(nn.Module):
    """Modules inside of modules, given what they do not take."""

    def __init__(self, **operands: Any) -> None:
        self.times = nn.ModuleList([nn.TimestepEmbedding(4, 5)])
        self.attn = nn.Attention(6, heads=2, dim_head=4)
        self.conv = nn.Conv2D(3, 2, 3)
        self._operands = operands

    def forward(self, x: nn.Tensor) -> Any:
        (name, options), *_ = self._operands.items()
        module = self.times[0] if name == "times" else getattr(self, name)
        return module(x, **options)


@pytest.mark.parametrize(
    ("name", "shape", "options", "path", "code"),
    [
        ("times", (3, 3), {}, "in `times.0.linear_1`, a `Linear`", "RX0203"),
        ("attn", (2, 5, 5), {}, "in `attn.to_q`, a `Linear`", "RX0203"),
        ("attn", (2, 5, 6), {"mask": None}, "in `attn`, an `Attention`", "RX0711"),
        ("conv", (1, 4, 6, 6), {}, "in `conv`, a `Conv2D`", "RX0203"),
        ("times", (3, 4), {"condition": 1}, "in `times.0`, a `TimestepEmbedding`", "RX0711"),
    ],
)  # fmt: skip
def test_what_a_module_does_not_take_is_said_with_its_path_and_the_users_line(
    name: str, shape: tuple[int, ...], options: Any, path: str, code: str
):
    model = Block(**{name: options})
    with pytest.raises(DiagnosticError) as raised:
        model.export_tvm({"forward": {"x": nn.spec.Tensor(shape, "float32")}})
    (found,) = raised.value.diagnostics
    assert found.code == code
    assert path in found.notes
    assert found.span is not None
    assert (found.span.filename, found.span.text) == (__file__, "module(x, **options)")

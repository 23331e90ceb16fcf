"""Modules by the names, parameters and defaults of TVM 0.20."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import modules

NAMES = """
IOEffect()
ReLU()
SiLU()
GELU()
Identity()
Linear(in_features, out_features, bias=True, dtype=None, out_dtype=None)
Conv1D(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, dtype=None)
Conv2D(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, dtype=None, data_layout='NCHW')
Conv3D(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, dtype=None, data_layout='NCDHW')
ConvTranspose1D(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1, bias=True, dtype=None)
LayerNorm(normalized_shape, eps=1e-05, elementwise_affine=True, dtype=None)
RMSNorm(hidden_size, axes, epsilon=1e-05, bias=True, dtype=None)
GroupNorm(num_groups, num_channels, eps=1e-05, affine=True, dtype=None)
KVCache(init_seq_len, unit_shape, dtype=None)
Embedding(num, dim, dtype=None)
TimestepEmbedding(in_channels, time_embed_dim, act_fn='silu', out_dim=None, post_act_fn=None, cond_proj_dim=None)
Timesteps(num_channels, flip_sin_to_cos=False, downscale_freq_shift=1)
Attention(query_dim, cross_attention_dim=None, heads=8, dim_head=64, bias=False, norm_num_groups=None, out_bias=True, scale_qk=True)
GroupNorm.forward(self, x, channel_axis=1, axes=None)
KVCache.emit_init(self, name_hint, builder)
KVCache.create(self, name_hint)
KVCache.set_state(self, state_vars)
KVCache.finalize(self)
KVCache.to(self, dtype=None)
KVCache.view(self, seq_len)
KVCache.append(self, new_element)
TimestepEmbedding.forward(self, sample, condition=None)
Attention.forward(self, hidden_states, encoder_hidden_states=None, attention_mask=None, **cross_attention_kwargs)
"""  # noqa: E501
LINES = NAMES.strip().split("\n")
PLAIN = ("KVCache", "IOEffect", "GroupNorm", "TimestepEmbedding", "Attention")

# Names that TVM 0.20 has not.
OTHERS = {"MultiLinear": "several products at once, of TVM before 0.16"}


def member(name: str) -> Any:
    found: Any = modules
    for part in name.split("."):
        found = getattr(found, part)
    return found


def signature_of(found: Any) -> str:
    parameters = inspect.signature(found).parameters.values()
    return str(inspect.Signature([p.replace(annotation=p.empty) for p in parameters]))


@pytest.mark.parametrize("line", LINES)
def test_a_module_of_tvm_has_its_parameters_and_defaults(line: str):
    name, _, rest = line.partition("(")
    assert signature_of(member(name)) == f"({rest}"


def test_other_modules_take_one_tensor():
    for name in {line.partition("(")[0] for line in LINES if "." not in line} - {*PLAIN}:
        assert signature_of(member(name).forward) == "(self, x)"


def test_all_modules_are_those_of_tvm():
    listed = {line.partition("(")[0] for line in LINES if "." not in line}
    assert len(listed) == 18
    assert {*modules.__all__} == listed | {*OTHERS}
    assert all(getattr(nn, name) is member(name) for name in modules.__all__)

"""Paged caches in modules: what their methods write, and that it runs."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import jit
from relaxscript.errors import DiagnosticError
from relaxscript.frontend import nn
from relaxscript.frontend.nn.llm.kv_cache import (
    FlashInferPagedKVCache,
    PagedKVCache,
    RopeMode,
    TIRPagedKVCache,
)
from relaxscript.script import relax as R

NONE = {"param_mode": "none", "effect_mode": "none"}


def make(kind="mha", qk=4, v=4, **changed):
    """A cache of two layers, of two heads of queries and one of keys."""
    given = {
        "attn_kind": kind, "max_batch_size": 2, "max_total_seq_len": 32, "prefill_chunk_size": 8,
        "page_size": 4, "support_sliding_window": 0, "layer_partition": (0, 2),
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "qk_head_dim": qk, "v_head_dim": v, "mla_original_qk_head_dim": 0,
        "mla_original_v_head_dim": 0, "rope_mode": RopeMode.NORMAL, "rope_scale": 1,
        "rope_theta": 100, "rope_scaling": None, "rope_ext_factors": None, "rotary_dim": qk,
        "enable_disaggregation": False, "dtype": "float32",
    }  # fmt: skip
    return TIRPagedKVCache(**{**given, **changed})


class Attention(nn.Module):
    """Both layers attend; what the cache is made of is given."""

    def __init__(self, **changed):
        self.changed = changed

    def create(self):
        return make(**self.changed)

    def forward(self, qkv: nn.Tensor, cache: PagedKVCache):
        first = cache.attention_with_fused_qkv(0, qkv, 2, 0.5)
        second = cache.attention_with_fused_qkv(1, qkv, 2, 0.5)
        return first, second, cache.get_query_positions(qkv.shape[0] * qkv.shape[1])


SPEC = {
    "create": {"$": NONE},
    "forward": {
        "qkv": nn.spec.Tensor((1, "n", 4, 4), "float32"), "cache": nn.spec.Object(PagedKVCache),
    },
}  # fmt: skip


def run(model, qkv):
    """The attention of the second layer to two parts of a text, and the cache."""
    mod, _ = model.export_tvm(spec=SPEC)
    assert "R.call_dps_packed" in mod.script()
    vm = jit(mod)
    cache = vm["create"]()
    cache.add_sequence(0)
    outs = []
    for part in (qkv[:, :3], qkv[:, 3:]):
        cache.begin_forward([0], [part.shape[1]])
        _, second, positions = vm["forward"](part.copy(), cache)
        cache.end_forward()
        outs.append(second)
    assert positions.tolist() == [3, 4]
    return np.concatenate(outs, 1)[0]


def definition(qkv, turned, growth=1.0):
    """Attention of two heads to one, of keys and queries that are turned already."""
    scores = np.einsum("qhd,kd->hqk", turned[:, :2], turned[:, 2]) * 0.5 * growth
    scores[:, np.triu(np.ones(scores.shape[1:], bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("hqk,kd->qhd", weights, qkv[:, 3])


def turned(heads, divisors):
    half = heads.shape[-1] // 2
    angles = np.arange(len(heads))[:, None, None] / (100.0 ** (np.arange(half) / half) * divisors)
    both = (heads[..., :half] + 1j * heads[..., half:]) * np.exp(1j * angles)
    return np.concatenate([both.real, both.imag], -1)


@pytest.mark.parametrize("mode", list(RopeMode))
def test_attention_is_that_of_the_definition_in_every_mode_of_rope(mode, rng):
    qkv = rng.normal(size=(1, 5, 4, 4)).astype("float32")
    heads = qkv[0] if mode is RopeMode.NONE else turned(qkv[0], np.ones(2))
    found = run(Attention(rope_mode=mode), qkv)
    np.testing.assert_allclose(found, definition(qkv[0], heads), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", [RopeMode.NORMAL, RopeMode.INLINE])
def test_where_rope_is_scaled_a_kernel_of_the_program_turns(mode, rng):
    qkv = rng.normal(size=(1, 5, 4, 4)).astype("float32")
    scaling = {
        "rope_type": "longrope", "max_position_embeddings": 64,
        "original_max_position_embeddings": 8,
    }  # fmt: skip
    model = Attention(
        rope_scaling=scaling, rope_mode=mode,
        rope_ext_factors=nn.Tensor.from_const(np.array([1, 3], "float32")),
    )  # fmt: skip
    heads = turned(qkv[0], np.array([1, 3]))
    want = definition(qkv[0], heads, 1 + np.log(8) / np.log(8))
    np.testing.assert_allclose(run(model, qkv), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", [RopeMode.NORMAL, RopeMode.INLINE])
def test_where_part_of_a_head_is_turned_a_kernel_does_it(mode, rng):
    qkv = rng.normal(size=(1, 5, 4, 4)).astype("float32")
    heads = np.concatenate([turned(qkv[0][..., :2], np.ones(1)), qkv[0][..., 2:]], -1)
    found = run(Attention(rotary_dim=2, rope_mode=mode), qkv)
    np.testing.assert_allclose(found, definition(qkv[0], heads), rtol=1e-4, atol=1e-5)


class Latent(nn.Module):
    """Prefill with the keys themselves, decoding with latent vectors, as in DeepSeek."""

    def create(self):
        return make("mla", 6, 4, rope_mode=RopeMode.NONE)

    def prefill(self, q: nn.Tensor, kv: nn.Tensor, cache: PagedKVCache):
        keys = nn.op.wrap_nested(R.expand_dims(kv._expr, 2), "keys").reshape(*kv.shape[:2], 1, 6)
        values = nn.op.wrap_nested(R.split(keys._expr, [4], axis=3), "parts")[0]
        for layer in range(2):
            cache = cache.append_mla_kv(layer, keys)
            out, lse = cache.self_attention(layer, q, keys, values, 0.5)
            far, far_lse = cache.cross_attention(layer, q, 4, 0.5)
            out, lse = cache.merge_attn_output_inplace(out, lse, far, far_lse)
        return out

    def decode(self, q: nn.Tensor, kv: nn.Tensor, cache: PagedKVCache):
        keys = kv.reshape(*kv.shape[:2], 1, 6)
        for layer in range(2):
            cache = cache.append_mla_kv(layer, keys)
            out, _ = cache.cross_attention(layer, q, 4, 0.5)
        return out


def test_latent_attention_is_merged_of_new_and_old_tokens(rng):
    arguments = {
        "q": nn.spec.Tensor((1, "n", 2, 6), "float32"),
        "kv": nn.spec.Tensor((1, "n", 6), "float32"),
        "cache": nn.spec.Object(PagedKVCache),
    }
    spec = {"create": {"$": NONE}, "prefill": arguments, "decode": arguments}
    mod, _ = Latent().export_tvm(spec=spec)
    vm = jit(mod)
    cache = vm["create"]()
    cache.add_sequence(0)
    q = rng.normal(size=(1, 6, 2, 6)).astype("float32")
    kv = rng.normal(size=(1, 6, 6)).astype("float32")
    outs = []
    for name, first, last in (("prefill", 0, 3), ("prefill", 3, 5), ("decode", 5, 6)):
        cache.begin_forward([0], [last - first])
        outs.append(vm[name](q[:, first:last].copy(), kv[:, first:last].copy(), cache))
        cache.end_forward()
    heads = np.concatenate([q[0], kv[0, :, None]], 1)
    padded = np.concatenate([heads, kv[0, :, None]], 1)
    want = definition(padded, heads)[..., :4]
    np.testing.assert_allclose(np.concatenate(outs, 1)[0], want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"enable_disaggregation": True}, "caches on a CPU send nothing to other processors"),
        ({"kind": "mqa"}, "there is no attention of the kind 'mqa'"),
    ],
)
def test_what_a_cache_on_a_cpu_has_not_is_refused(changed, match):
    with pytest.raises(DiagnosticError, match=match) as caught:
        Attention(**changed).export_tvm(spec={"create": {"$": NONE}})
    assert caught.value.diagnostics[0].code == "RX0711"


def test_kernels_of_flashinfer_are_said_to_be_for_gpus():
    with pytest.raises(DiagnosticError, match="the kernels of FlashInfer run on GPUs only"):
        FlashInferPagedKVCache("mha")


def test_tensors_of_another_rank_are_refused():
    spec = {**SPEC, "forward": {**SPEC["forward"], "qkv": nn.spec.Tensor(("n", 4, 4), "float32")}}
    with pytest.raises(DiagnosticError, match=r"`qkv` is \(batch, length, heads, dim\), got \(n, "):
        Attention().export_tvm(spec=spec)

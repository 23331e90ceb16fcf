"""The small LLaMA as modules that own their parameters, with a cache that it makes itself."""

from __future__ import annotations

from relaxscript.frontend import nn
from relaxscript.frontend.nn.llm.kv_cache import PagedKVCache, RopeMode, TIRPagedKVCache
from relaxscript.script import relax as R
from relaxscript_tests.end_to_end.models.llama import (
    DIM,
    GROUPS,
    HEADS,
    HIDDEN,
    LAYERS,
    SCALE,
    VOCAB,
    WIDTH,
)

__all__ = ["SPEC", "LlamaModule", "export_llama"]


class _Norm(nn.Module):
    def __init__(self):
        self.weight = nn.Parameter((WIDTH,))

    def forward(self, x):
        normed = R.nn.rms_norm(x._expr, self.weight._expr, axes=[-1])
        return nn.op.wrap_nested(normed, "rms_norm")


class _Attention(nn.Module):
    def __init__(self, index):
        self.index = index
        self.qkv = nn.Linear(WIDTH, (HEADS + 2 * GROUPS) * DIM, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, cache):
        batch, length, _ = x.shape
        qkv = self.qkv(x).reshape(batch, length, HEADS + 2 * GROUPS, DIM)
        mixed = cache.attention_with_fused_qkv(self.index, qkv, HEADS, SCALE)
        return self.out(mixed.reshape(batch, length, WIDTH))


class _FeedForward(nn.Module):
    def __init__(self):
        self.gate = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x):
        gate = nn.op.wrap_nested(R.nn.silu(self.gate(x)._expr), "silu")
        return self.down(gate * self.up(x))


class _Layer(nn.Module):
    def __init__(self, index):
        self.norm = _Norm()
        self.attention = _Attention(index)
        self.second_norm = _Norm()
        self.feed_forward = _FeedForward()

    def forward(self, x, cache):
        x = x + self.attention(self.norm(x), cache)
        return x + self.feed_forward(self.second_norm(x))


class LlamaModule(nn.Module):
    """`create` makes the cache, `forward` takes the new tokens of all sequences of a forward."""

    def __init__(self, rope_scaling=None):
        self.rope_scaling = rope_scaling
        self.embedding = nn.Parameter((VOCAB, WIDTH))
        self.layers = nn.ModuleList([_Layer(index) for index in range(LAYERS)])
        self.norm = _Norm()
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)

    def create(self, batch, tokens, chunk, page):
        return TIRPagedKVCache(
            "mha", batch, tokens, chunk, page, 0, (0, LAYERS), LAYERS, HEADS, GROUPS, DIM, DIM,
            0, 0, RopeMode.NORMAL, 1, 10000, self.rope_scaling, None, DIM, False, "float32",
        )  # fmt: skip

    def forward(self, tokens, cache):
        taken = R.take(self.embedding._expr, tokens._expr, axis=0)
        x = nn.op.wrap_nested(taken, "taken")
        for layer in self.layers:
            x = layer(x, cache)
        return self.head(self.norm(x))


SPEC = {
    "create": {
        "batch": int, "tokens": int, "chunk": int, "page": int,
        "$": {"param_mode": "none", "effect_mode": "none"},
    },
    "forward": {
        "tokens": nn.spec.Tensor((1, "n"), "int32"),
        "cache": nn.spec.Object(PagedKVCache),
    },
}  # fmt: skip


def export_llama(rope_scaling=None):
    """The module, and its parameters with their names."""
    return LlamaModule(rope_scaling).export_tvm(SPEC)

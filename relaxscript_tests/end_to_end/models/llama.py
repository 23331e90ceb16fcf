"""A small language model like LLaMA: grouped queries, rotary positions, gated feed-forward.

`generate` keeps keys and values in a paged cache, `whole` computes all tokens anew.
"""

from __future__ import annotations

import math

import numpy as np

from relaxscript.script import ir as I, relax as R, tir as T

__all__ = ["GROUPS", "HEADS", "HIDDEN", "LAYERS", "VOCAB", "WIDTH", "Llama"]

LAYERS = 2
# Tokens, elements of a token, heads of queries and of keys, elements inside of a feed-forward.
VOCAB, WIDTH, HEADS, GROUPS, HIDDEN = 40, 24, 6, 2, 32
DIM = WIDTH // HEADS
FUSED, HALF, REPEATED = HEADS + 2 * GROUPS, DIM // 2, HEADS // GROUPS
SCALE = 1 / math.sqrt(DIM)
FREQUENCIES = (10000.0 ** -(np.arange(HALF) / HALF)).astype("float32")
WEIGHTS = R.Tuple(
    R.Tensor((WIDTH,), "float32"),
    R.Tensor((WIDTH, FUSED * DIM), "float32"),
    R.Tensor((WIDTH, WIDTH), "float32"),
    R.Tensor((WIDTH,), "float32"),
    R.Tensor((WIDTH, HIDDEN), "float32"),
    R.Tensor((WIDTH, HIDDEN), "float32"),
    R.Tensor((HIDDEN, WIDTH), "float32"),
)
ENDS = R.Tuple(
    R.Tensor((VOCAB, WIDTH), "float32"),
    R.Tensor((WIDTH,), "float32"),
    R.Tensor((WIDTH, VOCAB), "float32"),
)


@I.ir_module
class Llama:
    """`create` makes a cache, of sizes that are known when it runs."""

    @R.function(pure=False)
    def create(
        sizes: R.Shape(["batch", "tokens", "chunk", "page"]),
    ) -> R.Object:
        batch, tokens, chunk, page = T.int64(), T.int64(), T.int64(), T.int64()
        cache = R.call_packed(
            "vm.builtin.paged_attention_kv_cache_create",
            R.shape([batch, tokens, chunk, page, 0]), R.shape([0, LAYERS]),
            R.prim_value(HEADS), R.prim_value(GROUPS), R.prim_value(DIM), R.prim_value(DIM),
            R.shape([0, 0]), R.prim_value(0), R.prim_value(1), R.prim_value(1.0),
            R.prim_value(10000.0), R.null_value(), R.const(0.0, "float32"),
            sinfo_args=R.Object,
        )  # fmt: skip
        return cache

    @R.function
    def generate(
        tokens: R.Tensor(("n",), "int32"), cache: R.Object, outer: ENDS,
        first: WEIGHTS, second: WEIGHTS,
    ) -> R.Tensor(("n", VOCAB), "float32"):  # fmt: skip
        cls = Llama
        with R.dataflow():
            x = R.take(outer[0], tokens, axis=0)
            y = cls.cached_layer(x, cache, R.prim_value(0), first)
            z = cls.cached_layer(y, cache, R.prim_value(1), second)
            logits = R.matmul(R.nn.rms_norm(z, outer[1], axes=[-1]), outer[2])
            R.output(logits)
        return logits

    @R.function
    def whole(
        tokens: R.Tensor(("n",), "int32"), outer: ENDS, first: WEIGHTS, second: WEIGHTS
    ) -> R.Tensor(("n", VOCAB), "float32"):
        cls = Llama
        with R.dataflow():
            x = R.take(outer[0], tokens, axis=0)
            y = cls.layer(x, first)
            z = cls.layer(y, second)
            logits = R.matmul(R.nn.rms_norm(z, outer[1], axes=[-1]), outer[2])
            R.output(logits)
        return logits

    @R.function(private=True)
    def cached_layer(
        x: R.Tensor(("n", WIDTH), "float32"),
        cache: R.Object,
        index: R.Prim("int64"),
        w: WEIGHTS,
    ) -> R.Tensor(("n", WIDTH), "float32"):
        n = T.int64()
        cls = Llama
        with R.dataflow():
            qkv = R.reshape(R.matmul(R.nn.rms_norm(x, w[0], axes=[-1]), w[1]), (n, FUSED, DIM))
            mixed = R.call_dps_packed(
                "vm.builtin.attention_kv_cache_attention_with_fused_qkv",
                (cache, index, R.prim_value(T.float64(SCALE)), qkv),
                out_sinfo=R.Tensor((n, HEADS, DIM), "float32"),
            )
            y = R.add(x, R.matmul(R.reshape(mixed, (n, WIDTH)), w[2]))
            z = cls.feed_forward(y, w)
            R.output(z)
        return z

    @R.function(private=True)
    def layer(x: R.Tensor(("n", WIDTH), "float32"), w: WEIGHTS) -> R.Tensor(
        ("n", WIDTH), "float32"
    ):
        n = T.int64()
        cls = Llama
        with R.dataflow():
            qkv = R.reshape(R.matmul(R.nn.rms_norm(x, w[0], axes=[-1]), w[1]), (n, FUSED, DIM))
            parts = R.split(qkv, [HEADS, HEADS + GROUPS], axis=1)
            q = R.permute_dims(cls.turned(parts[0]), (1, 0, 2))
            k = R.repeat(R.permute_dims(cls.turned(parts[1]), (1, 2, 0)), REPEATED, axis=0)
            v = R.repeat(R.permute_dims(parts[2], (1, 0, 2)), REPEATED, axis=0)
            scores = R.multiply(R.matmul(q, k), R.const(SCALE, "float32"))
            seen = R.tril(R.ones((n, n), "bool"))
            masked = R.where(seen, scores, R.const(-1e9, "float32"))
            mixed = R.permute_dims(R.matmul(R.nn.softmax(masked, axis=-1), v), (1, 0, 2))
            y = R.add(x, R.matmul(R.reshape(mixed, (n, WIDTH)), w[2]))
            z = cls.feed_forward(y, w)
            R.output(z)
        return z

    @R.function(private=True)
    def turned(
        x: R.Tensor(("n", "some", DIM), "float32"),
    ) -> R.Tensor(("n", "some", DIM), "float32"):
        n = T.int64()
        with R.dataflow():
            places = R.astype(R.reshape(R.arange(0, n, 1, "int64"), (n, 1, 1)), "float32")
            angles = R.multiply(places, R.const(FREQUENCIES, "float32"))
            halves = R.split(x, 2, axis=2)
            low, high = halves[0], halves[1]
            result = R.concat(
                [
                    R.subtract(R.multiply(low, R.cos(angles)), R.multiply(high, R.sin(angles))),
                    R.add(R.multiply(high, R.cos(angles)), R.multiply(low, R.sin(angles))),
                ],
                axis=2,
            )
            R.output(result)
        return result

    @R.function(private=True)
    def feed_forward(x: R.Tensor(("n", WIDTH), "float32"), w: WEIGHTS) -> R.Tensor(
        ("n", WIDTH), "float32"
    ):
        with R.dataflow():
            normed = R.nn.rms_norm(x, w[3], axes=[-1])
            gated = R.multiply(R.nn.silu(R.matmul(normed, w[4])), R.matmul(normed, w[5]))
            result = R.add(x, R.matmul(gated, w[6]))
            R.output(result)
        return result

"""A block of a transformer: attention with a causal mask, and a feed-forward network."""

from __future__ import annotations

import math

from relaxscript.ir import IRModule
from relaxscript.script import ir as I, relax as R, tir as T

__all__ = ["transformer"]


def transformer(width: int, heads: int, sequence: int) -> IRModule:
    """The block, for a batch of any size."""
    head, hidden, factor = width // heads, 4 * width, 1 / math.sqrt(width // heads)

    @I.ir_module
    class Transformer:
        @R.function
        def main(
            x: R.Tensor(("batch", sequence, width), "float32"),
            gamma1: R.Tensor((width,), "float32"),
            beta1: R.Tensor((width,), "float32"),
            w_qkv: R.Tensor((width, 3 * width), "float32"),
            b_qkv: R.Tensor((3 * width,), "float32"),
            w_out: R.Tensor((width, width), "float32"),
            gamma2: R.Tensor((width,), "float32"),
            beta2: R.Tensor((width,), "float32"),
            w_up: R.Tensor((width, hidden), "float32"),
            b_up: R.Tensor((hidden,), "float32"),
            w_down: R.Tensor((hidden, width), "float32"),
            b_down: R.Tensor((width,), "float32"),
        ) -> R.Tensor(("batch", sequence, width), "float32"):
            batch = T.int64()
            cls = Transformer
            with R.dataflow():
                normed = R.nn.layer_norm(x, gamma1, beta1, axes=[-1])
                qkv = R.split(R.matmul(normed, w_qkv) + b_qkv, 3, axis=-1)
                q = cls.part(qkv[0])
                k = cls.part(qkv[1])
                v = cls.part(qkv[2])
                scores = R.matmul(q, R.permute_dims(k, (0, 1, 3, 2)))
                scaled = R.multiply(scores, R.const(factor, "float32"))
                seen = R.tril(R.ones((sequence, sequence), "bool"))
                masked = R.where(seen, scaled, R.const(-1e9, "float32"))
                mixed = R.matmul(R.nn.softmax(masked, axis=-1), v)
                merged = R.permute_dims(mixed, (0, 2, 1, 3))
                attended = R.matmul(R.reshape(merged, (batch, sequence, width)), w_out)
                middle = R.add(x, attended)
                again = R.nn.layer_norm(middle, gamma2, beta2, axes=[-1])
                up = R.nn.gelu(R.matmul(again, w_up) + b_up)
                result = R.add(middle, R.matmul(up, w_down) + b_down)
                R.output(result)
            return result

        @R.function(private=True)
        def part(
            x: R.Tensor(("rows", sequence, width), "float32"),
        ) -> R.Tensor(("rows", heads, sequence, head), "float32"):
            rows = T.int64()
            apart = R.reshape(x, (rows, sequence, heads, head))
            return R.permute_dims(apart, (0, 2, 1, 3))

    return Transformer

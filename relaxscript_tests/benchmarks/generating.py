"""Generating with a cache: what a decode step costs beside the numpy that it is made of.

A program of twelve layers, each of which hands eight heads of queries and two of keys to the cache.
By hand a layer turns and keeps the same heads and computes the same attention. The yardstick of
the difference is `np.add` of 64 floats.
"""

from __future__ import annotations

import numpy as np

import relaxscript as rx
from relaxscript.runtime.kv_cache import PagedAttentionKVCache, RopeMode, RotaryEmbedding
from relaxscript.runtime.kv_cache.attention import attend_one
from relaxscript.runtime.kv_cache.rotary import rotate
from relaxscript.script import from_source

from .execution import many
from .timing import least_in_turns

LAYERS, HEADS, GROUPS, DIM, BEFORE = 12, 8, 2, 64, 100
FUSED = HEADS + 2 * GROUPS


def program() -> str:
    lines = ["@I.ir_module", "class Model:", "    @R.function"]
    lines += [f'    def decode(qkv: R.Tensor(("n", {FUSED}, {DIM}), "float32"), cache: R.Object):']
    lines += ["        n = T.int64()", "        with R.dataflow():"]
    for layer in range(LAYERS):
        call = "vm.builtin.attention_kv_cache_attention_with_fused_qkv"
        args = f"(cache, R.prim_value({layer}), R.prim_value(0.125), qkv)"
        out = f'out_sinfo=R.Tensor((n, {HEADS}, {DIM}), "float32")'
        lines.append(f'            o{layer} = R.call_dps_packed("{call}", {args}, {out})')
    last = f"o{LAYERS - 1}"
    return "\n".join([*lines, f"            R.output({last})", f"        return {last}\n"])


def main() -> None:
    cache = PagedAttentionKVCache(
        1, 4096, 512, 16, [0] * LAYERS, HEADS, GROUPS, DIM, rope_mode=RopeMode.NORMAL
    )
    decode = rx.jit(from_source(program()))["decode"]
    rng = np.random.default_rng(0)
    cache.add_sequence(0)
    cache.begin_forward([0], [BEFORE])
    decode(rng.normal(size=(BEFORE, FUSED, DIM)).astype("float32"), cache)
    cache.end_forward()
    cache.begin_forward([0], [1])
    qkv = rng.normal(size=(1, FUSED, DIM)).astype("float32")
    keys, values = (np.zeros((4096, GROUPS, DIM), "float32") for _ in range(2))
    keys[: BEFORE + 1] = values[: BEFORE + 1] = rng.normal(size=(BEFORE + 1, GROUPS, DIM))
    tables = RotaryEmbedding(10000.0, DIM).tables(np.array([BEFORE]))

    def by_hand() -> None:
        for _ in range(LAYERS):
            out = np.zeros((1, HEADS, DIM), "float32")
            turned = rotate(qkv[:, : HEADS + GROUPS], tables)
            keys[BEFORE] = turned[:, HEADS:]
            values[BEFORE] = qkv[:, HEADS + GROUPS :]
            rows = slice(0, BEFORE + 1)
            attend_one(turned[0, :HEADS], keys[rows], values[rows], 0.125, out[0])

    ones = np.ones(64)
    actions = {
        "ours": many(lambda: decode(qkv, cache), 100),
        "theirs": many(by_hand, 100),
        "add": many(lambda: np.add(ones, ones), 10_000),
    }
    taken = least_in_turns(actions, runs=25)
    ours, theirs, add = taken["ours"] * 1e4, taken["theirs"] * 1e4, taken["add"] * 1e2
    more = (ours - theirs) / LAYERS
    print(f"a layer of a decode step {ours / LAYERS:.1f} us, its numpy {theirs / LAYERS:.1f} us")
    print(f"the difference {more:.1f} us = {more / add:.1f} x np.add's {add:.2f} us")


if __name__ == "__main__":
    main()

"""Rotary positions and their scalings, compared with turning complex numbers by angles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxscript.compiler import build, jit
from relaxscript.errors import DiagnosticError
from relaxscript.frontend import nn
from relaxscript.frontend.nn.llm import (
    llama_rope,
    llama_rope_with_position_map,
    rope_freq_yarn,
    switch_rope_freq_func,
)
from relaxscript.ir.module import IRModule

THETA, LENGTH = 100.0, 64
LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": LENGTH,
}  # fmt: skip
YARN = {
    "rope_type": "yarn", "factor": 4.0, "beta_fast": 8, "beta_slow": 1,
    "original_max_position_embeddings": LENGTH,
}  # fmt: skip
LONGROPE = {
    "rope_type": "longrope", "max_position_embeddings": 2 * LENGTH,
    "original_max_position_embeddings": LENGTH,
}  # fmt: skip


def llama3(frequency):
    """By wave lengths: long ones are scaled, short ones kept, those in between are mixed."""
    wave = 2 * math.pi / frequency
    longest, shortest = LENGTH / LLAMA3["low_freq_factor"], LENGTH / LLAMA3["high_freq_factor"]
    if wave > longest:
        return frequency / 8
    if wave < shortest:
        return frequency
    share = (LENGTH / wave - 1) / (4 - 1)
    return (1 - share) * frequency / 8 + share * frequency


def yarn(pair, dim, frequency):
    """By the pairs at which waves turn `beta_fast` and `beta_slow` times in the first length."""
    low, high = (
        dim * math.log(LENGTH / (turns * 2 * math.pi)) / (2 * math.log(THETA)) for turns in (8, 1)
    )
    low, high = max(math.floor(low), 0), min(math.ceil(high), dim - 1)
    slowed = min(max((pair - low) / (high - low), 0), 1)
    return frequency / 4 * slowed + frequency * (1 - slowed)


def turned(heads, positions, dim, scaling=None, scale=1.0, factors=None):
    """The first `dim` elements of heads `(tokens, heads, all)` turned by their positions."""
    kind, half = (scaling or {}).get("rope_type"), dim // 2
    frequencies = [THETA ** (-2 * i / dim) for i in range(half)]
    growth = 1.0
    if kind == "llama3":
        frequencies = [llama3(f) for f in frequencies]
    if kind == "yarn":
        frequencies = [yarn(i, dim, f) for i, f in enumerate(frequencies)]
    if kind == "longrope":
        frequencies = [f / by for f, by in zip(frequencies, factors)]
        growth = math.sqrt(1 + math.log(2) / math.log(LENGTH))
    angles = np.outer(np.asarray(positions) * scale, frequencies)[:, None]
    own, result = heads[..., :dim].astype("float64"), heads.astype("float64")
    pairs = (slice(0, dim, 2), slice(1, dim, 2)) if kind == "gptj" else (
        slice(0, half), slice(half, dim),
    )  # fmt: skip
    complex_ = (own[..., pairs[0]] + 1j * own[..., pairs[1]]) * np.exp(1j * angles) * growth
    result[..., pairs[0]], result[..., pairs[1]] = complex_.real, complex_.imag
    return result


def run_kernel(kernel, *args):
    name = "main"
    build(IRModule({name: kernel.with_attr("global_symbol", name)}))[name](*args)


@pytest.mark.parametrize("rotary_dim", [None, 6])
@pytest.mark.parametrize(
    "scaling", [None, {"rope_type": "gptj"}, LLAMA3, YARN, LONGROPE],
    ids=lambda scaling: (scaling or {}).get("rope_type", "default"),
)  # fmt: skip
def test_kernels_turn_queries_and_keys_and_leave_values(scaling, rotary_dim, rng):
    kernel = llama_rope_with_position_map(THETA, 0.5, 8, 3, 2, "float32", scaling, rotary_dim)
    dim = rotary_dim or 8
    qkv = rng.normal(size=(4, 7, 8)).astype("float32")
    positions = np.array([0, 3, 50, 90], "int32")
    parts = [np.empty((4, n, 8), "float32") for n in (3, 2, 2)]
    factors = rng.uniform(1, 4, dim // 2).astype("float32")
    run_kernel(kernel, qkv, positions, *parts, factors if scaling is LONGROPE else 1)
    want = turned(qkv[:, :5], positions, dim, scaling, 0.5, factors)
    np.testing.assert_allclose(np.concatenate(parts[:2], 1), want, rtol=2e-4, atol=2e-4)
    np.testing.assert_array_equal(parts[2], qkv[:, 5:])


def test_kernels_turn_nothing_where_they_are_told_so(rng):
    kernel = llama_rope_with_position_map(THETA, 1.0, 4, 1, 1, "float16", None)
    qkv = rng.normal(size=(2, 3, 4)).astype("float16")
    parts = [np.empty((2, 1, 4), "float16") for _ in range(3)]
    run_kernel(kernel, qkv, np.array([1, 2], "int32"), *parts, 0)
    np.testing.assert_array_equal(np.concatenate(parts, 1), qkv)


def test_equal_factors_of_llama3_scale_long_waves_only(rng):
    scaling = {**LLAMA3, "high_freq_factor": 1.0}
    kernel = llama_rope_with_position_map(THETA, 1.0, 8, 1, 1, "float32", scaling)
    qkv = rng.normal(size=(1, 3, 8)).astype("float32")
    parts = [np.empty((1, 1, 8), "float32") for _ in range(3)]
    run_kernel(kernel, qkv, np.array([5], "int32"), *parts, 1)
    frequencies = [THETA ** (-i / 4) for i in range(4)]
    frequencies = [f / 8 if 2 * math.pi / f > LENGTH else f for f in frequencies]
    assert frequencies[3] < THETA ** (-3 / 4)
    want = (qkv[0, 0, :4] + 1j * qkv[0, 0, 4:]) * np.exp(5j * np.array(frequencies))
    np.testing.assert_allclose(parts[0][0, 0, :4], want.real, rtol=1e-4, atol=1e-5)


class Rope(nn.Module):
    def __init__(self, heads=2):
        self.heads = heads

    def forward(self, qkv: nn.Tensor, total: int):
        return llama_rope(qkv, total, THETA, 1.0, self.heads, 1, {"rope_type": "gptj"})


SPEC = {"forward": {"qkv": nn.spec.Tensor(("batch", "n", 4, 8), "float32"), "total": int}}


def test_a_fused_tensor_is_split_and_turned_up_to_its_last_position(rng):
    mod, _ = Rope().export_tvm(spec=SPEC)
    vm = jit(mod)
    qkv = rng.normal(size=(2, 3, 4, 8)).astype("float32")
    q, k, v = vm["forward"](qkv, (10,))
    for row in range(2):
        want = turned(qkv[row, :, :3], [7, 8, 9], 8, {"rope_type": "gptj"})
        np.testing.assert_allclose(np.concatenate([q, k], 2)[row], want, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(v, qkv[:, :, 3:])


def refused(match, call, *args):
    with pytest.raises(DiagnosticError, match=match) as caught:
        call(*args)
    assert caught.value.diagnostics[0].code == "RX0711"


def test_scalings_that_there_are_not_or_that_lack_something_are_refused():
    assert switch_rope_freq_func(YARN).func is rope_freq_yarn
    refused("there is no scaling of rope of the type 'lama3'", switch_rope_freq_func,
            {"rope_type": "lama3"})  # fmt: skip
    lacking = {"rope_type": "yarn", "original_max_position_embeddings": 1, "beta_fast": 2}
    text = 'the scaling "yarn" of rope lacks `factor`, `beta_slow`'
    refused(text, switch_rope_freq_func, lacking)


def test_shapes_that_cannot_be_turned_are_refused():
    make = llama_rope_with_position_map
    refused(
        "3 elements of a head of 8 cannot be turned in", make, 1e4, 1, 8, 1, 1, "float32", None, 3
    )
    refused("10 elements of a head of 8 cannot", make, 1e4, 1, 8, 1, 1, "float32", None, 10)
    model = Rope(heads=3)
    refused(r"`qkv` is \(batch, seq_len, 5, head_dim\), got ", lambda: model.export_tvm(spec=SPEC))
    given = nn.Tensor.placeholder((1, 2, 4, 8), "float32")
    refused(
        "`llama_rope` is called outside of an export", llama_rope, given, 2, 1e4, 1.0, 2, 1, None
    )

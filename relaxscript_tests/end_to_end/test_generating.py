"""A language model that generates with a cache gives what it gives without one."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import jit
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure
from relaxscript_tests.end_to_end.models.llama import (
    GROUPS,
    HEADS,
    HIDDEN,
    LAYERS,
    VOCAB,
    WIDTH,
    Llama,
)
from relaxscript_tests.end_to_end.models.llama_module import export_llama


@pytest.fixture(scope="module")
def weights():
    rng = np.random.default_rng(7)

    def some(*shape):
        if len(shape) == 1:
            return rng.uniform(0.5, 1.5, shape).astype("float32")
        return (rng.normal(size=shape) / np.sqrt(shape[0])).astype("float32")

    dim = WIDTH // HEADS
    fused = (HEADS + 2 * GROUPS) * dim
    layers = [
        (some(WIDTH), some(WIDTH, fused), some(WIDTH, WIDTH), some(WIDTH), some(WIDTH, HIDDEN),
         some(WIDTH, HIDDEN), some(HIDDEN, WIDTH))
        for _ in range(LAYERS)
    ]  # fmt: skip
    return ((some(VOCAB, WIDTH) * 5, some(WIDTH), some(WIDTH, VOCAB)), *layers)


def forward(vm, cache, weights, batch):
    """The logits of a batch: new tokens by the number of their sequence."""
    cache.begin_forward(list(batch), [len(tokens) for tokens in batch.values()])
    tokens = np.concatenate(list(batch.values())).astype("int32")
    logits = vm.generate(tokens, cache, *weights)
    cache.end_forward()
    ends = np.cumsum([len(tokens) for tokens in batch.values()])
    return dict(zip(batch, np.split(logits, ends[:-1]), strict=True))


@every_executor
def test_each_token_is_that_of_the_model_without_a_cache(load, weights):
    vm = load(Llama)
    prompts = {3: [5, 9, 2, 30, 11], 8: [17, 1]}
    cache = vm.create((4, 64, 16, 4))
    for seq_id in prompts:
        cache.add_sequence(seq_id)
    logits = forward(vm, cache, weights, prompts)
    texts = {seq_id: list(prompt) for seq_id, prompt in prompts.items()}
    for _ in range(6):
        for seq_id, text in texts.items():
            want = vm.whole(np.array(text, "int32"), *weights)
            np.testing.assert_allclose(logits[seq_id][-1], want[-1], rtol=2e-4, atol=2e-4)
            assert logits[seq_id][-1].argmax() == want[-1].argmax()
            text.append(int(want[-1].argmax()))
        logits = forward(vm, cache, weights, {i: text[-1:] for i, text in texts.items()})
    assert len({*texts[3][5:], *texts[8][2:]}) > 2  # not one token over and over


def test_prefill_and_decode_share_a_batch_and_forks_go_on_from_their_parents(weights):
    vm = jit(Llama)
    cache = vm.create((4, 64, 16, 4))
    cache.add_sequence(0)
    text = [4, 8, 15, 16, 23]
    forward(vm, cache, weights, {0: text})
    cache.fork_sequence(0, 1)
    cache.fork_sequence(0, 2, 3)
    cache.add_sequence(3)
    more = {0: [7], 1: [31], 2: [39, 38], 3: [6, 6, 6]}
    logits = forward(vm, cache, weights, more)
    whole = {0: [*text, 7], 1: [*text, 31], 2: [*text[:3], 39, 38], 3: [6, 6, 6]}
    for seq_id, tokens in whole.items():
        want = vm.whole(np.array(tokens, "int32"), *weights)[-len(more[seq_id]) :]
        np.testing.assert_allclose(logits[seq_id], want, rtol=2e-4, atol=2e-4)
    cache.popn(1, 2)
    again = forward(vm, cache, weights, {1: text[-1:]})[1]
    want = vm.whole(np.array(text, "int32"), *weights)[-1:]
    np.testing.assert_allclose(again, want, rtol=2e-4, atol=2e-4)


@every_executor
def test_a_forward_for_another_number_of_tokens_fails_at_the_line_of_the_model(load, weights):
    vm = load(Llama)
    cache = vm.create((4, 64, 16, 4))
    cache.add_sequence(0)
    cache.begin_forward([0], [3])
    error = failure(lambda: vm.generate(np.array([1, 2], "int32"), cache, *weights))
    assert "`qkv` is a tensor of shape (3, 10, 4) and dtype float32" in str(error)
    assert "mixed = R.call_dps_packed(" in str(error)


def parameters(weights):
    """The same weights by the names of the module; those of `Linear` are transposed."""
    (embedding, norm, head), *layers = weights
    named = {"embedding": embedding, "norm.weight": norm, "head.weight": head.T}
    for index, (first, qkv, out, second, gate, up, down) in enumerate(layers):
        linear = {
            "attention.qkv": qkv, "attention.out": out, "feed_forward.gate": gate,
            "feed_forward.up": up, "feed_forward.down": down,
        }  # fmt: skip
        own = {"norm": first, "second_norm": second, **{n: w.T for n, w in linear.items()}}
        named |= {f"layers.{index}.{name}.weight": value for name, value in own.items()}
    return named


def test_a_module_that_owns_its_weights_generates_the_same(weights):
    mod, named = export_llama()
    given = parameters(weights)
    values = [np.ascontiguousarray(given[name]) for name, _ in named]
    vm, plain = jit(mod), jit(Llama)
    cache = vm["create"]((2,), (32,), (8,), (4,))
    for seq_id in (0, 1):
        cache.add_sequence(seq_id)
    text, more = [3, 14, 15, 9, 26, 5, 35], []
    for first, last in ((0, 4), (4, 5), (5, 6), (6, 7)):
        cache.begin_forward([0, 1], [last - first] * 2)  # the second has the text twice over
        tokens = np.array([text[first:last] * 2], "int32")
        more.append(vm["forward"](tokens, cache, *values)[0].reshape(2, last - first, -1))
        cache.end_forward()
    want = plain.whole(np.array(text, "int32"), *weights)
    for row in np.concatenate(more, 1):
        np.testing.assert_allclose(row, want, rtol=2e-4, atol=2e-4)


@I.ir_module
class Growing:
    """The simple cache as `nn.KVCache` writes it: an object that goes in and out."""

    @R.function
    def init() -> R.Object:
        with R.dataflow():
            cache: R.Object = R.call_pure_packed(
                "vm.builtin.attention_kv_cache_create",
                R.zeros((2, 2), "float32"), R.shape([2, 2]), R.prim_value(0),
                sinfo_args=[R.Object],
            )  # fmt: skip
            R.output(cache)
        return cache

    @R.function
    def main(x: R.Tensor((1, 2), "float32"), total: R.Shape(["m"]), cache: R.Object) -> R.Tuple(
        R.Tensor(("m", 2), "float32"), R.Object
    ):
        m = T.int64()
        with R.dataflow():
            longer: R.Object = R.call_inplace_packed(
                "vm.builtin.attention_kv_cache_append", cache, x, inplace_indices=[0],
                sinfo_args=[R.Object],
            )  # fmt: skip
            rows = R.call_pure_packed(
                "vm.builtin.attention_kv_cache_view", longer, R.shape([m, 2]),
                sinfo_args=[R.Tensor((m, 2), "float32")],
            )  # fmt: skip
            result = R.add(R.add(rows, rows), rows)
            R.output(result, longer)
        return (result, longer)


@every_executor
def test_a_simple_cache_goes_in_and_out_and_keeps_what_it_holds(load):
    vm = load(Growing)
    cache, seen = vm.init(), []
    for number in range(1, 8):
        x = np.full((1, 2), number, "float32")
        rows, cache = vm.main(x, (number,), cache)
        seen.append(rows)
    assert [len(rows) for rows in seen] == list(range(1, 8))
    assert rows[:, 0].tolist() == [3, 6, 9, 12, 15, 18, 21]
    error = failure(lambda: vm.main(x, (3,), cache))
    assert "`view`: the cache has shape (8, 2), not (3, 2)" in str(error)

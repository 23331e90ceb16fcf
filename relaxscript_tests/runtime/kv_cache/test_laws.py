"""Random operations on a paged cache do what they do on a dictionary of arrays."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.kv_cache import AttnKind, PagedAttentionKVCache, RopeMode
from relaxscript_tests import examples
from relaxscript_tests.runtime.kv_cache.slow_cache import SlowCache, SlowSequence

IDS = 5
LARGEST_BATCH, CHUNK = 3, 9


class Pair:
    """A cache and its slow model, to which the same is done."""

    def __init__(self, rng):
        self.rng = rng
        size, pages = int(rng.integers(1, 5)), int(rng.integers(4, 14))
        self.groups, repeat = (int(n) for n in rng.integers(1, 4, 2))
        self.heads, self.dim = self.groups * repeat, 2 * int(rng.integers(1, 4))
        self.kinds = [AttnKind.MHA, [AttnKind.MHA, AttnKind.MHA_SLIDING][rng.integers(2)]]
        windowed = [AttnKind.MHA_SLIDING not in self.kinds, True]
        self.mode = RopeMode(int(rng.integers(3)))
        self.dtype = ["float32", "float64", "float16"][rng.integers(3)]
        self.cache = PagedAttentionKVCache(
            LARGEST_BATCH, size * pages, CHUNK, size, self.kinds, self.heads, self.groups,
            self.dim, dtype=self.dtype, support_sliding_window=True, rope_mode=self.mode,
        )  # fmt: skip
        self.slow = SlowCache(pages, size, self.groups, self.mode != RopeMode.NONE, windowed)
        self.scale = 1 / self.dim**0.5

    def refused(self, operation, *args):
        """The operation is refused and nothing has changed."""
        before = self.counts()
        with pytest.raises(VMError) as caught:
            operation(*args)
        assert caught.value.code == "RX0606"
        assert self.counts() == before

    def counts(self):
        cache = self.cache
        return cache.get_num_available_pages(), cache.get_total_sequence_length(), cache.empty()

    def agree(self):
        slow = self.slow
        assert self.counts() == (slow.available(), slow.total(), not slow.sequences)

    # each operation does the same to both, or finds it refused

    def add(self):
        seq_id = int(self.rng.integers(IDS))
        if seq_id in self.slow.sequences:
            return self.refused(self.cache.add_sequence, seq_id)
        self.cache.add_sequence(seq_id)
        self.slow.sequences[seq_id] = SlowSequence()

    def remove(self):
        seq_id = int(self.rng.integers(IDS))
        if seq_id not in self.slow.sequences:
            return self.refused(self.cache.remove_sequence, seq_id)
        self.cache.remove_sequence(seq_id)
        del self.slow.sequences[seq_id]

    def fork(self):
        parent, child = (int(n) for n in self.rng.integers(IDS, size=2))
        position = int(self.rng.integers(-1, 12))
        found = self.slow.sequences.get(parent)
        if found is None or child in self.slow.sequences or position > len(found.tokens):
            return self.refused(self.cache.fork_sequence, parent, child, position)
        at = len(found.tokens) if position == -1 else position
        if found.parents is not None or found.lacks(at):
            return self.refused(self.cache.fork_sequence, parent, child, position)
        self.cache.fork_sequence(parent, child, position)
        self.slow.fork(parent, child, at)

    def popn(self):
        seq_id, n = int(self.rng.integers(IDS)), int(self.rng.integers(6))
        found = self.slow.sequences.get(seq_id)
        if found is None or n > len(found.tokens) or found.parents is not None:
            return self.refused(self.cache.popn, seq_id, n)
        if found.lacks(len(found.tokens) - n):
            return self.refused(self.cache.popn, seq_id, n)
        self.cache.popn(seq_id, n)
        self.slow.truncate(found, len(found.tokens) - n)

    def window(self):
        seq_id = int(self.rng.integers(IDS))
        size, sinks = int(self.rng.integers(1, 8)), int(self.rng.integers(4))
        found = self.slow.sequences.get(seq_id)
        if found is None or found.window or sinks >= size or found.parents is not None:
            return self.refused(self.cache.enable_sliding_window_for_seq, seq_id, size, sinks)
        self.cache.enable_sliding_window_for_seq(seq_id, size, sinks)
        found.window = (size, sinks)
        self.slow.slide(seq_id)

    def commit(self):
        trees = [i for i, s in self.slow.sequences.items() if s.parents is not None]
        for seq_id in trees:
            found = self.slow.sequences[seq_id]
            leaf = int(self.rng.integers(-1, len(found.parents)))
            self.cache.commit_accepted_token_tree_nodes([seq_id], [leaf])
            path = []
            while leaf >= 0:
                path.append(leaf)
                leaf = found.parents[leaf]
            kept = [found.tokens[found.start + node] for node in reversed(path)]
            found.tokens[found.start :] = kept
            found.parents = None
            self.slow.truncate(found, len(found.tokens))

    def forward(self):
        known = [i for i, s in self.slow.sequences.items() if s.parents is None]
        if not known:
            return
        count = int(self.rng.integers(1, min(LARGEST_BATCH, len(known)) + 1))
        ids = [int(i) for i in self.rng.permutation(known)[:count]]
        counts = [int(n) for n in self.rng.integers(1, 4, count)]
        if self.rng.random() < 0.3:
            counts = [1] * count  # decoding
        trees = [self.tree(i, n) for i, n in zip(ids, counts)]
        parents = [p for tree in trees for p in tree]
        if not self.slow.reserve(ids, counts):
            return self.refused(self.cache.begin_forward, ids, counts, parents)
        self.cache.begin_forward(ids, counts, parents)
        self.refused(self.cache.begin_forward, ids, counts)
        self.refused(self.cache.add_sequence, IDS)
        self.run(ids, counts, trees)
        self.cache.end_forward()
        for seq_id in ids:
            self.slow.slide(seq_id)

    def tree(self, seq_id, count):
        chain = list(range(-1, count - 1))
        if self.rng.random() < 0.8 or self.slow.sequences[seq_id].window:
            return chain
        return [int(self.rng.integers(-1, node)) for node in range(count)]

    def run(self, ids, counts, trees):
        """All layers, each compared with the definition."""
        total, shape = sum(counts), (sum(counts), self.heads + 2 * self.groups, self.dim)
        given = [self.rng.normal(size=shape).astype(self.dtype) for _ in self.kinds]
        rows, positions = [], []
        for seq_id, count, tree in zip(ids, counts, trees):
            found = self.slow.sequences[seq_id]
            start = len(found.tokens)
            found.start, found.parents = start, None
            if tree != list(range(-1, count - 1)):
                found.parents = tree
            depths = []
            for node, parent in enumerate(tree):
                depths.append(0 if parent < 0 else depths[parent] + 1)
                row = len(rows)
                own = [(x[row, self.heads : -self.groups], x[row, -self.groups :]) for x in given]
                self.slow.append(seq_id, start + depths[-1], own)
                rows.append((seq_id, start + node))
                positions.append(start + depths[-1])
        assert self.cache.get_query_positions().tolist() == positions
        rough = self.dtype == "float16"
        for layer, qkv in enumerate(given):
            out = np.full((total, self.heads, self.dim), np.nan, self.dtype)
            self.cache.attention_with_fused_qkv(layer, self.scale, qkv.copy(), out)
            for row, (seq_id, index) in enumerate(rows):
                query = qkv[row, : self.heads]
                want = self.slow.attention(seq_id, index, layer, query, self.scale)
                np.testing.assert_allclose(
                    out[row], want, *((2e-2, 2e-2) if rough else (1e-4, 1e-5))
                )


@pytest.mark.slow
def test_random_operations_agree_with_a_dictionary_of_arrays(rng):
    for _ in range(examples(600)):
        pair = Pair(rng)
        operations = [pair.add] * 3 + [pair.forward] * 5 + [pair.fork] * 2
        operations += [pair.popn, pair.remove, pair.window, pair.commit]
        for _ in range(25):
            operations[rng.integers(len(operations))]()
            pair.agree()
        pair.cache.clear()
        pair.slow.sequences.clear()
        pair.agree()


def test_what_the_cache_holds_is_what_was_given(rng):
    for _ in range(examples(300)):
        pair = Pair(rng)
        if pair.mode is RopeMode.NORMAL:
            continue
        for _ in range(12):
            [pair.add, pair.forward, pair.fork, pair.popn, pair.commit][rng.integers(5)]()
        for seq_id, found in pair.slow.sequences.items():
            length = len(found.tokens)
            first = int(rng.integers(length + 1))
            last = int(rng.integers(first, length + 1))
            shape = (2, last - first, pair.groups, pair.dim)
            k, v = np.empty(shape, pair.dtype), np.empty(shape, pair.dtype)
            pair.cache.debug_get_kv(seq_id, first, last, k, v)
            for j in range(first, last):
                for layer, (key, value) in enumerate(found.tokens[j][1]):
                    assert (k[layer, j - first] == key).all()
                    assert (v[layer, j - first] == value).all()


def test_a_forward_that_is_not_finished_is_taken_back(rng):
    for _ in range(examples(200)):
        pair = Pair(rng)
        for _ in range(8):
            [pair.add, pair.forward, pair.fork, pair.commit][rng.integers(4)]()
        pair.commit()
        before, slow = pair.counts(), copy.deepcopy(list(pair.slow.sequences))
        if not slow or not pair.slow.reserve(slow[:1], [3]):
            continue
        pair.cache.begin_forward(slow[:1], [3])
        qkv = np.ones((3, pair.heads + 2 * pair.groups, pair.dim), pair.dtype)
        pair.cache.attention_with_fused_qkv(1, 1.0, qkv, np.empty_like(qkv[:, : pair.heads]))
        with pytest.raises(VMError, match="layer 0 got no keys and values of the tokens of seq"):
            pair.cache.end_forward()
        after = pair.counts()
        copied = before[0] - after[0]  # a page that was shared may be the sequence's own now
        assert after[1:] == before[1:]
        assert copied in (0, 1)

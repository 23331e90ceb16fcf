"""A cache as its definition has it: a dictionary of the keys and values of each token, in loops.

It knows pages as objects without content, so that it can count them.
"""

from __future__ import annotations

import math

import numpy as np


class SlowSequence:
    def __init__(self):
        self.tokens = []  # for each, its position and, by layer, its key and value
        self.pages = []
        self.window = None
        self.gone = set()
        self.parents = None
        self.start = 0

    def sees(self, query, token, windowed=True):
        """True if the token at one index sees that at another."""
        if self.parents is not None and query >= self.start and token >= self.start:
            node = query - self.start
            while node >= 0 and node != token - self.start:
                node = self.parents[node]
            return node >= 0
        if token > query:
            return False
        if self.window is None or not windowed:
            return True
        size, sinks = self.window
        return token < sinks or token > query - (size - sinks)

    def lacks(self, length):
        """True if a token behind `length` others would see one that is gone."""
        return any(j < length and self.sees(length, j) for j in self.gone)


class SlowCache:
    def __init__(self, pages, size, groups, rope, windowed, theta=10000.0):
        self.free_pages, self.size, self.groups = pages, size, groups
        self.rope, self.windowed, self.theta = rope, windowed, theta
        self.sequences = {}

    def available(self):
        used = {id(p) for s in self.sequences.values() for p in s.pages if p is not None}
        return self.free_pages - len(used)

    def total(self):
        return sum(len(s.tokens) - len(s.gone) for s in self.sequences.values())

    def truncate(self, sequence, length):
        del sequence.tokens[length:]
        del sequence.pages[-(-length // self.size) :]
        sequence.gone = {j for j in sequence.gone if j < length}

    def fork(self, parent, child, position):
        old, new = self.sequences[parent], SlowSequence()
        new.tokens = old.tokens[:position]
        new.pages = old.pages[: -(-position // self.size)]
        new.gone = {j for j in old.gone if j < position}
        new.window = old.window
        self.sequences[child] = new

    def reserve(self, ids, counts):
        """Append nameless tokens; false, and nothing done, where pages do not suffice."""
        before = {i: list(self.sequences[i].pages) for i in ids}
        lengths = [len(self.sequences[i].tokens) for i in ids]
        for seq_id, count, length in zip(ids, counts, lengths):
            pages = self.sequences[seq_id].pages
            others = [s for i, s in self.sequences.items() if i != seq_id]
            if length % self.size and any(pages[-1] in s.pages for s in others):
                pages[-1] = object()
            while len(pages) * self.size < length + count:
                pages.append(object())
        if self.available() < 0:
            for seq_id in ids:
                self.sequences[seq_id].pages = before[seq_id]
            return False
        return True

    def append(self, seq_id, position, parts):
        self.sequences[seq_id].tokens.append((position, parts))

    def slide(self, seq_id):
        """Note which pages no later token sees, where windows hold in every layer."""
        s = self.sequences[seq_id]
        if s.window is None or not all(self.windowed):
            return
        for page in range(len(s.pages)):
            inside = range(page * self.size, (page + 1) * self.size)
            if inside.stop <= len(s.tokens) and not any(s.sees(len(s.tokens), j) for j in inside):
                s.gone.update(inside)
                s.pages[page] = None

    def turned(self, heads, position):
        if not self.rope:
            return heads
        half = heads.shape[-1] // 2
        angles = position / self.theta ** (np.arange(half) / half)
        turned = (heads[:, :half] + 1j * heads[:, half:]) * np.exp(1j * angles)
        return np.concatenate([turned.real, turned.imag], axis=1)

    def attention(self, seq_id, index, layer, query, scale):
        """The attention of the token at `index`, head by head."""
        s = self.sequences[seq_id]
        seen = [j for j in range(len(s.tokens)) if s.sees(index, j, self.windowed[layer])]
        assert not s.gone & set(seen)
        query = self.turned(query.astype("float64"), s.tokens[index][0])
        out = []
        for head, q in enumerate(query):
            group = head // (len(query) // self.groups)
            weights, values = [], []
            for j in seen:
                position, parts = s.tokens[j]
                key, value = parts[layer]
                key = self.turned(key.astype("float64"), position)
                weights.append(math.exp(float(q @ key[group]) * scale))
                values.append(value[group].astype("float64"))
            out.append(np.average(values, axis=0, weights=weights))
        return np.array(out)

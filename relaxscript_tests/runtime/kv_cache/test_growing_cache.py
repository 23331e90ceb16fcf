"""The simple cache: rows that are appended, and windows of them."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.kv_cache import AttentionKVCache
from relaxscript_tests import examples


def rows(*numbers):
    return np.array(numbers, "float32")[:, None].repeat(2, 1)


def numbers(cache):
    return cache.view()[:, 0].tolist()


def test_rows_are_appended_beyond_what_was_reserved():
    cache = AttentionKVCache(rows(1), (2, 2))
    cache.append(rows(2, 3, 4, 5))
    assert numbers(cache) == [1, 2, 3, 4, 5]
    assert repr(cache) == "<KV cache of shape (5, 2) and dtype float32>"
    cache.update(rows(6, 7, 8, 9, 0))
    cache.popn(2)
    assert cache.view((3, 2))[:, 0].tolist() == [6, 7, 8]
    cache.clear()
    assert numbers(cache) == []


def test_some_of_the_first_rows_may_count_only():
    assert numbers(AttentionKVCache(rows(1, 2), (4, 2), 0)) == []
    assert numbers(AttentionKVCache(rows(1, 2), (0, 2), 1)) == [1]


def test_a_window_keeps_the_last_rows_and_its_sinks(rng):
    for _ in range(examples(500)):
        size = int(rng.integers(1, 6))
        sinks = int(rng.integers(size))
        cache, given, count = AttentionKVCache(rows(0), (1, 2), 0), [], 0
        for _ in range(6):
            more = int(rng.integers(0, size - sinks + 1))
            new = list(range(count, count + more))
            count += more
            cache.window_override(rows(*new) if new else np.empty((0, 2), "float32"), size, sinks)
            given += new
            rest = given[sinks:]
            want = given[:sinks] + rest[max(0, len(rest) - (size - sinks)) :]
            assert sorted(numbers(cache)) == want


def test_what_does_not_fit_is_refused():
    cache = AttentionKVCache(rows(1, 2), (2, 2))
    for match, operation in {
        r"rows of shape \(_, 2\) and dtype float32 are in the cache, got a tensor of shape \(1,":
            lambda: cache.append(np.ones((1, 3), "float32")),
        "dtype float64": lambda: cache.append(rows(1).astype("float64")),
        "the cache has 2 rows, got 1": lambda: cache.update(rows(1)),
        r"the cache has shape \(2, 2\), not \(3, 2\)": lambda: cache.view((3, 2)),
        "the cache has 2 rows, of which 3 cannot go": lambda: cache.popn(3),
        "a window of 3 rows cannot have 3 sinks": lambda: cache.window_override(rows(1), 3, 3),
        "the cache has 2 rows, and a window of 1": lambda: cache.window_override(rows(1), 1),
        "5 rows do not fit a window of 3 with 1":
            lambda: cache.window_override(rows(1, 2, 3, 4, 5), 3, 1),
        r"`init_data` has shape \(1, 2\), and \(2, 3\) is reserved":
            lambda: AttentionKVCache(rows(1), (2, 3)),
        "an axis to grow along, got a float": lambda: AttentionKVCache(1.0, (2, 3)),
        r"9 rows cannot be filled of \(2, 2\)": lambda: AttentionKVCache(rows(1), (2, 2), 9),
        "cannot allocate a cache": lambda: AttentionKVCache(rows(1), (1 << 60, 2)),
    }.items():  # fmt: skip
        with pytest.raises(VMError, match=match):
            operation()
        assert numbers(cache) == [1, 2]
    cache.window_override(rows(3), 2)
    with pytest.raises(VMError, match="the last rows of a window that has slid are not known"):
        cache.popn(1)

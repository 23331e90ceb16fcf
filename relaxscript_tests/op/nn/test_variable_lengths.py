"""Attention over sequences of several lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import obliged, ranked, refused, result, tensor

attend = R.nn.attention_var_len


def test_each_sequence_attends_to_itself(rng: np.random.Generator) -> None:
    q, k = (rng.standard_normal((1, 8, 2, 4)) for _ in range(2))
    v = rng.standard_normal((1, 8, 2, 3))
    starts, longest = np.array([0, 3, 3, 7]), np.array(4)
    for settings in ({}, {"scale": 0.5, "causal_mask": "TopLeft"}):
        found = attend(q, k, v, starts, longest, **settings)
        for first, last in ((0, 3), (3, 7)):
            some = (slice(None), slice(first, last))
            wanted = R.nn.attention(q[some], k[some], v[some], **settings)
            np.testing.assert_array_equal(found[some], wanted)
        assert not found[:, 7:].any()


def test_keys_may_have_lengths_of_their_own(rng: np.random.Generator) -> None:
    q, k = rng.standard_normal((1, 3, 1, 2)), rng.standard_normal((1, 5, 1, 2))
    found = attend(q, k, k, np.array([0, 1, 3]), np.array(2), np.array([0, 4, 5]), np.array(4))
    first = R.nn.attention(q[:, :1], k[:, :4], k[:, :4])
    np.testing.assert_array_equal(found[:, :1], first)
    np.testing.assert_array_equal(found[:, 1:], R.nn.attention(q[:, 1:], k[:, 4:], k[:, 4:]))


@pytest.mark.parametrize("starts", [[0, 3, 2], [-1, 2], [0, 9]])
def test_sequences_are_in_order(starts: list[int]) -> None:
    x = np.zeros((1, 8, 1, 2))
    with pytest.raises(ValueError, match="sequences begin in order and among 8 tokens"):
        attend(x, x, x, np.array(starts), np.array(4))


def test_the_shapes_of_what_attends() -> None:
    x, starts, longest = tensor(1, "n", 2, 4), tensor("b", dtype="int32"), tensor(dtype="int32")
    assert result(attend, x, x, tensor(1, "n", 2, 3), starts, longest) == "(1, n, 2, 3) float32"
    assert result(attend, x, x, ranked(4), starts, longest) == "rank 4 float32"
    assert obliged(attend, x, tensor(1, "m", 2, 4), tensor(1, "m", 2, 4), starts, longest) == [
        "keys: n equal m"
    ]
    given: Any = (x, tensor(1, "m", 2, 4), tensor(1, "m", 2, 4), starts, longest)
    assert obliged(attend, *given, starts) == []
    assert obliged(attend, *given, tensor("c", dtype="int32")) == ["seqstart_k: b equal c"]
    assert refused(attend, tensor(2, "n", 2, 4), x, x, starts, longest).operand == "queries"
    assert refused(attend, tensor(1, "n", 4), x, x, starts, longest).fact == "has shape (1, n, 4)"
    assert refused(attend, x, tensor(1, "n", 2, 5), x, starts, longest).operand == "keys"
    assert refused(attend, x, x, tensor(1, "n", 3, 4), starts, longest).operand == "values"
    assert refused(attend, x, x, x, tensor("b"), longest).code == "RX0202"
    assert refused(attend, x, x, x, tensor(2, 2, dtype="int32"), longest).operand == "seqstart_q"
    wide = tensor(1, 1, dtype="int32")
    assert refused(attend, x, x, x, starts, wide).message == "`max_seqlen_q` is one number"
    assert refused(attend, x, x, x, starts, longest, window_size=3).operand == "window_size"

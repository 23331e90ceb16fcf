"""Attention: against its definition, with masks; shapes; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import obliged, ranked, refused, result, tensor

RNG = np.random.default_rng(3)
Q, K, V = (RNG.normal(size=(2, n, 3, d)) for n, d in ((4, 5), (6, 5), (6, 7)))


def by_definition(bias: Any = 0.0, scale: float = 5**-0.5, seen: Any = True) -> Any:
    scores = np.einsum("bqhd,bkhd->bhqk", Q, K) * scale + bias
    weights = np.exp(np.where(seen, scores, -np.inf))
    weights = weights / weights.sum(-1, keepdims=True)
    return np.einsum("bhqk,bkhd->bqhd", weights, V)


def test_values_are_weighted_by_how_well_keys_answer_queries() -> None:
    np.testing.assert_allclose(R.nn.attention(Q, K, V), by_definition(), rtol=1e-12)
    np.testing.assert_allclose(R.nn.attention(Q, K, V, scale=0.5), by_definition(scale=0.5))
    bias = RNG.normal(size=(2, 1, 4, 6))
    np.testing.assert_allclose(R.nn.attention(Q, K, V, bias), by_definition(bias), rtol=1e-12)


def test_a_causal_mask_hides_keys_that_come_later() -> None:
    start = np.tril(np.ones((4, 6), bool))
    end = np.tril(np.ones((4, 6), bool), 2)
    found = R.nn.attention(Q, K, V, causal_mask="TopLeft")
    np.testing.assert_allclose(found, by_definition(seen=start), rtol=1e-12)
    found = R.nn.attention(Q, K, V, causal_mask="BottomRight")
    np.testing.assert_allclose(found, by_definition(seen=end), rtol=1e-12)
    found = R.nn.attention(Q, K, V, causal_mask="BottomRight", window_size=2)
    window = end & ~np.tril(np.ones((4, 6), bool), 0)
    np.testing.assert_allclose(found, by_definition(seen=window), rtol=1e-12)


def test_a_query_that_sees_no_key_gets_nothing() -> None:
    found = R.nn.attention(K[:, :, :, :5], Q, Q, causal_mask="BottomRight")
    assert not found[:, :2].any()
    assert not np.isnan(found).any()


X = tensor("b", "s", 8, 64)


def test_the_shape_of_attention() -> None:
    keys, values = tensor("b", "t", 8, 64), tensor("b", "t", 8, 32)
    assert result(R.nn.attention, X, keys, values) == "(b, s, 8, 32) float32"
    bias = tensor("b", 1, "s", "t")
    assert result(R.nn.attention, X, keys, values, bias) == "(b, s, 8, 32) float32"
    assert result(R.nn.attention, X, ranked(4), values) == "rank 4 float32"
    assert obliged(R.nn.attention, X, tensor("a", "t", 8, 64), values) == [
        "key: b equal a",
    ]


@pytest.mark.parametrize(
    ("operands", "operand"),
    [
        ((X, tensor("b", "t", 8, 63), tensor("b", "t", 8, 64)), "key"),
        ((X, tensor("b", "t", 7, 64), tensor("b", "t", 8, 64)), "key"),
        ((X, tensor("b", 5, 8, 64), tensor("b", 6, 8, 64)), "value"),
        ((X, X, tensor("b", "s", 9, 64)), "value"),
        ((X, tensor("b", "s", 512), X), "key"),
        ((X, X, X, tensor("b", 3, "s", "s")), "bias"),
        ((X, X, tensor("b", "s", 8, 64, dtype="float16")), "value"),
    ],
)
def test_operands_that_do_not_go_together(operands: Any, operand: str) -> None:
    assert refused(R.nn.attention, *operands).operand == operand


def test_masks_that_there_are_not() -> None:
    assert refused(R.nn.attention, X, X, X, causal_mask="Left").fact == "is 'Left'"
    assert refused(R.nn.attention, X, X, X, window_size=3).fact == "is 3"
    mask = {"causal_mask": "TopLeft", "window_size": 0}
    assert refused(R.nn.attention, X, X, X, **mask).fact == "is 0"

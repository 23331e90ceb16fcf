"""Draws of tokens by packed functions."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript
from relaxscript.errors import VMError

from_logits = relaxscript.get_global_func("vm.builtin.sample_top_p_from_logits")
from_prob = relaxscript.get_global_func("vm.builtin.sample_top_p_from_prob")


def test_tokens_are_drawn_in_the_order_of_their_probabilities():
    prob = np.array([[0.1, 0.6, 0.3]], "float32")
    assert [from_prob(prob, 1.0, u) for u in (0.0, 0.59, 0.61, 0.89, 0.95)] == [1, 1, 2, 2, 0]


def test_only_the_fewest_tokens_that_reach_top_p_are_drawn():
    prob = np.array([[0.1, 0.6, 0.3]], "float32")
    assert {from_prob(prob, 0.7, u) for u in np.linspace(0, 1, 50)} == {1, 2}
    assert {from_prob(prob, 0.5, u) for u in np.linspace(0, 1, 50)} == {1}


def test_a_token_is_drawn_as_often_as_its_probability_says(rng):
    prob = rng.dirichlet(np.ones(5)).astype("float32")
    drawn = np.bincount([from_prob(prob, 1.0, u) for u in np.linspace(0, 1, 2001)], minlength=5)
    np.testing.assert_allclose(drawn / 2001, prob, atol=2e-3)


def test_logits_are_drawn_from_as_their_softmax_is(rng):
    logits = rng.normal(size=(1, 7)).astype("float32")
    weights = np.exp(logits / 0.7)
    prob = (weights / weights.sum()).astype("float32")
    for u in (0.05, 0.35, 0.75, 0.99):
        assert from_logits(logits, 0.7, 0.9, u) == from_prob(prob, 0.9, u)


def test_at_temperature_zero_the_largest_logit_is_taken():
    assert from_logits(np.array([[1.0, 9.0, 3.0]], "float32"), 0.0, 0.1, 0.99) == 1


def test_a_batch_of_rows_is_refused():
    with pytest.raises(VMError, match=r"`prob` is one row of floating-point numbers, got a tensor"):
        from_prob(np.ones((2, 3), "float32"), 0.9, 0.5)


def test_what_is_no_number_is_refused():
    with pytest.raises(VMError, match=r"`uniform_sample` is a number, got a string"):
        from_prob(np.ones(3, "float32"), 0.9, "half")

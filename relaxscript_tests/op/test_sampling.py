"""Indices drawn by probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R

from .inference import obliged, ranked, refused, result, tensor

PROB = np.array([[0.2, 0.3, 0.5], [0.3, 0.4, 0.3]], "float32")


def rows(*numbers: float, dtype: str = "float32") -> np.ndarray:
    return np.array(numbers, dtype).reshape(-1, 1)


def test_an_index_is_where_the_sum_of_probabilities_goes_beyond_the_sample() -> None:
    draw = R.multinomial_from_uniform
    found = draw(PROB, rows(0.4, 0.9), rows(0, 1, dtype="int64"))
    assert (found.tolist(), found.dtype) == ([[1], [2]], np.int64)
    halves = np.array([[0.5, 0, 0.5]], "float32")
    samples = rows(0, 0.5, 0.999, 1.0)
    assert draw(halves, samples, rows(0, 0, 0, 0, dtype="int8")).ravel().tolist() == [0, 2, 2, 2]


def test_indices_are_as_likely_as_they_say() -> None:
    key = R.random.key(np.int64(3))
    samples = R.random.uniform(key, (100_000, 1))
    found = R.multinomial_from_uniform(PROB, samples, np.zeros((100_000, 1), "int64"))
    shares = np.bincount(found.ravel()) / len(found)
    np.testing.assert_allclose(shares, PROB[0], atol=0.01)


def test_what_cannot_be_drawn_from() -> None:
    draw = R.multinomial_from_uniform
    prob, samples, places = tensor(2, 3), tensor("n", 1), tensor("n", 1, dtype="int64")
    assert result(draw, prob, samples, places, "int32") == "(n, 1) int32"
    assert result(draw, prob, ranked(-1), places) == "(n, 1) int64"
    assert obliged(draw, prob, tensor("m", 1), places) == ["sample_indices: m equal n"]
    assert refused(draw, tensor(3), samples, places).operand == "prob"
    assert refused(draw, tensor(2, 0), samples, places).fact == "has 0 columns"
    assert refused(draw, prob, tensor("n", 2), places).fact == "has 2 columns"
    assert refused(draw, prob, tensor(3), places).fact == "has shape (3,)"
    assert refused(draw, prob, tensor(4, 1), tensor(5, 1, dtype="int64")).fact == "has 5 rows"
    assert refused(draw, prob, samples, tensor("n", 1)).code == "RX0202"
    assert refused(draw, prob, samples, places, "float32").operand == "dtype"
    with pytest.raises(IndexError, match="a row is not among the 2 of `prob`"):
        draw(PROB, rows(0.5), rows(2, dtype="int64"))

"""Tokens are drawn by their probabilities, and by those of the likeliest ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import op
from relaxscript_tests.frontend.nn.computing import Computing, assert_near, computed

RNG = np.random.default_rng(11)
ROWS, TOKENS, SAMPLES = 3, 7, 40
PROB = RNG.dirichlet(np.ones(TOKENS), ROWS).astype("float32")
ORDER = np.argsort(-PROB, 1)
SORTED, INDEX = np.take_along_axis(PROB, ORDER, 1), ORDER.astype("int32")
TOP_P = np.array([[0.9], [1.0], [0.0]], "float32")
TOP_K = np.array([[5], [2], [9]], "int32")
UNIFORM = RNG.random((SAMPLES, 1)).astype("float32")
WHICH = RNG.integers(0, ROWS, (SAMPLES, 1))


def kept(row: int, p: float, k: int) -> int:
    """How many of a row are kept: the fewest that sum up to p, and no more than k."""
    for count in range(1, TOKENS + 1):
        if count >= k or np.cumsum(SORTED[row])[count - 1] >= p:
            return count
    return TOKENS


KEPT = [kept(row, TOP_P[row, 0], TOP_K[row, 0]) for row in range(ROWS)]


def drawn(shares: Any, sample: float) -> int:
    return min(int(np.sum(np.cumsum(shares) <= sample)), len(shares) - 1)


def test_an_index_is_the_first_at_which_the_sum_is_above_the_sample():
    wanted = np.array([[drawn(PROB[w[0]], u[0])] for w, u in zip(WHICH, UNIFORM)])
    assert_near(computed(op.multinomial_from_uniform, PROB, UNIFORM, WHICH), wanted)
    found = computed(
        lambda p, u: op.multinomial_from_uniform(p, u, dtype="int32"), PROB, UNIFORM[:3]
    )
    wanted = np.array([[drawn(PROB[k], UNIFORM[k, 0])] for k in range(ROWS)], "int32")
    assert_near(found, wanted)


def test_samples_are_drawn_from_the_likeliest_ones():
    assert len(set(KEPT)) == ROWS
    wanted = []
    for (row,), (sample,) in zip(WHICH, UNIFORM):
        shares = SORTED[row, : KEPT[row]]
        wanted.append([INDEX[row, drawn(shares / shares.sum(), sample)]])
    got = computed(
        op.sample_top_p_top_k_from_sorted_prob, SORTED, INDEX, TOP_P, TOP_K, UNIFORM, WHICH
    )
    assert_near(got, np.array(wanted, "int32"))


def test_there_is_one_sample_for_each_row_unless_said():
    function, first = op.sample_top_p_top_k_from_sorted_prob, UNIFORM[:ROWS]
    got = computed(function, SORTED, INDEX, TOP_P, TOP_K, first)
    rows = np.arange(ROWS).reshape(-1, 1)
    assert_near(got, computed(function, SORTED, INDEX, TOP_P, TOP_K, first, rows))


def test_the_likeliest_ones_are_made_to_sum_up_to_one():
    got = computed(op.renormalize_top_p_top_k_prob, PROB, SORTED, TOP_P, TOP_K)
    for row, count in enumerate(KEPT):
        chosen = np.zeros(TOKENS, "float32")
        chosen[ORDER[row, :count]] = PROB[row, ORDER[row, :count]]
        assert_near(got[row], chosen / chosen.sum())


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_the_numbers_of_rows_tokens_and_samples_may_be_variables():
    tensor = nn.spec.Tensor
    spec = {"forward": {"operands": [
        tensor(("b", "v"), "float32"), tensor(("b", "v"), "int32"), tensor(("b", 1), "float32"),
        tensor(("b", 1), "int32"), tensor(("n", 1), "float32"), tensor(("n", 1), "int64"),
    ]}}  # fmt: skip
    model = Computing(op.sample_top_p_top_k_from_sorted_prob)
    assert rx.analysis.well_formed(model.export_tvm(spec)[0])
    operands = (SORTED, INDEX, TOP_P, TOP_K, UNIFORM, WHICH)
    got = model.jit(spec).forward(operands)
    assert_near(got, computed(op.sample_top_p_top_k_from_sorted_prob, *operands))

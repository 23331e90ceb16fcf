"""Tokens drawn by their probabilities, as language models choose the next one.

The rows of `prob` are distributions. `uniform_sample` has the shape (samples, 1), numbers from 0 to
below 1; `sample_indices`, of the same shape, says which row each is drawn from. Without them there
is one sample for each row.
"""

from __future__ import annotations

from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

from .binary import divide
from .comparison import greater_equal, less, less_equal, where
from .manipulate import reshape, take
from .statistical import cumsum, sum as sum_of

__all__ = [
    "multinomial_from_uniform", "renormalize_top_p_top_k_prob",
    "sample_top_p_top_k_from_sorted_prob",
]  # fmt: skip


def multinomial_from_uniform(
    prob: Tensor, uniform_sample: Tensor, sample_indices: Tensor | None = None,
    dtype: str = "int64", name: str = "multinomial_from_uniform",
) -> Tensor:  # fmt: skip
    """For each sample the first index at which the sum of the probabilities is above it."""
    rows = _each_row(uniform_sample) if sample_indices is None else sample_indices
    return apply(R.multinomial_from_uniform, name, prob, uniform_sample, rows, dtype)


def sample_top_p_top_k_from_sorted_prob(
    sorted_prob: Tensor, sorted_index: Tensor, top_p: Tensor, top_k: Tensor,
    uniform_sample: Tensor, sample_indices: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """For each sample an index, drawn from the likeliest ones of a row.

    Those are the fewest whose probabilities sum up to `top_p`, and no more than `top_k`; both have
    a number for each row, and the shape (rows, 1). `sorted_prob` has the probabilities of each row
    from the greatest on, and `sorted_index` their indices.
    """
    sums = cumsum(sorted_prob, axis=1, name="cumsum")
    total = apply(R.gather_elements, "total", sums, _last_kept(sums, top_p, top_k), 1)
    rows = reshape(_each_row(uniform_sample) if sample_indices is None else sample_indices, (-1,))
    shares = divide(take(sums, rows, 0), take(total, rows, 0))
    place = _count(less_equal(shares, uniform_sample))
    return apply(R.gather_elements, "sampled", take(sorted_index, rows, 0), place, 1)


def renormalize_top_p_top_k_prob(
    prob: Tensor, sorted_prob: Tensor, top_p: Tensor, top_k: Tensor
) -> Tensor:
    """The probabilities of the likeliest ones of each row, made to sum up to 1; the others are 0.

    Those are the fewest whose probabilities sum up to `top_p`, and no more than `top_k`; both have
    a number for each row, and the shape (rows, 1). What is as likely as the last of them is kept
    as well. `sorted_prob` has the probabilities of each row from the greatest on.
    """
    sums = cumsum(sorted_prob, axis=1, name="cumsum")
    last = _last_kept(sums, top_p, top_k)
    least = apply(R.gather_elements, "least", sorted_prob, last, 1)
    kept = where(greater_equal(prob, least), prob, 0.0, "kept")
    return divide(kept, sum_of(kept, axis=1, keepdims=True))


def _each_row(uniform_sample: Tensor) -> Tensor:
    """The rows in their order, one for each sample."""
    count: Any = uniform_sample.shape[0]
    return reshape(apply(R.arange, "rows", 0, count, 1, "int64"), (count, 1))


def _last_kept(sums: Tensor, top_p: Tensor, top_k: Tensor) -> Tensor:
    """The place of the last one in each row that is kept."""
    numbers = apply(R.arange, "numbers", 1, sums.shape[1] + 1, 1, top_k.dtype)
    return _count(apply(R.logical_and, "goes_on", less(sums, top_p), less(numbers, top_k)))


def _count(mask: Tensor) -> Tensor:
    """The number of those that are true in each row, the last column aside."""
    others = apply(R.strided_slice, "others", mask, axes=[1], begin=[0], end=[-1])
    return sum_of(others.astype("int64"), axis=1, keepdims=True)

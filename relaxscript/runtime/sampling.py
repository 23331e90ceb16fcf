"""Draws of tokens from predictions as packed functions, by TVM's names, for programs to call.

The random number is an argument, so that a draw can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.errors import VMError
from relaxscript.errors.exceptions import is_user_error

from .values import Prim, kind_of, to_tensor

__all__ = ["SAMPLING_FUNCTIONS"]

__tracebackhide__ = is_user_error

_GREEDY = 1e-6  # a temperature below it takes the most probable token


def sample_top_p_from_logits(logits: Any, temperature: Any, top_p: Any, uniform_sample: Any) -> int:
    """The token that `uniform_sample` draws from the softmax of `logits / temperature`.

    `logits` has one row, of floating-point numbers; 0 as the temperature takes the largest. See
    `sample_top_p_from_prob`. Raises `VMError` (RX0606) for other arguments.
    """
    name = "vm.builtin.sample_top_p_from_logits"
    row = _row(name, "logits", logits)
    heat = _number(name, "temperature", temperature)
    if heat < _GREEDY:
        return int(np.argmax(row))
    weights = np.exp((row - row.max()) / heat)
    return _draw(name, weights / weights.sum(), top_p, uniform_sample)


def sample_top_p_from_prob(prob: Any, top_p: Any, uniform_sample: Any) -> int:
    """The token that `uniform_sample`, of 0 to 1, draws from the most probable ones.

    These are the fewest whose probabilities sum up to `top_p`, each drawn as often as its
    probability says. `prob` has one row. Raises `VMError` (RX0606) for other arguments.
    """
    name = "vm.builtin.sample_top_p_from_prob"
    return _draw(name, _row(name, "prob", prob), top_p, uniform_sample)


def _draw(name: str, prob: np.ndarray[Any, Any], top_p: Any, uniform_sample: Any) -> int:
    most, uniform = _number(name, "top_p", top_p), _number(name, "uniform_sample", uniform_sample)
    order = np.argsort(-prob, kind="stable")
    sums = np.cumsum(prob[order])
    kept = min(int(np.searchsorted(sums, most)), len(sums) - 1)
    place = int(np.searchsorted(sums[: kept + 1], uniform * sums[kept], side="right"))
    return int(order[min(place, kept)])


def _row(name: str, what: str, value: Any) -> np.ndarray[Any, Any]:
    found = np.asarray(to_tensor(value))
    if (
        found.ndim == 0
        or found.size == 0
        or found.shape[-1] != found.size
        or found.dtype.kind != "f"
    ):
        text = f"`{name}`: `{what}` is one row of floating-point numbers, got {kind_of(value)}"
        raise VMError(text, code="RX0606")
    return found.reshape(-1).astype("float64")


def _number(name: str, what: str, value: Any) -> float:
    found = value.value if isinstance(value, Prim) else value
    if isinstance(found, (int, float, np.integer, np.floating)):
        return float(found)
    raise VMError(f"`{name}`: `{what}` is a number, got {kind_of(value)}", code="RX0606")


SAMPLING_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "vm.builtin.sample_top_p_from_logits": sample_top_p_from_logits,
    "vm.builtin.sample_top_p_from_prob": sample_top_p_from_prob,
}

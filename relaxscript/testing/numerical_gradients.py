"""Gradients compared with differences of the values of a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["check_numerical_grads"]

_Arrays = Sequence[Any] | Mapping[str, Any]


def check_numerical_grads(
    function: Callable[..., Any],
    input_values: _Arrays,
    grad_values: _Arrays,
    function_value: Any = None,
    delta: float = 1e-3,
    atol: float = 1e-2,
    rtol: float = 0.1,
) -> None:
    """Compare the gradients of the sum of a function with central differences of step `delta`.

    Inputs and gradients are lists, or are called by name; `function_value` is the value there,
    which is computed where it is not given. A gradient of `n` elements may be as far from the
    differences as `atol * sqrt(n)` and `rtol` times their norm. Raises `AssertionError` that names
    the input and the element that is off the most.
    """
    named = isinstance(input_values, Mapping)
    inputs = _by_name(input_values)
    grads = _by_name(grad_values)
    if inputs.keys() != grads.keys():
        raise AssertionError(f"the gradients are of {list(grads)}, the inputs are {list(inputs)}")

    def value() -> float:
        given = function(**inputs) if named else function(*inputs.values())
        return float(np.sum(np.asarray(given, "float64")))

    first = value() if function_value is None else float(np.sum(function_value))
    if not math.isfinite(first):
        raise AssertionError(f"the function is {first} there, and has no gradient")
    for name, given in inputs.items():
        found = _differences(value, given, delta)
        _compare(name, np.asarray(grads[name], "float64"), found, atol, rtol)


def _by_name(values: _Arrays) -> dict[str, Any]:
    """Copies of the arrays, whose elements are changed for a moment."""
    named = values.items() if isinstance(values, Mapping) else enumerate(values)
    return {str(name): np.array(value) for name, value in named}


def _differences(value: Callable[[], float], given: Any, delta: float) -> np.ndarray[Any, Any]:
    found = np.empty(given.shape)
    for place in np.ndindex(given.shape):
        kept = given[place]
        given[place] = kept - delta
        low, below = float(given[place]), value()
        given[place] = kept + delta
        high, above = float(given[place]), value()
        given[place] = kept
        found[place] = (above - below) / (high - low)
    return found


def _compare(name: str, grad: Any, found: Any, atol: float, rtol: float) -> None:
    if grad.shape != found.shape:
        raise AssertionError(f"the gradient of `{name}` has shape {grad.shape}, not {found.shape}")
    distance, norm = np.linalg.norm(grad - found), np.linalg.norm(found)
    if not distance <= atol * math.sqrt(grad.size) + rtol * norm:
        worst = np.unravel_index(np.argmax(np.abs(grad - found)), grad.shape)
        raise AssertionError(
            f"the gradient of `{name}` is {grad[worst]:.6g} at {tuple(map(int, worst))}; "
            f"differences say {found[worst]:.6g}; the distance of all is {distance:.3g}"
        )

"""What scalar expressions refuse: operands of two data types, wrong ranks, wrong kinds of numbers.

Every message names the class and, where there is one, the field.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

__all__ = ["check_rank", "lanes", "number", "refuse_mixed", "want_bool", "whole"]


def whole(value: Any) -> int:
    """A whole number as an int; True and False are 1 and 0."""
    if isinstance(value, np.bool_):
        return int(value)
    return operator.index(value)


def number(value: Any) -> float:
    """A number as a float; a text is none."""
    if isinstance(value, str):
        raise TypeError("a text is no number")
    return float(value)


def refuse_mixed(node: Any, a: Any, b: Any) -> None:
    """Refuse two operands of different data types."""
    if a.dtype is not b.dtype:
        raise TypeError(
            f"`{type(node).__name__}` takes two values of one data type, "
            f"not {a.dtype} and {b.dtype}; convert one with Cast"
        )


def want_bool(node: Any, name: str, value: Any) -> None:
    """Refuse an operand that is no bool."""
    if not value.dtype.is_bool:
        raise TypeError(f"`{type(node).__name__}.{name}` must be a bool, not of {value.dtype}")


def check_rank(node: Any, buffer: Any, indices: tuple[Any, ...]) -> None:
    """Refuse a number of indices that is not the number of dimensions."""
    if len(indices) != len(buffer.shape):
        raise ValueError(
            f"`{type(node).__name__}.indices`: the buffer `{buffer.name}` has "
            f"{len(buffer.shape)} dimensions, but there are {len(indices)} indices"
        )


def lanes(value: Any) -> int:
    """A number of lanes."""
    found = operator.index(value)
    if found < 1:
        raise ValueError("a vector has at least one lane")
    return found

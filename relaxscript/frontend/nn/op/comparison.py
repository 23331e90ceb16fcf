"""Comparisons, element by element, and the choice by one."""

from __future__ import annotations

from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.frontend.nn.trace import model_error
from relaxscript.script import relax as R

__all__ = ["equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "where"]


def less(a: Any, b: Any, name: str = "less") -> Tensor:
    """True where `a < b`; shapes are broadcast, and one may be a number."""
    return apply(R.less, name, a, b)


def less_equal(a: Any, b: Any, name: str = "less_equal") -> Tensor:
    """True where `a <= b`; shapes are broadcast, and one may be a number."""
    return apply(R.less_equal, name, a, b)


def greater(a: Any, b: Any, name: str = "greater") -> Tensor:
    """True where `a > b`; shapes are broadcast, and one may be a number."""
    return apply(R.greater, name, a, b)


def greater_equal(a: Any, b: Any, name: str = "greater_equal") -> Tensor:
    """True where `a >= b`; shapes are broadcast, and one may be a number."""
    return apply(R.greater_equal, name, a, b)


def equal(a: Any, b: Any, name: str = "equal") -> Tensor:
    """True where `a == b`; shapes are broadcast, and one may be a number."""
    return apply(R.equal, name, a, b)


def not_equal(a: Any, b: Any, name: str = "not_equal") -> Tensor:
    """True where `a != b`; shapes are broadcast, and one may be a number."""
    return apply(R.not_equal, name, a, b)


def where(condition: Tensor, x1: Any, x2: Any, name: str = "where") -> Tensor:
    """The elements of `x1` where the condition is true, else those of `x2`.

    Numbers that are not 0 count as true. Shapes are broadcast, and one of `x1` and `x2` may be a
    number. Raises `DiagnosticError` (RX0711) where the condition is a `bool`, as `x == 1` is.
    """
    if isinstance(condition, bool):
        raise model_error(
            f"the condition of `where` is a tensor, not {condition}",
            help="`==` compares no elements: write `nn.op.equal(a, b)`, or `nn.op.not_equal(a, b)`",
        )
    if isinstance(condition, Tensor):
        condition = condition.astype("bool")
    return apply(R.where, name, condition, x1, x2)

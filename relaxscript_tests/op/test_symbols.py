"""Operators of Python on expressions build the calls that scripts mean by them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

import relaxscript.op as R
from relaxscript.ir import relax
from relaxscript.ir.structural_equality import structural_equal

from .inference import tensor

X, Y = tensor(2, dtype="int32"), tensor(2, dtype="int32")
BINARY: dict[str, tuple[Callable[..., Any], Any]] = {
    "+": (operator.add, R.add),
    "-": (operator.sub, R.subtract),
    "*": (operator.mul, R.multiply),
    "/": (operator.truediv, R.divide),
    "//": (operator.floordiv, R.floor_divide),
    "%": (operator.mod, R.floor_mod),
    "**": (operator.pow, R.power),
    "@": (operator.matmul, R.matmul),
    "&": (operator.and_, R.bitwise_and),
    "|": (operator.or_, R.bitwise_or),
    "^": (operator.xor, R.bitwise_xor),
    "<<": (operator.lshift, R.left_shift),
    ">>": (operator.rshift, R.right_shift),
}


@pytest.mark.parametrize(("infix", "meant"), BINARY.values(), ids=BINARY)
def test_an_operator_between_expressions(infix: Callable[..., Any], meant: Any) -> None:
    assert structural_equal(infix(X, Y), meant.build((X, Y)))
    constant = relax.Constant(3)
    assert structural_equal(infix(X, constant), meant.build((X, constant)))


@pytest.mark.parametrize(("infix", "meant"), BINARY.values(), ids=BINARY)
def test_a_number_may_stand_on_either_side(infix: Callable[..., Any], meant: Any) -> None:
    assert structural_equal(infix(X, 2), meant.build((X, 2)))
    assert structural_equal(infix(2, X), meant.build((2, X)))


def test_an_operator_before_an_expression() -> None:
    assert structural_equal(-X, R.negative.build((X,)))
    assert structural_equal(~X, R.bitwise_not.build((X,)))
    assert structural_equal(abs(X), R.abs.build((X,)))

"""Operators of Python: their symbols, and what they do to values of Python."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "BINARY", "COMPARE", "CONVERSIONS", "MOST_ITEMS", "MOST_STEPS", "PYTHON", "UNARY",
    "is_excessive", "is_wide", "size",
]  # fmt: skip

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "unary -", ast.UAdd: "unary +", ast.Invert: "~", ast.Not: "not",
}  # fmt: skip
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
PYTHON: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "unary -": operator.neg, "unary +": operator.pos, "~": operator.invert,
    "not": operator.not_, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "is": operator.is_,
    "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip

CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}

# What literals may grow to in data mode, where a script of a stranger must not use up the machine.
MOST_BITS = 4096
MOST_ITEMS = 1_000_000
MOST_ELEMENTS = 1 << 26  # of an array

# How many steps of loops, comprehensions and lambdas are written out for one definition.
MOST_STEPS = 100_000

_WIDTH = re.compile(r"\d{5,}")  # of a format: a number of five digits


def is_excessive(symbol: str, operands: tuple[Any, ...]) -> bool:
    """True if an operation on Python values gives, or works on, something huge."""
    if any(isinstance(value, int) and value.bit_length() > MOST_BITS for value in operands):
        return True
    match symbol, operands:
        case _, (np.ndarray() as a, np.ndarray() as b):
            return _elements(symbol, a.shape, b.shape) > MOST_ELEMENTS
        case "**", (int() as base, int() as power):
            return power > 0 and base.bit_length() * power > MOST_BITS
        case "<<", (int() as base, int() as places):
            return base.bit_length() + places > MOST_BITS
        case "*", (int() as a, int() as b):
            return a.bit_length() + b.bit_length() > MOST_BITS
        case "*", ((str() | bytes() | list() | tuple()) as items, int() as times) | (
            int() as times,
            (str() | bytes() | list() | tuple()) as items,
        ):
            return size(items) * times > MOST_ITEMS
        case "+", (str() | bytes() | list() | tuple(), str() | bytes() | list() | tuple()):
            return sum(size(items) for items in operands) > MOST_ITEMS
        case "%", (str() | bytes() as form, value):
            form = form.decode("latin-1") if isinstance(form, bytes) else form
            return "*" in form or is_wide(form) or len(form) * size(value) > MOST_ITEMS
    return False


def _elements(symbol: str, a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """The number of elements that an operation on such arrays makes; 0 where it cannot be done."""
    if symbol == "@" and a and b:
        return math.prod(a[:-1]) * math.prod(b[:-2]) * math.prod(b[-1:])
    try:
        return math.prod(np.broadcast_shapes(a, b))
    except ValueError:
        return 0


def is_wide(form: str) -> bool:
    """True if a format asks for a string of ten thousand characters or more."""
    return _WIDTH.search(form) is not None


def size(value: Any) -> int:
    """The number of items of a value, with those of its items, a repeated one each time.

    Each list is gone through once. So a list of lists of lists that are one list is counted as
    quickly as it was written. Counting stops where it is too much.
    """
    if isinstance(value, (str, bytes)):
        return len(value)
    if not isinstance(value, (list, tuple, dict, range)):
        return 1
    return _size_of_container(value, {})


def _size_of_container(value: Any, known: dict[int, int]) -> int:
    if isinstance(value, range):
        return max((value.stop - value.start) // value.step, 0) + 1
    found = known.get(id(value))
    if found is not None:
        return found
    items = [*value, *value.values()] if isinstance(value, dict) else value
    total = 1 + len(items)
    for item in items:
        if isinstance(item, (list, tuple, dict, range)):
            total += _size_of_container(item, known)
        elif isinstance(item, (str, bytes)):
            total += len(item)
    known[id(value)] = total
    return total

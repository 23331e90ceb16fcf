"""Operators of Python: their symbols, and what they do to values of Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

__all__ = [
    "BINARY", "COMPARE", "CONVERSIONS", "MOST_ITEMS", "MOST_STEPS", "PYTHON", "UNARY",
    "is_excessive",
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

# What literals may grow to in data mode, where a text of a stranger must not use up the machine.
MOST_BITS = 4096
MOST_ITEMS = 1_000_000

# How many steps of loops, comprehensions and lambdas are written out for one definition.
MOST_STEPS = 100_000


def is_excessive(symbol: str, operands: tuple[Any, ...]) -> bool:
    """Whether an operation on Python values gives something huge."""
    match symbol, operands:
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
            return len(items) * times > MOST_ITEMS
    return False

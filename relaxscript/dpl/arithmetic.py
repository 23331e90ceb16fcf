"""Arithmetic on patterns, which means nothing: a pattern of a sum says which operator adds.

Source: TVM `relax.dpl`, whose patterns have `|`, `&`, `~`, `^` and `>>` only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from relaxscript.ir.relax import Expr
from relaxscript.op import SYMBOLS

from .constraints import pattern_error

if TYPE_CHECKING:
    from .pattern import DFPattern

__all__ = ["infix", "prefix", "reflected"]

# An operand that is longer is left out of what can be typed.
_LONGEST = 40


def infix(symbol: str) -> Callable[[DFPattern, Any], NoReturn]:
    """The method for an operator behind a pattern."""
    return lambda pattern, other: _refuse(symbol, pattern, other)


def reflected(symbol: str) -> Callable[[DFPattern, Any], NoReturn]:
    """The method for an operator before a pattern, behind something else."""
    return lambda pattern, other: _refuse(symbol, other, pattern)


def prefix(symbol: str) -> Callable[[DFPattern], NoReturn]:
    """The method for an operator of one pattern."""
    return lambda pattern: _refuse(symbol, pattern)


def _refuse(symbol: str, *operands: Any) -> NoReturn:
    name = SYMBOLS[symbol].name
    written = symbol.removeprefix("unary ")
    args = ", ".join(map(_as_pattern, operands))
    raise pattern_error(
        f"patterns have no operator `{written}`", f'write `is_op("{name}")({args})`', "RX0201"
    )


def _as_pattern(operand: Any) -> str:
    """An operand as it is written among the arguments of a pattern of a call."""
    from .pattern import DFPattern

    if isinstance(operand, DFPattern):
        text = repr(operand)
    else:
        text = f"is_expr({operand!r})" if isinstance(operand, Expr) else "is_const()"
    return text if len(text) <= _LONGEST else "..."

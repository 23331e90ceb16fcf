"""Python's operators on scalars: operands are matched in dtype, and constants are computed.

    n + 1        tir.const(3) + 4  (which is 7)        tir.const(2) << 3  (which is 16)

What a script says is what its program has, so the parser makes its nodes without these.

Source: TVM `tir.expr.ExprOp` and `arith/const_fold.h`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from relaxscript.dtypes import DataType, nearest

from . import prim
from .prim import FloatImm, Immediate, IntImm, PrimExpr, PrimExprLike, cast, const, match_dtypes
from .prim_checks import fits_float, refused
from .prim_operators import BUILDERS, ScalarLike

__all__ = ["fold_binary", "fold_constants", "fold_function"]

_NODES: Mapping[str, Any] = {
    "+": prim.Add, "-": prim.Sub, "*": prim.Mul, "/": prim.Div, "//": prim.FloorDiv,
    "%": prim.FloorMod, "<": prim.LT, "<=": prim.LE, ">": prim.GT, ">=": prim.GE, "==": prim.EQ,
    "!=": prim.NE,
}  # fmt: skip
_DIVISIONS = ("/", "//", "%", "truncmod")


def _truncated_quotient(a: float, b: float) -> float:
    if isinstance(a, int) and isinstance(b, int):
        quotient = abs(a) // abs(b)
        return quotient if (a < 0) == (b < 0) else -quotient
    return a / b


def _truncated_remainder(a: float, b: float) -> float:
    return a - b * _truncated_quotient(a, b)


_MEANING: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _truncated_quotient,
    "//": operator.floordiv, "%": operator.mod, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "max": max, "min": min, "truncmod": _truncated_remainder,
}  # fmt: skip
# An operator with one of these on the side named gives the other operand back.
_NEUTRAL = {("+", 0): "ab", ("-", 0): "b", ("*", 1): "ab", ("//", 1): "b"}


def fold_binary(symbol: str, a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
    """The result of an operator if it is known now, else None.

    A number that does not fit in its dtype is left to be computed. Raises a `ValueError` for a
    division by zero and for shifting by what is no number of places.
    """
    if isinstance(b, Immediate):
        _check_right(symbol, a, b)
        if isinstance(a, Immediate):
            return _compute(symbol, a, b)
    for side, e, other in (("a", a, b), ("b", b, a)):
        if isinstance(e, IntImm) and side in _NEUTRAL.get((symbol, e.value), ""):
            return other
    return None


_SYMBOLS = {make: symbol for symbol, make in _NODES.items()}


def fold_constants(e: prim.PrimExpr) -> PrimExpr | None:
    """The result of an operation on constants; None where the operands are not all constants."""
    symbol = _SYMBOLS.get(type(e))
    if symbol is None or not isinstance(e, (prim.Binary, prim.Comparison)):
        return None
    by_zero = isinstance(e.b, Immediate) and symbol in _DIVISIONS and not e.b
    return None if by_zero else fold_binary(symbol, e.a, e.b)


_FUNCTIONS: Mapping[type[PrimExpr], str] = {
    prim.Div: "/", prim.FloorDiv: "//", prim.FloorMod: "%", prim.Mod: "truncmod",
    prim.Max: "max", prim.Min: "min",
}  # fmt: skip


def fold_function(e: PrimExpr) -> PrimExpr:
    """The number that a function of two scalars gives, if it is known now, else its call.

    Raises a `ValueError` for a division by zero.
    """
    symbol = _FUNCTIONS.get(type(e))
    if symbol is None or not isinstance(e, prim.Binary) or not e.dtype.is_integer:
        return e
    is_one = isinstance(e.b, IntImm) and e.b.value == 1
    if is_one and symbol in ("%", "truncmod"):
        return const(0, e.dtype)
    known = e.a if is_one and symbol == "/" else fold_binary(symbol, e.a, e.b)
    return e if known is None else known


def _check_right(symbol: str, a: PrimExpr, b: Immediate) -> None:
    value = _number(b)
    if symbol in _DIVISIONS and value == 0:
        raise refused("something is divided by zero", code="RX0503")
    if symbol in ("<<", ">>") and not 0 <= value < a.dtype.bits:
        raise refused(f"a value of {a.dtype} cannot be shifted by {value} places", code="RX0502")


def _number(e: Immediate) -> Any:
    value: Any = e.value  # type: ignore[attr-defined]
    return nearest(value, e.dtype) if e.__class__ is FloatImm else value


def _compute(symbol: str, a: Immediate, b: Immediate) -> PrimExpr | None:
    value = _MEANING[symbol](_number(a), _number(b))
    if isinstance(value, bool):
        return const(value)
    dtype = a.dtype
    if dtype.is_float:
        fits = fits_float(value, dtype)
        return FloatImm.make(dtype, nearest(value, dtype)) if fits else None
    low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
    return IntImm.make(dtype, value) if low <= value < low + (1 << dtype.bits) else None


def _is_operand(value: Any) -> bool:
    return isinstance(value, (PrimExpr, ScalarLike, int, float)) or hasattr(value, "__index__")


def _binary(symbol: str, a: PrimExprLike, b: PrimExprLike) -> PrimExpr:
    if isinstance(b, str) or not _is_operand(b):
        return NotImplemented  # type: ignore[no-any-return]
    try:
        a, b = match_dtypes(a, b)
    except TypeError as error:
        raise refused(str(error), nature="type") from None
    known = fold_binary(symbol, a, b)
    made: PrimExpr = _NODES[symbol].make(a, b) if known is None else known
    return made


BUILDERS.update({symbol: partial(_binary, symbol) for symbol in _NODES})
BUILDERS["astype"] = lambda e, dtype: cast(e, DataType(dtype))

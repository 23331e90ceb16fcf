"""The value of a scalar expression when its variables have values.

Integers are mathematical: nothing wraps except by an explicit Cast. Floating-point results are
rounded to their dtype after each operation.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from relaxscript.dtypes import DataType, nearest
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Op

__all__ = ["EvaluationError", "evaluate", "truncated_division", "truncated_remainder"]

Number = int | float | bool


class EvaluationError(ArithmeticError):
    """An expression has no value: a variable has none, or something is divided by zero."""


class _Nothing:
    """No value, and why. It is passed on until a lazy choice leaves it aside."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


def truncated_division(a: int, b: int) -> int:
    """`a / b` rounded towards zero, as in C."""
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b >= 0) else -quotient


def truncated_remainder(a: int, b: int) -> int:
    """The remainder of `truncated_division`; it has the sign of `a`."""
    return a - b * truncated_division(a, b)


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return truncated_division(a, b)


def _remainder(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b)
    return truncated_remainder(a, b)


def _shift(shift: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def shifted(a: int, places: int) -> int:
        if not 0 <= places < _MOST_PLACES:
            raise ValueError(f"nothing can be shifted by {places} bits")
        return shift(a, places)

    return shifted


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int) and b * a.bit_length() > _MOST_BITS:
        raise OverflowError(f"{a}**{b} is too large")
    return a**b


# No scalar has more bits, and no power of integers that anybody needs.
_MOST_PLACES = 64
_MOST_BITS = 4096

MEANING: dict[type[PrimExpr], Callable[[Any, Any], Any]] = {
    prim.Add: operator.add,
    prim.Sub: operator.sub,
    prim.Mul: operator.mul,
    prim.Div: _divide,
    prim.Mod: _remainder,
    prim.FloorDiv: operator.floordiv,
    prim.FloorMod: operator.mod,
    prim.Min: min,
    prim.Max: max,
    prim.EQ: operator.eq,
    prim.NE: operator.ne,
    prim.LT: operator.lt,
    prim.LE: operator.le,
    prim.GT: operator.gt,
    prim.GE: operator.ge,
}

# Intrinsics that may occur in dimensions and conditions.
INTRINSICS: dict[str, Callable[..., Any]] = {
    "tir.if_then_else": lambda condition, a, b: a if condition else b,
    "tir.abs": abs,
    "tir.fabs": abs,
    "tir.likely": lambda a: a,
    "tir.pow": _power,
    "tir.shift_left": _shift(operator.lshift),
    "tir.shift_right": _shift(operator.rshift),
    "tir.bitwise_and": operator.and_,
    "tir.bitwise_or": operator.or_,
    "tir.bitwise_xor": operator.xor,
    "tir.bitwise_not": operator.invert,
}


def evaluate(e: PrimExpr, values: Mapping[Any, Number] | None = None) -> Number:
    """The value of `e`; `values` gives that of each variable.

    Floor division and modulo are Python's, `Div` and `Mod` of integers C's; a comparison gives a
    bool; `And` and `Or` need their second operand only where the first does not decide. Raises
    `EvaluationError` when a variable has no value and on a division by zero. It is also raised for
    expressions that only a running program can evaluate (loads, vectors, calls).
    """
    if isinstance(e, (prim.IntImm, prim.FloatImm)):
        return _immediate(e)
    known = {} if values is None else values
    if isinstance(e, prim.Var) and e in known:
        return known[e]
    result = _run(e, known)
    if isinstance(result, _Nothing):
        raise EvaluationError(result.reason)
    return result  # type: ignore[no-any-return]


def _immediate(e: prim.IntImm | prim.FloatImm) -> Number:
    return bool(e.value) if e.dtype.is_bool else _round(e.value, e.dtype)


def _operands(e: PrimExpr) -> tuple[PrimExpr, ...]:
    match e:
        case prim.Binary(a, b) | prim.Comparison(a, b) | prim.Logic(a, b):
            return (a, b)
        case prim.Not(a) | prim.Cast(value=a):
            return (a,)
        case prim.Select(condition, a, b):
            return (condition, a, b)
        case prim.Call(op=Op(name), args=args) if name in INTRINSICS:
            return args
        case prim.Let(value=value, body=body):
            return (value, body)
    return ()


def _run(root: PrimExpr, values: Mapping[Any, Number]) -> Any:
    done: dict[int, Any] = {}
    local: dict[prim.Var, Any] = {}
    stack: list[tuple[PrimExpr, int]] = [(root, 0)]
    while stack:
        e, ready = stack.pop()
        if id(e) in done:
            continue
        operands = _operands(e)
        if ready < len(operands):
            # One operand at a time: the body of a Let needs its value.
            stack.append((e, ready + 1))
            stack.append((operands[ready], 0))
            if isinstance(e, prim.Let) and ready == 1:
                local[e.var] = done[id(e.value)]
            continue
        done[id(e)] = _value(e, [done[id(o)] for o in operands], values, local)
    return done[id(root)]


def _value(
    e: PrimExpr, operands: list[Any], values: Mapping[Any, Number], local: Mapping[Any, Any]
) -> Any:
    match e:
        case prim.IntImm() | prim.FloatImm():
            return _immediate(e)
        case prim.Var(name=name):
            known = values.get(e, local.get(e))
            return _Nothing(f"`{name}` has no value") if known is None else known
        case prim.Call(op="tir.if_then_else"):
            return _lazy(operands)
        case prim.Logic():
            return _logic(operands, isinstance(e, prim.Or))
    for operand in operands:
        if isinstance(operand, _Nothing):
            return operand
    if not operands:
        return _Nothing(f"a {type(e).__name__} has a value only in a running program")
    try:
        return _round(_apply(e, operands), e.dtype)
    except ZeroDivisionError:
        return _Nothing("something is divided by zero")
    except (OverflowError, ValueError) as error:
        return _Nothing(str(error))


def _lazy(operands: list[Any]) -> Any:
    condition, a, b = operands
    return condition if isinstance(condition, _Nothing) else a if condition else b


def _logic(operands: list[Any], decides: bool) -> Any:
    """Logic of two operands, the second of which counts only where the first does not decide."""
    a, b = operands
    if isinstance(a, _Nothing) or bool(a) is decides:
        return a if isinstance(a, _Nothing) else decides
    return b if isinstance(b, _Nothing) else bool(b)


def _apply(e: PrimExpr, operands: list[Any]) -> Any:
    match e:
        case prim.Not():
            return not operands[0]
        case prim.Select():
            return operands[1] if operands[0] else operands[2]
        case prim.Let():
            return operands[1]
        case prim.Cast(dtype=dtype):
            return _cast(operands[0], dtype)
        case prim.Call(op=Op(name)):
            return INTRINSICS[name](*operands)
    return MEANING[type(e)](*operands)


def _cast(value: Number, dtype: DataType) -> Number:
    if dtype.is_float:
        return nearest(value, dtype)
    if dtype.is_bool:
        return bool(value)
    whole = math.trunc(value)
    if dtype.kind == "uint":
        return whole & ((1 << dtype.bits) - 1)
    half = 1 << (dtype.bits - 1)
    return (whole + half) % (2 * half) - half


def _round(value: Any, dtype: DataType) -> Any:
    if isinstance(value, float) and dtype.is_float and dtype.bits < 64:
        return nearest(value, dtype)
    return value

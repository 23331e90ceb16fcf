"""Scalar expressions over shape variables as Python functions of the shape heap.

Plain integer arithmetic becomes one lambda; everything else (divisions that may fail, casts,
floating point) is evaluated as the interpreter does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.ir import prim
from relaxscript.semantics.checks import SlotOf, compile_dimension

__all__ = ["compile_arithmetic"]

_INFIX: dict[type[prim.PrimExpr], str] = {prim.Add: "+", prim.Sub: "-", prim.Mul: "*"}
_DIVISION: dict[type[prim.PrimExpr], str] = {prim.FloorDiv: "//", prim.FloorMod: "%"}
_NAMED: dict[type[prim.PrimExpr], str] = {prim.Min: "min", prim.Max: "max"}
_DEEPEST = 40  # Python's own parser has its limits


def compile_arithmetic(e: prim.PrimExpr, slot_of: SlotOf) -> Callable[[list[Any]], Any]:
    """`e` as a function of the shape heap; `slot_of` says where a variable's value is found."""
    text = _source(e, slot_of, _DEEPEST)
    if text is None:
        return compile_dimension(e, slot_of)
    function: Callable[[list[Any]], Any] = eval(f"lambda heap: {text}", {"min": min, "max": max})
    return function


def _source(e: prim.PrimExpr, slot_of: SlotOf, depth: int) -> str | None:
    """Python text for plain arithmetic of integers, None for anything else."""
    if depth == 0 or not e.dtype.is_integer:
        return None
    match e:
        case prim.IntImm(value=value):
            return f"({value})" if value < 0 else str(value)
        case prim.Var():
            return f"heap[{slot_of(e)}]"
        case prim.Binary(a, b):
            left, right = _source(a, slot_of, depth - 1), _source(b, slot_of, depth - 1)
            if left is None or right is None:
                return None
            return _binary_text(e, left, right, b)
    return None


def _binary_text(e: prim.Binary, left: str, right: str, divisor: prim.PrimExpr) -> str | None:
    kind = type(e)
    if kind in _INFIX:
        return f"({left} {_INFIX[kind]} {right})"
    if kind in _NAMED:
        return f"{_NAMED[kind]}({left}, {right})"
    if kind in _DIVISION and isinstance(divisor, prim.IntImm) and divisor.value != 0:
        return f"({left} {_DIVISION[kind]} {right})"
    return None

"""The values of operations on literal integers.

Most sizes in programs are numbers. What is computed of them needs no canonical form.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .atom import INT32, INT64

__all__ = ["truth_of_literals", "value_of_literals"]

# What is nested deeper is read as anything else is.
MAX_DEPTH = 6
_OPERATIONS: dict[type[PrimExpr], Callable[[int, int], int]] = {
    prim.Add: operator.add,
    prim.Sub: operator.sub,
    prim.Mul: operator.mul,
    prim.FloorDiv: operator.floordiv,
    prim.FloorMod: operator.mod,
    prim.Max: max,
    prim.Min: min,
}
_UNDEFINED_BY_ZERO = (operator.floordiv, operator.mod)
_COMPARISONS: dict[type[PrimExpr], Callable[[int, int], bool]] = {
    prim.EQ: operator.eq,
    prim.NE: operator.ne,
    prim.LT: operator.lt,
    prim.LE: operator.le,
    prim.GT: operator.gt,
    prim.GE: operator.ge,
}


def value_of_literals(e: PrimExpr, depth: int = MAX_DEPTH) -> int | None:
    """The value of an operation on literals, a mathematical integer; None for anything else."""
    if e.__class__ is prim.IntImm:
        return e.value
    operation = _OPERATIONS.get(e.__class__)
    if operation is None or not depth:
        return None
    a, b = e.a, e.b  # type: ignore[attr-defined]
    y = b.value if b.__class__ is prim.IntImm else value_of_literals(b, depth - 1)
    if y is None or (y == 0 and operation in _UNDEFINED_BY_ZERO):
        return None
    x = a.value if a.__class__ is prim.IntImm else value_of_literals(a, depth - 1)
    return None if x is None else operation(x, y)


def truth_of_literals(condition: PrimExpr) -> bool | None:
    """The truth of a comparison of int32 or int64 literals; None for anything else."""
    compare = _COMPARISONS.get(condition.__class__)
    if compare is None:
        return None
    a, b = condition.a, condition.b  # type: ignore[attr-defined]
    if a.dtype is not INT64 and a.dtype is not INT32:
        return None
    x, y = value_of_literals(a), value_of_literals(b)
    return None if x is None or y is None else compare(x, y)

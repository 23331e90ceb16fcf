"""Definitions step by step: values with names, products with sums, polynomials, bits.

A definition is a function of a `LetChain` and of its operands. `let` of the chain names a value
that is used more than once. Operands are vectors of float32 or single numbers. Python's operators
and numbers mean the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript.semantics.llvm_expansions import multiply_add

__all__ = ["LetChain", "any_lane", "bits_of", "float_of", "fma", "like", "polynomial", "select"]

ANY_LANE = "llvm.vector.reduce.or"


class LetChain:
    """The named values of a definition, in their order."""

    def __init__(self) -> None:
        self._named: list[tuple[prim.Var, PrimExpr]] = []

    def let(self, value: PrimExpr) -> PrimExpr:
        """A value that is computed once, here."""
        var = prim.Var.make(f"t{len(self._named)}", value.dtype)
        self._named.append((var, value))
        return var

    def then(self, result: PrimExpr) -> PrimExpr:
        """The result after all steps."""
        for var, value in reversed(self._named):
            result = prim.Let.make(var, value, result)
        return result


def like(x: PrimExpr, value: float) -> PrimExpr:
    """A number of the dtype of `x`, the same in all lanes."""
    return const(value, x.dtype)


def _operand(x: PrimExpr, value: PrimExpr | float) -> PrimExpr:
    return value if isinstance(value, PrimExpr) else like(x, value)


def fma(a: PrimExpr, b: PrimExpr | float, c: PrimExpr | float) -> PrimExpr:
    """`a * b + c`, rounded once."""
    return multiply_add(a, _operand(a, b), _operand(a, c))


def polynomial(x: PrimExpr, coefficients: Sequence[float]) -> PrimExpr:
    """The polynomial with these coefficients, that of the lowest power first, by Horner's rule."""
    *rest, found = (like(x, c) for c in coefficients)
    for coefficient in reversed(rest):
        found = fma(found, x, coefficient)
    return found


def select(condition: PrimExpr, a: PrimExpr | float, b: PrimExpr) -> PrimExpr:
    """`a` in the lanes where a condition holds, `b` in the others."""
    return prim.Select.make(condition, _operand(b, a), b)


def any_lane(condition: PrimExpr) -> PrimExpr:
    """True if a condition holds in any lane."""
    if condition.dtype.lanes == 1:
        return condition
    return T["call_llvm_pure_intrin"]("bool", ANY_LANE, condition)


def bits_of(x: PrimExpr) -> PrimExpr:
    """The bits of floats as signed integers."""
    return T["reinterpret"](DataType(f"int{x.dtype.bits}").with_lanes(x.dtype.lanes), x)


def float_of(bits: PrimExpr) -> PrimExpr:
    """The floats of some bits."""
    return T["reinterpret"](DataType(f"float{bits.dtype.bits}").with_lanes(bits.dtype.lanes), bits)

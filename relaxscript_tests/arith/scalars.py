"""The variables and literals that the tests of this room write their expressions with."""

from __future__ import annotations

from relaxscript.arith import EvaluationError, evaluate
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var

__all__ = ["VARIABLES", "K", "M", "N", "integer", "shift", "value"]

N, M, K = (Var(name, "int64") for name in "nmk")
VARIABLES = (N, M, K)


def integer(value: int) -> prim.IntImm:
    """A literal of int64."""
    return prim.IntImm("int64", value)


def shift(name: str, e: PrimExpr, places: PrimExpr | int) -> PrimExpr:
    """`e` shifted "left" or "right"."""
    return prim.Call(e.dtype, f"tir.shift_{name}", (e, prim.as_prim(places)))


def value(e: PrimExpr, assignment: dict[Var, int]) -> int | None:
    """The value of `e`, or None where it divides by zero."""
    try:
        return int(evaluate(e, assignment))
    except EvaluationError:
        return None

"""The functions of vector math as a table, and what a call of one computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import PrimExpr

from .exponential import exp, exp2
from .logarithm import log, log2
from .power import pow, rsqrt
from .sigmoids import erf, sigmoid, tanh
from .steps import LetChain
from .trigonometric import cos, sin

__all__ = [
    "ATTRIBUTE", "FUNCTIONS", "MathFunction", "VectorFunction", "define", "expand_vector_math",
    "has_definition", "has_vector_math",
]  # fmt: skip

ATTRIBUTE = "tir.vector_math"
FLOAT32 = DataType("float32")


class MathFunction(NamedTuple):
    """A function of float32: its definition, and a bound of its error in ulp.

    The definition is a function of the named values so far and of the operands.
    """

    definition: Callable[..., PrimExpr]
    ulp: float


FUNCTIONS: dict[str, MathFunction] = {
    "tir.cos": MathFunction(cos, 1.56),
    "tir.erf": MathFunction(erf, 1.00),
    "tir.exp": MathFunction(exp, 0.90),
    "tir.exp2": MathFunction(exp2, 0.88),
    "tir.log": MathFunction(log, 0.94),
    "tir.log2": MathFunction(log2, 1.42),
    "tir.pow": MathFunction(pow, 0.54),
    "tir.rsqrt": MathFunction(rsqrt, 1.50),
    "tir.sigmoid": MathFunction(sigmoid, 1.97),
    "tir.sin": MathFunction(sin, 1.56),
    "tir.tanh": MathFunction(tanh, 1.04),
}


class VectorFunction(NamedTuple):
    """A definition for one width: what it computes of its parameters."""

    params: tuple[prim.Var, ...]
    body: PrimExpr


def has_vector_math(func: tir.PrimFunc) -> bool:
    """True if the math functions in a PrimFunc are those defined here."""
    return func.attrs is not None and bool(func.attrs.get(ATTRIBUTE, False))


def has_definition(call: prim.Call) -> bool:
    """True if there is a definition of a call: of this function, and of numbers of this dtype."""
    if getattr(call.op, "name", None) not in FUNCTIONS:
        return False
    return call.dtype.is_float and call.dtype.element != "float64"


def define(name: str, arity: int, lanes: int) -> VectorFunction:
    """The definition of an intrinsic for operands of so many lanes; its variables are new."""
    dtype = FLOAT32.with_lanes(lanes)
    params = tuple(prim.Var.make(f"x{k}", dtype) for k in range(arity))
    steps = LetChain()
    return VectorFunction(params, steps.then(FUNCTIONS[name].definition(steps, *params)))


def expand_vector_math(call: prim.Call) -> PrimExpr | None:
    """The expression that a call is; None where there is no definition."""
    if not has_definition(call):
        return None
    params, body = define(call.op.name, len(call.args), call.dtype.lanes)
    for param, arg in zip(params, call.args, strict=True):
        body = prim.Let.make(param, prim.cast(arg, param.dtype), body)
    return prim.cast(body, call.dtype)

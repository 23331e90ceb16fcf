"""Elements computed from elements as numpy does it: what tables of operators and `topi` share.

The functions of `scalar.py` mean what those of TIR mean, and these what numpy's mean. An integer
divided by zero gives 0 here. Integers of two dtypes are compared as numbers. `widen` is for what
the meaning computes in float32 at least.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType, nearest
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, Select, as_scalar, cast, const
from relaxscript.ir.prim_operators import BUILDERS
from relaxscript.ir.scalar_functions import FUNCTIONS, if_then_else, match_operands
from relaxscript.ir.tir import Buffer

__all__ = [
    "absolute", "add", "atan2", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "clip",
    "divide", "equal", "expm1", "floor_divide", "floor_mod", "greater", "greater_equal",
    "left_shift", "less", "less_equal", "load", "log_add_exp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "logistic", "maximum", "minimum", "mod", "multiply",
    "multiply_add", "negative", "not_equal", "one", "power", "right_shift", "rsqrt", "select",
    "sigmoid", "sign", "square", "subtract", "widen", "zero",
]  # fmt: skip

_FLOAT32, _FLOAT64 = DataType("float32"), DataType("float64")
_INT64, _UINT64 = DataType("int64"), DataType("uint64")

Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]


def widen(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function computed in float32 at least, and rounded to its operands' dtype once."""

    def wide(*operands: PrimExpr, **attributes: Any) -> PrimExpr:
        dtype = operands[0].dtype
        if not dtype.is_float or dtype.bits > 16:
            made: PrimExpr = function(*operands, **attributes)
            return made
        single = _FLOAT32.with_lanes(dtype.lanes)
        return cast(function(*(cast(e, single) for e in operands), **attributes), dtype)

    wide.__doc__ = function.__doc__
    return wide


def select(condition: Any, x: Any, y: Any) -> PrimExpr:
    """`x` where the condition holds, else `y`; both may be evaluated."""
    yes, no = match_operands("Select", ("x", "y"), x, y)
    return Select.make(condition, yes, no)


def load(buffer: Buffer, *indices: Any) -> PrimExpr:
    """The element of a buffer, in the statements of `extern`."""
    return prim.BufferLoad(buffer, indices)


def converted(e: PrimExpr, dtype: DataType) -> PrimExpr:
    """`e` as a value of `dtype`; a literal is, where that changes nothing, one of this dtype."""
    if isinstance(e, IntImm) and not _holds(dtype, e.value):
        return prim.Cast.make(dtype, e)
    return cast(e, dtype)


def _holds(dtype: DataType, value: int) -> bool:
    if dtype.is_float:
        return bool(nearest(value, dtype) == value)
    if not dtype.is_integer:
        return False
    low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
    return low <= value < low + (1 << dtype.bits)


def zero(dtype: DataType) -> PrimExpr:
    """The element that `numpy.zeros` has; of a format without 0 that is its least number."""
    return const(np.zeros((), dtype.element.numpy).item(), dtype)


def one(dtype: DataType) -> PrimExpr:
    """The element 1, or True."""
    return const(1, dtype)


# ---------------------------------------------------------------- two operands

add = BUILDERS["+"]
subtract = BUILDERS["-"]
multiply = BUILDERS["*"]
maximum = FUNCTIONS["max"]
minimum = FUNCTIONS["min"]
power = FUNCTIONS["pow"]
atan2 = FUNCTIONS["atan2"]
left_shift = FUNCTIONS["shift_left"]
right_shift = FUNCTIONS["shift_right"]
bitwise_and = FUNCTIONS["bitwise_and"]
bitwise_or = FUNCTIONS["bitwise_or"]
bitwise_xor = FUNCTIONS["bitwise_xor"]


def _division(name: str, node: Any) -> Binary:
    """A quotient or remainder; for integers it is 0 where they are divided by 0."""

    def divided(a: Any, b: Any) -> PrimExpr:
        a, b = match_operands(name, ("a", "b"), a, b)
        if not b.dtype.is_integer or (isinstance(b, IntImm) and b.value):
            return _in_float64(node, a, b) if name == "floordiv" else _made(node, a, b)
        nothing = const(0, b.dtype)
        if isinstance(b, IntImm):
            return nothing
        return if_then_else(prim.NE.make(b, nothing), node.make(a, b), nothing)

    return divided


def _made(node: Any, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    made: PrimExpr = node.make(a, b)
    return made


def _in_float64(node: Any, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """A quotient rounded down: a float32 has no room for the steps in which numpy computes it."""
    if a.dtype.element is not _FLOAT32:
        return _made(node, a, b)
    double = _FLOAT64.with_lanes(a.dtype.lanes)
    return cast(_made(node, cast(a, double), cast(b, double)), a.dtype)


divide = _division("truncdiv", prim.Div)
mod = _division("truncmod", prim.Mod)
floor_divide = _division("floordiv", prim.FloorDiv)
floor_mod = _division("floormod", prim.FloorMod)


@widen
def log_add_exp(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """`log(exp(a) + exp(b))` from the larger of the two on, so that nothing overflows."""
    # Of two infinities of one sign the difference is NaN, and their sum is twice either.
    near = select(prim.EQ.make(a, b), const(0, a.dtype), FUNCTIONS["abs"](a - b))
    return maximum(a, b) + FUNCTIONS["log1p"](FUNCTIONS["exp"](negative(near)))


def _comparison(node: Any) -> Binary:
    """A comparison of numbers whose dtypes may differ."""

    def compared(a: Any, b: Any) -> PrimExpr:
        a, b = prim.alike(a, b)
        if a.dtype is b.dtype:
            return _made(node, a, b)
        dtypes = a.dtype, b.dtype
        if a.dtype.is_float or b.dtype.is_float:
            return _made(node, cast(a, _FLOAT64), cast(b, _FLOAT64))
        if _UINT64 not in dtypes:
            return _made(node, cast(a, _INT64), cast(b, _INT64))
        below = _made(node, cast(a, _UINT64), cast(b, _UINT64))
        # A negative number is below every one without a sign.
        if a.dtype.kind == "int":
            return select(a < 0, _fact(node, -1, 0), below)
        return select(b < 0, _fact(node, 0, -1), below) if b.dtype.kind == "int" else below

    return compared


def _fact(node: Any, a: int, b: int) -> PrimExpr:
    """The outcome of a comparison of two numbers."""
    outcomes = {
        prim.EQ: a == b, prim.NE: a != b, prim.LT: a < b, prim.LE: a <= b, prim.GT: a > b,
        prim.GE: a >= b,
    }  # fmt: skip
    return const(outcomes[node])


equal = _comparison(prim.EQ)
not_equal = _comparison(prim.NE)
less = _comparison(prim.LT)
less_equal = _comparison(prim.LE)
greater = _comparison(prim.GT)
greater_equal = _comparison(prim.GE)


def _of_conditions(name: str, node: Any) -> Callable[..., PrimExpr]:
    """A function of conditions, which refuses what is none."""

    def joined(*operands: Any) -> PrimExpr:
        given = tuple(map(as_scalar, operands))
        for part, e in zip("ab", given):
            if not e.dtype.is_bool:
                raise OperandError(
                    part, f"is {e.dtype}", code="RX0502",
                    message=f"`{name}` takes conditions, and {e.dtype} is none",
                    help="compare it: `x != 0`",
                )  # fmt: skip
        made: PrimExpr = node.make(*given)
        return made

    return joined


logical_and = _of_conditions("logical_and", prim.And)
logical_or = _of_conditions("logical_or", prim.Or)
logical_xor = _of_conditions("logical_xor", prim.NE)


# ---------------------------------------------------------------- one operand

absolute = FUNCTIONS["abs"]
bitwise_not = FUNCTIONS["bitwise_not"]
logical_not = _of_conditions("logical_not", prim.Not)


def negative(x: PrimExpr) -> PrimExpr:
    """`-x`; that of 0.0 is -0.0, and the least integer stays what it is."""
    return x * -1.0 if x.dtype.is_float else const(0, x.dtype) - x


def square(x: PrimExpr) -> PrimExpr:
    """`x * x`."""
    return x * x


@widen
def sign(x: PrimExpr) -> PrimExpr:
    """-1, 0 or 1 by the sign of a number; NaN stays NaN."""
    nothing = const(0, x.dtype)
    above = select(x > nothing, const(1, x.dtype), nothing)
    if x.dtype.kind in ("uint", "bool"):
        return above
    found = select(x < nothing, const(-1, x.dtype), above)
    return select(FUNCTIONS["isnan"](x), x, found) if x.dtype.is_float else found


@widen
def rsqrt(x: PrimExpr) -> PrimExpr:
    """1 divided by the square root."""
    return const(1, x.dtype) / FUNCTIONS["sqrt"](x)


def logistic(x: PrimExpr) -> PrimExpr:
    """`1 / (1 + exp(-x))` without overflow."""
    power = FUNCTIONS["exp"](negative(FUNCTIONS["abs"](x)))
    return select(x >= 0.0, const(1, x.dtype), power) / (power + 1.0)


sigmoid = widen(logistic)


def expm1(x: PrimExpr) -> PrimExpr:
    """`exp(x) - 1` for `x` of at most 0, without cancellation."""
    half = FUNCTIONS["tanh"](x * 0.5)
    return half * 2.0 / (const(1, x.dtype) - half)


def multiply_add(a: PrimExpr, b: PrimExpr, c: PrimExpr) -> PrimExpr:
    """`a * b + c`, rounded twice."""
    return a * b + c


def clip(x: PrimExpr, low: PrimExpr, high: PrimExpr) -> PrimExpr:
    """`x` held between two bounds, which take its dtype; the upper one has the last word."""
    return minimum(maximum(x, converted(low, x.dtype)), converted(high, x.dtype))

"""Functions of scalars that `tvm.tir` has beside those of scripts: `all`, `any`, `div` ...

Each builds an expression as Python's operators on scalars do.

Source: TVM `tir.op`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.errors.user_frame import report_at_caller

from .constant_folding import fold_function
from .device_functions import operand
from .prim import And, IntImm, Or, PrimExpr, PrimExprLike, Var
from .scalar_functions import FUNCTIONS
from .tir import Buffer

__all__ = [
    "all", "any", "decl_buffer", "div", "floordiv", "floormod", "indexdiv", "indexmod",
    "power", "truncdiv", "truncmod",
]  # fmt: skip


def _conditions(name: str, args: tuple[PrimExprLike, ...]) -> list[PrimExpr]:
    if args:
        return [operand(name, f"args[{i}]", arg) for i, arg in enumerate(args)]
    message = f"`tir.{name}` joins one condition or more"
    raise OperandError("args", "is empty", message=message, code="RX0502")


@report_at_caller
def all(*args: PrimExprLike) -> PrimExpr:
    """The conjunction of conditions: `a and b and ...`. Raises `OperandError` for none."""
    first, *rest = _conditions("all", args)
    for condition in rest:
        first = _joined(And, first, condition)
    return first


@report_at_caller
def any(*args: PrimExprLike) -> PrimExpr:
    """The disjunction of conditions: `a or b or ...`. Raises `OperandError` for none."""
    first, *rest = _conditions("any", args)
    for condition in rest:
        first = _joined(Or, first, condition)
    return first


def _joined(join: type[And] | type[Or], a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """Two conditions together; one that is known decides, or is left out."""
    made = join(a, b)
    for known, other in ((a, b), (b, a)):
        if isinstance(known, IntImm):
            return other if bool(known.value) == (join is And) else known
    return made


def _folding(name: str, meaning: str) -> Callable[[PrimExprLike, PrimExprLike], PrimExpr]:
    """A function of two scalars, which is a number where both are."""

    @report_at_caller
    def function(a: PrimExprLike, b: PrimExprLike) -> PrimExpr:
        return fold_function(FUNCTIONS[name](a, b))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{meaning} Raises `OperandError` for a division by zero."
    return function


truncdiv = _folding("truncdiv", "The quotient of two integers, rounded toward zero.")
truncmod = _folding("truncmod", "What `truncdiv` leaves over; it has the sign of the dividend.")
floordiv = _folding("floordiv", "The quotient of two integers, rounded down.")
floormod = _folding("floormod", "What `floordiv` leaves over; it has the sign of the divisor.")


def div(a: PrimExprLike, b: PrimExprLike) -> PrimExpr:
    """Division as in C: of integers the quotient rounded toward zero."""
    return truncdiv(a, b)


def indexdiv(a: PrimExprLike, b: PrimExprLike) -> PrimExpr:
    """The quotient of two integers that are not negative, as of indices."""
    return floordiv(a, b)


def indexmod(a: PrimExprLike, b: PrimExprLike) -> PrimExpr:
    """The remainder of two integers that are not negative, as of indices."""
    return floormod(a, b)


def power(x: PrimExprLike, y: PrimExprLike) -> PrimExpr:
    """`x` to the power of `y`; `T.pow` in scripts."""
    return FUNCTIONS["pow"](x, y)


def decl_buffer(
    shape: PrimExprLike | Sequence[PrimExprLike],
    dtype: str = "float32",
    name: str = "buffer",
    data: Var | None = None,
    strides: Sequence[PrimExprLike] | None = None,
    elem_offset: PrimExprLike | None = None,
    scope: str = "global",
    data_alignment: int = 64,
    offset_factor: int = 1,
    buffer_type: str = "",
    axis_separators: Sequence[int] = (),
) -> Buffer:
    """A buffer by the name that TVM has for its constructor, with the shape first."""
    dims: Any = shape if isinstance(shape, Sequence) else (shape,)
    options: dict[str, Any] = {
        "data": data,
        "strides": strides,
        "elem_offset": elem_offset,
        "scope": scope or "global",
        "data_alignment": data_alignment,
        "offset_factor": offset_factor,
        "buffer_type": buffer_type,
        "axis_separators": axis_separators,
    }
    return Buffer(name, dims, DataType(dtype), **options)

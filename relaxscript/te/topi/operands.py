"""Requirements of functions of tensors on what they are given."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import NO, format_expr, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir.prim import PrimExpr
from relaxscript.te.tensor import Tensor

__all__ = ["require_dims", "require_dtype"]


def require_dims(
    callee: str, name: str, tensor: Tensor, wanted: Sequence[PrimExpr], of: str
) -> None:
    """Refuse a tensor that has other dimensions than those that belong to the operand `of`."""
    if tensor.ndim != len(wanted):
        raise OperandError(
            name, f"has {quantity(tensor.ndim, 'axis')}", code="RX0203",
            message=f"`{callee}` takes a `{name}` of {quantity(len(wanted), 'axis')} here, "
            f"not of {tensor.ndim}",
        )  # fmt: skip
    for axis, (own, size) in enumerate(zip(tensor.shape, wanted)):
        if prove_equal(own, size) is NO:
            raise OperandError(
                name, f"has {format_expr(own)} elements along axis {axis}",
                also={of: f"has {format_expr(size)} there"}, code="RX0203",
                message=f"`{callee}` takes {format_expr(size)} elements along axis {axis} "
                f"of `{name}`, not {format_expr(own)}",
            )  # fmt: skip


def require_dtype(callee: str, name: str, dtype: DataType, accepts: str) -> None:
    """Refuse a dtype that is not of a kind: "float", "integer" or "number"."""
    is_number = not dtype.is_bool
    is_accepted = {
        "float": dtype.is_float, "integer": is_number and not dtype.is_float, "number": is_number,
    }  # fmt: skip
    if not is_accepted[accepts]:
        kind = {"float": "floats", "integer": "integers", "number": "numbers"}[accepts]
        raise OperandError(
            name, f"is {dtype}", code="RX0502",
            message=f"`{callee}` takes {kind} as `{name}`, not {dtype}",
        )  # fmt: skip

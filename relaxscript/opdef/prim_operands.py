"""Operands that are scalars: what rules ask of them."""

from __future__ import annotations

from typing import Any

from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo
from relaxscript.runtime.values import prim_value

from .operands import wrong_kind

__all__ = ["integer_in", "require_integer", "require_prim"]


def require_prim(operand: str, info: StructInfo | None) -> PrimStructInfo:
    """The StructInfo of a scalar; raises `OperandError` (RX0201) for anything else."""
    if not isinstance(info, PrimStructInfo):
        raise wrong_kind(operand, info, "prim")
    return info


def require_integer(operand: str, info: StructInfo | None, noun: str) -> PrimExpr | None:
    """The value of an integer, None where it is known only later; `noun` is what it is for.

    Raises `OperandError` for what is no scalar (RX0201) or no integer (RX0202).
    """
    found = require_prim(operand, info)
    if not found.dtype.is_integer:
        raise OperandError(
            operand,
            f"is a scalar of {found.dtype}",
            message=f"{noun} is an integer",
            code="RX0202",
        )
    return found.value


def integer_in(value: Any) -> int:
    """The number that a scalar of an integer dtype holds."""
    found = prim_value(value)
    return 0 if found is None else int(found)

"""Calls of packed functions in the place of operators that are no loops."""

from __future__ import annotations

from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError
from relaxscript.ir.prim import FloatImm, as_prim
from relaxscript.ir.relax import (
    Call,
    DataTypeImm,
    Expr,
    ExternFunc,
    PrimValue,
    ShapeExpr,
    StringImm,
    Tuple,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op.base import null_value
from relaxscript.op.calls import call_pure_packed
from relaxscript.opdef.operator import Operator

__all__ = ["packed_call"]

_FLOAT64 = DataType("float64")


def packed_call(operator: Operator, call: Call, out: StructInfo) -> Call:
    """The call of an operator's packed function: its operands, then its attributes as values.

    Before:

        y = R.nonzero(x)

    After:

        y = R.call_pure_packed("relax.run.nonzero", x, sinfo_args=R.Tensor(dtype="int64", ndim=2))
    """
    if operator.packed is None:
        raise InternalError(f"`{operator.name}` has no packed function")
    given = [_value(value) for _, value in operator.arguments(call)]
    args = (ExternFunc.make(operator.packed), *given)
    return Call.make(call_pure_packed.op, args, None, (out,), span=call.span)


def _value(value: Any) -> Expr:
    """An operand as it is, and an attribute as a value of the program."""
    match value:
        case Expr():
            return value
        case None:
            return null_value.build(())
        case str():
            return StringImm(value)
        case DataType():
            return DataTypeImm(value)
        case float():
            return PrimValue.make(FloatImm.make(_FLOAT64, value))
        case tuple() if all(isinstance(size, int) for size in value):
            return ShapeExpr.make(tuple(map(as_prim, value)))
        case tuple():
            return Tuple.make(tuple(map(_value, value)))
    return PrimValue.make(as_prim(value))

"""`R.make_closure`: a function with its last arguments given, and the type that it has then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.runtime import Closure, Shape
from relaxscript.runtime.builtins import BUILTINS
from relaxscript.runtime.values import prim_dtype, prim_value, tensor_dtype
from relaxscript.sinfo import apply_partially

__all__ = ["make_closure"]

_OBJECT = ObjectStructInfo()


def make_closure(function: Any, *captured: Any) -> Closure:
    """`R.make_closure`: `function` with its last arguments given, and the type that it has then.

    Raises `VMError` for what is no closure.
    """
    closure: Closure = BUILTINS["vm.builtin.make_closure"](function, *captured)
    info = closure.info
    if not isinstance(info, FuncStructInfo) or len(info.params or ()) < len(captured):
        return closure
    return closure.bind((), apply_partially(info, [_struct_info_of(value) for value in captured]))


def _struct_info_of(value: Any) -> StructInfo:
    """What a value says of shape variables: its dimensions, its number, those of its fields."""
    match value:
        case Shape():
            return ShapeStructInfo.make(_dims(value), len(value))
        case tuple():
            return TupleStructInfo.make(tuple(map(_struct_info_of, value)))
    if (dtype := tensor_dtype(value)) is not None:
        dims = relax.ShapeExpr.make(_dims(value.shape))
        return TensorStructInfo.make(dims, dtype, None, len(dims))
    if (scalar := prim_dtype(value)) is not None:
        literal = prim.FloatImm if scalar.is_float else prim.IntImm
        return PrimStructInfo.make(scalar, literal.make(scalar, prim_value(value)))
    return _OBJECT


def _dims(shape: Sequence[int]) -> tuple[prim.PrimExpr, ...]:
    return tuple(prim.IntImm.make(prim.INT64, int(dim)) for dim in shape)

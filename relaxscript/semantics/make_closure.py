"""`R.make_closure`: a function with its last arguments given, and the type that it has then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from relaxscript.sinfo import apply_partially, definable_shape_vars, shape_vars

__all__ = ["CAPTURED", "LOCAL_NAME", "captured_count", "closure_maker", "make_closure"]

# Attributes of a lifted function: what failures call it, and how many last parameters it captures.
LOCAL_NAME = "relax.local_name"
CAPTURED = "relax.captured"


_OBJECT = ObjectStructInfo()


def captured_count(function: relax.Function) -> int:
    """The number of last parameters that are captured, of a function that was a local one."""
    return int((function.attrs or relax.Attrs()).get(CAPTURED, 0))


def make_closure(function: Any, *captured: Any) -> Closure:
    """`R.make_closure`: `function` with its last arguments given, and the type that it has then.

    Raises `VMError` for what is no closure.
    """
    closure: Closure = BUILTINS["vm.builtin.make_closure"](function, *captured)
    info = closure.info
    if not isinstance(info, FuncStructInfo) or len(info.params or ()) < len(captured):
        return closure
    return closure.bind((), apply_partially(info, [_struct_info_of(value) for value in captured]))


def closure_maker(info: FuncStructInfo, count: int) -> Callable[..., Closure]:
    """`make_closure` for a function of type `info` and `count` arguments.

    Looks only at arguments that decide what the type of the closure is.
    """
    params = info.params or ()
    given = params[len(params) - count :]
    left = shape_vars(FuncStructInfo.make(params[: len(params) - count], info.ret, info.purity))
    telling = [bool(set(left) & set(definable_shape_vars(param))) for param in given]

    if not any(telling):
        known = apply_partially(info, [_OBJECT] * count)
        return lambda function, *captured: function.bind(captured, known)

    latest: tuple[object, StructInfo | None] = (None, None)

    def make(function: Closure, *captured: Any) -> Closure:
        nonlocal latest
        told = [value for value, tells in zip(captured, telling) if tells]
        sizes = [_sizes_of(value) for value in told]
        before, made = latest
        if made is None or before != sizes:
            values = iter(told)
            infos = [_struct_info_of(next(values)) if tells else _OBJECT for tells in telling]
            made = apply_partially(info, infos)
            latest = (sizes, made)
        return function.bind(captured, made)

    return make


def _struct_info_of(value: Any) -> StructInfo:
    """The StructInfo by which a value tells shape variables: dimensions, a number, or fields."""
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


def _sizes_of(value: Any) -> object:
    """All that `_struct_info_of` looks at, to be compared."""
    match value:
        case Shape():
            return value
        case tuple():
            return [_sizes_of(field) for field in value]
    if (dtype := tensor_dtype(value)) is not None:
        return dtype, value.shape
    scalar = prim_dtype(value)
    return None if scalar is None else (scalar, prim_value(value))

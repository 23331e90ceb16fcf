"""The data types that `T.` names: `T.float32(x)` converts, `T.int64()` is a new variable.

As an annotation (`n: T.int64`, `a: T.handle`) a data type declares a scalar parameter or variable.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir.prim import (
    Broadcast, PointerType, PrimExpr, PrimType, SizeVar, Var, cast, const,
)  # fmt: skip

from .annotations import in_annotation

__all__ = [
    "HandleType", "ScalarType", "bfloat16", "bool", "boolean", "float16", "float16x16",
    "float16x32", "float16x4", "float16x64", "float16x8", "float32", "float32x16", "float32x32",
    "float32x4", "float32x64", "float32x8", "float4_e2m1fn", "float4_e2m1fnx16",
    "float4_e2m1fnx2", "float4_e2m1fnx32", "float4_e2m1fnx4", "float4_e2m1fnx64",
    "float4_e2m1fnx8", "float64", "float64x16", "float64x32", "float64x4", "float64x64",
    "float64x8", "float8_e4m3fn", "float8_e4m3fnx16", "float8_e4m3fnx32", "float8_e4m3fnx4",
    "float8_e4m3fnx64", "float8_e4m3fnx8", "float8_e5m2", "float8_e5m2x16", "float8_e5m2x32",
    "float8_e5m2x4", "float8_e5m2x64", "float8_e5m2x8", "handle", "int16", "int16x16",
    "int16x32", "int16x4", "int16x64", "int16x8", "int32", "int32x16", "int32x32", "int32x4",
    "int32x64", "int32x8", "int64", "int64x16", "int64x32", "int64x4", "int64x64", "int64x8",
    "int8", "int8x16", "int8x32", "int8x4", "int8x64", "int8x8", "uint16", "uint16x16",
    "uint16x32", "uint16x4", "uint16x64", "uint16x8", "uint32", "uint32x16", "uint32x32",
    "uint32x4", "uint32x64", "uint32x8", "uint64", "uint64x16", "uint64x32", "uint64x4",
    "uint64x64", "uint64x8", "uint8", "uint8x16", "uint8x32", "uint8x4", "uint8x64", "uint8x8",
    "void",
]  # fmt: skip


class ScalarType:
    """A data type that can be called: with nothing for a variable, with a value to convert it."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: str) -> None:
        self.dtype = DataType(dtype)

    def __call__(self, expr: Any = None, is_size_var: bool = False) -> PrimExpr:
        """A new variable of this type, or `expr` as a value of it.

        The variable has no name until `n = T.int64()` gives it one; `is_size_var` says that it is
        never negative. Raises `TypeError` for what is no scalar and `ValueError` for a number that
        does not fit.
        """
        if expr is None:
            return (SizeVar if is_size_var else Var).make("", self.dtype)
        if isinstance(expr, PrimExpr):
            return _converted(expr, self.dtype)
        if isinstance(expr, str):
            expr = float.fromhex(expr) if "0x" in expr.lower() else float(expr)
        if not hasattr(expr, "__index__") and not isinstance(expr, float):
            raise TypeError(f"`T.{self.dtype}` converts scalars, not {type(expr).__name__}")
        if not self.dtype.is_float and isinstance(expr, float) and not math.isfinite(expr):
            raise ValueError(f"{expr} is no {self.dtype}")
        return const(expr, self.dtype)

    def __repr__(self) -> str:
        return f"T.{self.dtype}"


def _converted(e: PrimExpr, dtype: DataType) -> PrimExpr:
    if e.dtype.lanes == 1 and dtype.lanes > 1:
        return Broadcast.make(cast(e, dtype.element), dtype.lanes)
    return cast(e, dtype)


class HandleType(ScalarType):
    """An address: `a: T.handle` is a parameter that `T.match_buffer(a, ...)` reads as a buffer."""

    __slots__ = ()

    def __call__(
        self, dtype: Any = None, storage_scope: str = "global", *, is_size_var: bool = False
    ) -> PrimExpr:
        """A variable that holds the address of elements of `dtype` in memory of a scope."""
        if dtype is None:
            return Var.make("", self.dtype)
        name = dtype.dtype if isinstance(dtype, ScalarType) else dtype
        try:
            element = PrimType(DataType(name))
        except ValueError:
            if in_annotation(sys._getframe(1)):
                return Var.make("", self.dtype)
            raise
        return Var.make("", self.dtype, PointerType.make(element, storage_scope))


# fmt: off
int8 = ScalarType("int8")
int16 = ScalarType("int16")
int32 = ScalarType("int32")
int64 = ScalarType("int64")
int8x4 = ScalarType("int8x4")
int16x4 = ScalarType("int16x4")
int32x4 = ScalarType("int32x4")
int64x4 = ScalarType("int64x4")
int8x8 = ScalarType("int8x8")
int16x8 = ScalarType("int16x8")
int32x8 = ScalarType("int32x8")
int64x8 = ScalarType("int64x8")
int8x16 = ScalarType("int8x16")
int16x16 = ScalarType("int16x16")
int32x16 = ScalarType("int32x16")
int64x16 = ScalarType("int64x16")
int8x32 = ScalarType("int8x32")
int16x32 = ScalarType("int16x32")
int32x32 = ScalarType("int32x32")
int64x32 = ScalarType("int64x32")
int8x64 = ScalarType("int8x64")
int16x64 = ScalarType("int16x64")
int32x64 = ScalarType("int32x64")
int64x64 = ScalarType("int64x64")
uint8 = ScalarType("uint8")
uint16 = ScalarType("uint16")
uint32 = ScalarType("uint32")
uint64 = ScalarType("uint64")
uint8x4 = ScalarType("uint8x4")
uint16x4 = ScalarType("uint16x4")
uint32x4 = ScalarType("uint32x4")
uint64x4 = ScalarType("uint64x4")
uint8x8 = ScalarType("uint8x8")
uint16x8 = ScalarType("uint16x8")
uint32x8 = ScalarType("uint32x8")
uint64x8 = ScalarType("uint64x8")
uint8x16 = ScalarType("uint8x16")
uint16x16 = ScalarType("uint16x16")
uint32x16 = ScalarType("uint32x16")
uint64x16 = ScalarType("uint64x16")
uint8x32 = ScalarType("uint8x32")
uint16x32 = ScalarType("uint16x32")
uint32x32 = ScalarType("uint32x32")
uint64x32 = ScalarType("uint64x32")
uint8x64 = ScalarType("uint8x64")
uint16x64 = ScalarType("uint16x64")
uint32x64 = ScalarType("uint32x64")
uint64x64 = ScalarType("uint64x64")
float8_e4m3fn = ScalarType("float8_e4m3fn")
float8_e5m2 = ScalarType("float8_e5m2")
float4_e2m1fn = ScalarType("float4_e2m1fn")
float16 = ScalarType("float16")
float32 = ScalarType("float32")
float64 = ScalarType("float64")
float4_e2m1fnx2 = ScalarType("float4_e2m1fnx2")
float8_e4m3fnx4 = ScalarType("float8_e4m3fnx4")
float8_e5m2x4 = ScalarType("float8_e5m2x4")
float4_e2m1fnx4 = ScalarType("float4_e2m1fnx4")
float16x4 = ScalarType("float16x4")
float32x4 = ScalarType("float32x4")
float64x4 = ScalarType("float64x4")
float8_e4m3fnx8 = ScalarType("float8_e4m3fnx8")
float8_e5m2x8 = ScalarType("float8_e5m2x8")
float4_e2m1fnx8 = ScalarType("float4_e2m1fnx8")
float16x8 = ScalarType("float16x8")
float32x8 = ScalarType("float32x8")
float64x8 = ScalarType("float64x8")
float8_e4m3fnx16 = ScalarType("float8_e4m3fnx16")
float8_e5m2x16 = ScalarType("float8_e5m2x16")
float4_e2m1fnx16 = ScalarType("float4_e2m1fnx16")
float16x16 = ScalarType("float16x16")
float32x16 = ScalarType("float32x16")
float64x16 = ScalarType("float64x16")
float8_e4m3fnx32 = ScalarType("float8_e4m3fnx32")
float8_e5m2x32 = ScalarType("float8_e5m2x32")
float4_e2m1fnx32 = ScalarType("float4_e2m1fnx32")
float16x32 = ScalarType("float16x32")
float32x32 = ScalarType("float32x32")
float64x32 = ScalarType("float64x32")
float8_e4m3fnx64 = ScalarType("float8_e4m3fnx64")
float8_e5m2x64 = ScalarType("float8_e5m2x64")
float4_e2m1fnx64 = ScalarType("float4_e2m1fnx64")
float16x64 = ScalarType("float16x64")
float32x64 = ScalarType("float32x64")
float64x64 = ScalarType("float64x64")
bfloat16 = ScalarType("bfloat16")
# fmt: on

handle = HandleType("handle")
void = ScalarType("void")
boolean = ScalarType("bool")
bool = boolean  # last, since Python's own is meant above

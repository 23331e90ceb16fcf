"""The dtypes that `T.` names: `T.float32(x)` converts, `T.int64()` is a new variable.

As an annotation (`n: T.int64`, `a: T.handle`) a dtype declares a scalar parameter or variable.
"""

from __future__ import annotations

from .tir_types import HandleType, ScalarType

__all__ = [
    "bfloat16",
    "bool",
    "boolean",
    "float4_e2m1fn",
    "float4_e2m1fnx2",
    "float4_e2m1fnx4",
    "float4_e2m1fnx8",
    "float4_e2m1fnx16",
    "float4_e2m1fnx32",
    "float4_e2m1fnx64",
    "float8_e4m3fn",
    "float8_e4m3fnx4",
    "float8_e4m3fnx8",
    "float8_e4m3fnx16",
    "float8_e4m3fnx32",
    "float8_e4m3fnx64",
    "float8_e5m2",
    "float8_e5m2x4",
    "float8_e5m2x8",
    "float8_e5m2x16",
    "float8_e5m2x32",
    "float8_e5m2x64",
    "float16",
    "float16x4",
    "float16x8",
    "float16x16",
    "float16x32",
    "float16x64",
    "float32",
    "float32x4",
    "float32x8",
    "float32x16",
    "float32x32",
    "float32x64",
    "float64",
    "float64x4",
    "float64x8",
    "float64x16",
    "float64x32",
    "float64x64",
    "handle",
    "int8",
    "int8x4",
    "int8x8",
    "int8x16",
    "int8x32",
    "int8x64",
    "int16",
    "int16x4",
    "int16x8",
    "int16x16",
    "int16x32",
    "int16x64",
    "int32",
    "int32x4",
    "int32x8",
    "int32x16",
    "int32x32",
    "int32x64",
    "int64",
    "int64x4",
    "int64x8",
    "int64x16",
    "int64x32",
    "int64x64",
    "uint8",
    "uint8x4",
    "uint8x8",
    "uint8x16",
    "uint8x32",
    "uint8x64",
    "uint16",
    "uint16x4",
    "uint16x8",
    "uint16x16",
    "uint16x32",
    "uint16x64",
    "uint32",
    "uint32x4",
    "uint32x8",
    "uint32x16",
    "uint32x32",
    "uint32x64",
    "uint64",
    "uint64x4",
    "uint64x8",
    "uint64x16",
    "uint64x32",
    "uint64x64",
    "void",
]  # fmt: skip


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
bool = boolean

"""The dtypes that `T.` names: `T.float32(x)` converts, `T.int64()` is a new variable.

As an annotation (`n: T.int64`, `a: T.handle`) a dtype declares a scalar parameter or variable.
"""

from __future__ import annotations

from .tir_types import HandleType, ScalarType

_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_FLOATS = ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "float16", "float32", "float64")
_VECTORS = tuple(f"{element}x{n}" for n in (4, 8, 16, 32, 64) for element in (*_INTEGERS, *_FLOATS))

vars().update(
    {
        name: ScalarType(name)
        for name in (*_INTEGERS, *_FLOATS, *_VECTORS, "float4_e2m1fnx2", "bfloat16")
    }
)
handle = HandleType("handle")
void = ScalarType("void")
boolean = ScalarType("bool")
bool = boolean

__all__ = [name for name, value in sorted(vars().items()) if isinstance(value, ScalarType)]

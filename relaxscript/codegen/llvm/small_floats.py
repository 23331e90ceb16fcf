"""Floats of at most eight bits: bytes in memory, `float`s in registers.

No CPU computes with them, so both ways go through tables that are made from ml_dtypes. It has the
last word on rounding. One table has the value of each code. Another has for each code the least
`float` that is rounded to it or beyond, which a binary search finds.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from relaxscript.dtypes import DataType

from .types import constant

__all__ = ["decoder", "encoder"]

_STEPS = (64, 32, 16, 8, 4, 2, 1)


@cache
def _values(dtype: DataType) -> tuple[float, ...]:
    """The value of each byte; bits above those of the format do not count."""
    codes = np.arange(256, dtype="uint8") & ((1 << dtype.bits) - 1)
    return tuple(codes.astype("uint8").view(dtype.numpy).astype("float32").tolist())


@cache
def _least(dtype: DataType) -> tuple[float, ...]:
    """For each code without its sign, the least number whose code is not less; NaN for none."""
    mask = (1 << (dtype.bits - 1)) - 1
    wanted = np.arange(128)
    low, high = np.zeros(128, "uint32"), np.full(128, 0x7F800001, "uint32")
    while (low < high).any():
        middle = (low + high) // 2
        with np.errstate(all="ignore"):
            codes = middle.view("float32").astype(dtype.numpy).view("uint8") & mask
        enough = codes >= wanted
        high = np.where(enough, middle, high).astype("uint32")
        low = np.where(enough, low, middle + 1).astype("uint32")
    return tuple(low.view("float32").tolist())


def _table(name: str, numbers: tuple[float, ...]) -> str:
    listed = ", ".join(f"float {constant('float', x)}" for x in numbers)
    return f"@{name} = private constant [{len(numbers)} x float] [{listed}]"


def decoder(dtype: DataType) -> tuple[str, str]:
    """The name and the text of a function from a byte to its value."""
    name, table = f"relaxscript.decode.{dtype}", f"relaxscript.values.{dtype}"
    return (
        name,
        f"""{_table(table, _values(dtype))}
define internal float @{name}(i8 %code) nounwind {{
  %wide = zext i8 %code to i64
  %place = getelementptr inbounds [256 x float], ptr @{table}, i64 0, i64 %wide
  %value = load float, ptr %place
  ret float %value
}}""",
    )


def encoder(dtype: DataType) -> tuple[str, str]:
    """The name and the text of a function from a `float` to the byte of the nearest value."""
    name, table = f"relaxscript.encode.{dtype}", f"relaxscript.least.{dtype}"
    nan = int(np.array([np.nan], "float32").astype(dtype.numpy).view("uint8")[0])
    lines, found = [], "0"
    for step in _STEPS:
        lines += [
            f"  %try{step} = add i64 {found}, {step}",
            f"  %at{step} = getelementptr inbounds [128 x float], ptr @{table}, i64 0, "
            f"i64 %try{step}",
            f"  %least{step} = load float, ptr %at{step}",
            f"  %reached{step} = fcmp oge float %size, %least{step}",
            f"  %code{step} = select i1 %reached{step}, i64 %try{step}, i64 {found}",
        ]
        found = f"%code{step}"
    return (
        name,
        f"""{_table(table, _least(dtype))}
define internal i8 @{name}(float %x) nounwind {{
  %bits = bitcast float %x to i32
  %sign = lshr i32 %bits, 31
  %high = shl i32 %sign, {dtype.bits - 1}
  %magnitude = and i32 %bits, {0x7FFFFFFF}
  %size = bitcast i32 %magnitude to float
{chr(10).join(lines)}
  %unsigned = trunc i64 {found} to i32
  %signed = or i32 %unsigned, %high
  %byte = trunc i32 %signed to i8
  %is_nan = fcmp uno float %x, %x
  %code = select i1 %is_nan, i8 {nan}, i8 %byte
  ret i8 %code
}}""",
    )

"""Odd literals: strings, dtypes and numbers that printers and parsers have to keep."""

from __future__ import annotations

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir import prim

from .choices import Choices

__all__ = ["FLOATS", "KINDS", "TEXTS", "scalar_of"]

TEXTS = (
    "", "a", "{}", "'", '"', "\\", "\n", "\t\r\0", "\u00e9\u4e2d\U0001f600", "\ud800", "{x}", "#",
    '\\"', "\u2028 \x7f",
)  # fmt: skip
KINDS = ("float32", "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2", "int8",
         "int32", "int64", "uint8", "uint16", "uint64", "bool")  # fmt: skip
INFINITY = float("inf")
FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, 1e-45, 3.4e38, 1e300, INFINITY, -INFINITY, float("nan"))


def scalar_of(choices: Choices, dtype: DataType | None = None) -> prim.PrimExpr:
    """A literal of a dtype, of any if none is given."""
    dtype = dtype or DataType(choices.pick(KINDS))
    if dtype.is_bool:
        return prim.IntImm(dtype, choices.integer(0, 1))
    if dtype.is_float:
        with np.errstate(all="ignore"):
            return prim.FloatImm(dtype, float(np.float64(choices.pick(FLOATS)).astype(dtype.numpy)))
    limits = np.iinfo(dtype.numpy)
    return prim.IntImm(dtype, int(choices.pick((limits.max, limits.min, 0, 1))))

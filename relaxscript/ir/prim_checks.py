"""Checks of the operands of scalar expressions: two dtypes, wrong ranks, wrong kinds of numbers.

Every message names the class and, where there is one, the field.
"""

from __future__ import annotations

import math
import operator
import reprlib
from typing import Any

import ml_dtypes
import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, Nature

__all__ = [
    "check_axis_separators", "check_rank", "fits_float", "in_int64", "lanes", "number", "reason",
    "refused", "require_bool", "require_same_dtype", "shorten", "whole",
]  # fmt: skip

MOST_BITS = 256


def refused(message: str, *, code: str = "RX0502", nature: Nature = "value") -> DiagnosticError:
    """The error for a scalar that cannot be: a `ValueError` or `TypeError`, too."""
    return DiagnosticError(Diagnostic(code, message, None, nature=nature))


def reason(error: Exception) -> str:
    """The message of an error as one sentence."""
    return error.diagnostics[0].message if isinstance(error, DiagnosticError) else str(error)


def fits_float(value: float, dtype: DataType) -> bool:
    """True if a number is within a floating-point type; infinity and NaN are in each."""
    if dtype.bits >= 64 or not math.isfinite(value):
        return True
    info: Any = ml_dtypes.finfo if dtype.kind == "bfloat" or dtype.bits < 16 else np.finfo
    return abs(value) <= float(info(dtype.numpy).max)


def whole(value: Any) -> int:
    """A whole number as an int; True and False are 1 and 0."""
    if isinstance(value, np.bool_):
        return int(value)
    return operator.index(value)


def in_int64(value: int) -> int:
    """A whole number that 64 bits hold; raises `ValueError` for any other."""
    if not -(1 << 63) <= value < 1 << 63:
        raise refused(f"{shorten(value)} does not fit in int64")
    return value


def shorten(value: Any) -> str:
    """A value in a sentence; Python writes no number of more than some thousand digits."""
    if not isinstance(value, int):
        return reprlib.repr(value)
    bits = value.bit_length()
    return str(value) if bits <= MOST_BITS else f"a number of {bits:,} bits"


def number(value: Any) -> float:
    """A number as a float; a string is none."""
    if isinstance(value, str):
        raise TypeError("a string is no number")
    return float(value)


def require_same_dtype(node: Any, a: Any, b: Any) -> None:
    """Refuse two operands of different dtypes."""
    if a.dtype is not b.dtype:
        raise TypeError(
            f"`{type(node).__name__}` takes two values of one dtype, "
            f"not {a.dtype} and {b.dtype}; convert one with Cast"
        )


def require_bool(node: Any, name: str, value: Any) -> None:
    """Refuse an operand that is no bool."""
    if not value.dtype.is_bool:
        raise TypeError(f"`{type(node).__name__}.{name}` must be a bool, not of {value.dtype}")


def check_rank(node: Any, buffer: Any, indices: tuple[Any, ...]) -> None:
    """Refuse a number of indices that is not the number of dimensions."""
    if len(indices) != len(buffer.shape):
        raise ValueError(
            f"`{type(node).__name__}.indices`: the buffer `{buffer.name}` has "
            f"{len(buffer.shape)} dimensions, but there are {len(indices)} indices"
        )


def check_axis_separators(buffer: Any) -> None:
    """Refuse separators of the axes of a buffer that are no places between them, in their order."""
    places = [0, *(p for p in buffer.axis_separators if isinstance(p, int)), len(buffer.shape)]
    if places != sorted(places):
        raise ValueError(
            f"`Buffer.axis_separators`: those of the buffer `{buffer.name}` are places between "
            f"its {len(buffer.shape)} dimensions, in their order, not "
            f"{list(buffer.axis_separators)}"
        )


def lanes(value: Any) -> int:
    """A number of lanes."""
    found = operator.index(value)
    if found < 1:
        raise ValueError("a vector has at least one lane")
    return found

"""What values of scripts mean to the builder of PrimFuncs: data types, ranges, attributes."""

from __future__ import annotations

import inspect
from typing import Any

from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import did_you_mean
from relaxscript.opdef.aliases import nearest_dtype
from relaxscript.tir_builder import TIRError, describe

from . import tir_forms
from .tir_types import ScalarType

__all__ = ["BUFFER_PARAMETERS", "COMMON_DTYPES", "PARAMETER_HELP", "dtype_of"]

BUFFER_PARAMETERS = tuple(inspect.signature(tir_forms.buffer).parameters)
PARAMETER_HELP = 'write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`'

COMMON_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                 "float16", "float32", "float64", "bfloat16", "handle")  # fmt: skip


def dtype_of(value: Any, part: str = "dtype") -> DataType:
    """A data type by its name, or as `T.float32` or a type of numpy; raises `TIRError`."""
    if isinstance(value, ScalarType):
        return value.dtype
    if isinstance(value, str) and is_dtype(value):
        return DataType(value)
    if isinstance(value, type) or hasattr(value, "itemsize"):
        try:
            return DataType(value)
        except TypeError as error:
            raise TIRError(part, str(error), code="RX0108") from None
    if not isinstance(value, str):
        message = f'a dtype is a string such as "float32", this is {describe(value)}'
        raise TIRError(part, message, code="RX0108")
    near = nearest_dtype(value, COMMON_DTYPES)
    raise TIRError(
        part, f'"{value}" is not a dtype', code="RX0108",
        help=did_you_mean(near, "known are " + ", ".join(COMMON_DTYPES), '"'),
        instead=f'"{near}"' if near else None,
    )  # fmt: skip

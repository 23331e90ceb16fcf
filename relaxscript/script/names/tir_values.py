"""The meaning of values of scripts for the builder of PrimFuncs: dtypes, ranges, attributes."""

from __future__ import annotations

import inspect
from typing import Any

from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import did_you_mean
from relaxscript.opdef.aliases import nearest_dtype
from relaxscript.tir_builder import TIRError, describe, iter_var

from . import tir_compute, tir_statements
from .attributes import attribute
from .tir_types import ScalarType, StmtForm

__all__ = ["BUFFER_PARAMETERS", "PARAMETER_HELP", "builder_argument", "dtype_of"]

BUFFER_PARAMETERS = tuple(inspect.signature(tir_statements.buffer).parameters)
PARAMETER_HELP = 'write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`'

COMMON_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                 "float16", "float32", "float64", "bfloat16", "handle")  # fmt: skip


def builder_argument(name: str, value: Any) -> Any:
    """The argument of a parameter as the builder takes it; raises `TIRError`.

    `T.Range` is a pair, `T.iter_var` an axis, `T.float32` a dtype.
    """
    match name, value:
        case "dtype", _:
            return dtype_of(value)
        case (("attrs" | "annotations"), _):
            return attribute(value)
        case _, StmtForm(maker=tir_statements.Range, arguments=given):
            return given["begin"], given["end"]
        case _, StmtForm(maker=tir_compute.iter_var, arguments=given):
            domain = builder_argument("dom", given["dom"])
            return iter_var(given["v"], domain, given["iter_type"], given["thread_tag"])
        case _, list() | tuple():
            return [builder_argument("", item) for item in value]
    return value


def dtype_of(value: Any, part: str = "dtype") -> DataType:
    """A dtype by its name, or as `T.float32` or a type of numpy; raises `TIRError`."""
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

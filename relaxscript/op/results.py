"""The results of calls of functions: how they are described, allocated and put together.

Source: spec "Notable Operators", `call_tir` and `call_dps_packed`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.errors import OperandError
from relaxscript.ir.relax import Call
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)

from .context import InferContext
from .operands import convert_sinfo, kind_name
from .parameters import Parameter

__all__ = [
    "allocated", "arranged", "described", "described_results", "flat", "one_description",
    "require_allocatable",
]  # fmt: skip

_OBJECT = ObjectStructInfo()


def described(context: InferContext, call: Call) -> StructInfo:
    """The result as the call's StructInfo arguments describe it: one, several, or an object."""
    match call.sinfo_args:
        case ():
            return _OBJECT
        case (only,):
            return only
    return TupleStructInfo.make(call.sinfo_args)


def one_description(out_sinfo: Any) -> Any:
    """A list of StructInfos as the one that describes the whole result; others as they are."""
    if not isinstance(out_sinfo, (list, tuple)):
        return out_sinfo
    infos = convert_sinfo(Parameter("out_sinfo", "sinfo"), out_sinfo)
    return infos[0] if len(infos) == 1 else TupleStructInfo.make(infos)


def described_results(context: InferContext, call: Call) -> StructInfo:
    """As `described`, for a call that must describe its result (RX0204)."""
    if not call.sinfo_args:
        raise OperandError(
            "out_sinfo",
            "describes no result",
            message="a destination-passing call describes its results",
            code="RX0204",
            help='write for example `out_sinfo=R.Tensor((n, 64), "float32")`',
        )
    return described(context, call)


def allocated(out_sinfo: Any) -> list[np.ndarray[Any, Any]]:
    """New arrays for results described by TensorStructInfo whose dimensions are numbers.

    They are zero, so that a callee that leaves something out gives the same on every run.
    """
    infos = flat(out_sinfo)
    return [np.zeros([int(dim) for dim in info.dims], info.dtype.numpy) for info in infos]


def flat(out_sinfo: Any) -> list[Any]:
    """The StructInfos of single values in a description, in the order of the destinations."""
    match out_sinfo:
        case tuple() | list():
            return [info for item in out_sinfo for info in flat(item)]
        case TupleStructInfo(fields):
            return [info for item in fields for info in flat(item)]
    return [out_sinfo]


def arranged(out_sinfo: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """One array where one tensor is described, else the tuple that is described."""
    match out_sinfo:
        case TensorStructInfo():
            return arrays.pop(0)
        case (TensorStructInfo() | TupleStructInfo() as only,):
            return arranged(only, arrays)
        case TupleStructInfo(fields):
            return tuple(arranged(item, arrays) for item in fields)
    return tuple(arranged(item, arrays) for item in out_sinfo)


def require_allocatable(out_sinfo: StructInfo) -> None:
    """Refuse a result that could not be allocated before the call (RX0204)."""
    for info in flat(out_sinfo):
        if not isinstance(info, TensorStructInfo):
            fact = f"describes {kind_name(info)}"
        elif info.dims is None:
            fact = "does not say the dimensions of a tensor"
        elif info.dtype.is_void:
            fact = "does not say the data type of a tensor"
        else:
            continue
        raise OperandError(
            "out_sinfo",
            fact,
            message="the shape and data type of results must be said, to allocate them",
            code="RX0204",
            help='write for example `out_sinfo=R.Tensor((n, 64), "float32")`',
        )

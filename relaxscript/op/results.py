"""The results of calls of functions: how they are described, allocated and put together.

Source: spec "Notable Operators", `call_tir` and `call_dps_packed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.errors import OperandError
from relaxscript.ir.relax import Call, Expr, ExternFunc, Var
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operands import convert_sinfo, wrong_kind
from relaxscript.opdef.operator import lookup
from relaxscript.opdef.parameters import Parameter

__all__ = [
    "NEW", "allocate_results", "arrange_results", "derived_result", "described_result",
    "described_results", "flat", "in_their_places", "inplace_indices", "named_results",
    "new_results", "one_description", "require_allocatable", "require_packed",
    "returned_in_place", "with_one_description",
]  # fmt: skip

_OBJECT = ObjectStructInfo()
NEW = -1  # among the indices of results that are written in place: a new tensor


def described_result(context: InferContext, call: Call) -> StructInfo:
    """The result as the call's StructInfo arguments describe it: one, several, or an object."""
    match call.sinfo_args:
        case ():
            return _OBJECT
        case (only,):
            return only
    return TupleStructInfo.make(call.sinfo_args)


def require_packed(context: InferContext, callee: Expr) -> None:
    """Raise `OperandError` (RX0201) for a callee that is known to be no packed function."""
    if isinstance(callee, ExternFunc):
        return
    info = context.struct_info(callee)
    match info:
        case FuncStructInfo(params=None) | ObjectStructInfo():
            return
        case FuncStructInfo():
            raise OperandError(
                "func",
                "is a Relax function, not a packed function",
                code="RX0201",
                help="call it directly: `func(...)`",
            )
    raise wrong_kind("func", info, "packed")


def derived_result(context: InferContext, call: Call, operator: str) -> StructInfo:
    """The StructInfo of a packed function's result, derived from its type or given by the call.

    Raises `OperandError` (RX0204) where the call describes nothing.
    """
    if not call.sinfo_args:
        raise OperandError(
            "sinfo_args",
            "describes no result",
            message=f"`{operator}` describes its result",
            code="RX0204",
            help="write `sinfo_args=R.Object` if nothing is known of it",
        )
    info = context.struct_info(call.args[0])
    derive = info.derive_func if isinstance(info, FuncStructInfo) else None
    if callable(derive):
        return derive(Call.make(call.args[0], call.args[1:], None, call.sinfo_args), context)
    return described_result(context, call)


def one_description(out_sinfo: Any) -> Any:
    """A list of StructInfos as the one that describes the whole result; others as they are."""
    if not isinstance(out_sinfo, (list, tuple)):
        return out_sinfo
    infos = convert_sinfo(Parameter("out_sinfo", "sinfo"), out_sinfo)
    return infos[0] if len(infos) == 1 else TupleStructInfo.make(infos)


def with_one_description(bound: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, with one StructInfo that describes the whole result."""
    return {**bound, "out_sinfo": one_description(bound["out_sinfo"])}


def described_results(context: InferContext, call: Call) -> StructInfo:
    """As `described_result`, for a call that must describe its result (RX0204)."""
    if not call.sinfo_args:
        raise OperandError(
            "out_sinfo",
            "describes no result",
            message="a destination-passing call describes its results",
            code="RX0204",
            help='write for example `out_sinfo=R.Tensor((n, 64), "float32")`',
        )
    return described_result(context, call)


def allocate_results(out_sinfo: Any) -> list[np.ndarray[Any, Any]]:
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
        case DTensorStructInfo(tensor_sinfo=tensor):  # one worker has all of it
            return [tensor]
    return [out_sinfo]


def named_results(out_sinfo: StructInfo) -> list[tuple[str, Any]]:
    """The StructInfos of single results by the names under which they are blamed."""
    infos = flat(out_sinfo)
    if len(infos) == 1:
        return [("out_sinfo", infos[0])]
    return [(f"out_sinfo[{index}]", info) for index, info in enumerate(infos)]


def arrange_results(out_sinfo: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """One array where one tensor is described, else the tuple that is described."""
    match out_sinfo:
        case TensorStructInfo() | DTensorStructInfo():
            return arrays.pop(0)
        case (TensorStructInfo() | DTensorStructInfo() | TupleStructInfo() as only,):
            return arrange_results(only, arrays)
        case TupleStructInfo(fields):
            return tuple(arrange_results(item, arrays) for item in fields)
    return tuple(arrange_results(item, arrays) for item in out_sinfo)


def require_allocatable(out_sinfo: StructInfo) -> None:
    """Refuse a result that could not be allocated before the call (RX0204)."""
    for info in flat(out_sinfo):
        if not isinstance(info, TensorStructInfo):
            fact = f"describes {info.noun}"
        elif info.dims is None and not isinstance(info.shape, Var):
            fact = "does not say the dimensions of a tensor"
        elif info.dtype.is_void:
            fact = "does not say the dtype of a tensor"
        else:
            continue
        raise OperandError(
            "out_sinfo",
            fact,
            message="the shape and dtype of results must be said, to allocate them",
            code="RX0204",
            help='write for example `out_sinfo=R.Tensor((n, 64), "float32")`',
        )


# ---------------------------------------------------------------- results that are written in place


def inplace_indices(call: Call) -> tuple[int, ...]:
    """The argument into which each result of an in-place call is written."""
    operator = lookup(call.op)  # type: ignore[arg-type]
    found: tuple[int, ...] = operator.attributes(call)["inplace_indices"]
    return found


def new_results(out_sinfo: Any, indices: Sequence[int]) -> list[tuple[str, Any]]:
    """The results, by name, that are allocated for the call, of all that are described."""
    pairs = zip(indices, named_results(out_sinfo))
    return [result for index, result in pairs if index == NEW]


def in_their_places(new: Sequence[Any], args: Sequence[Any], indices: Sequence[int]) -> list[Any]:
    """All results in their order: arguments that were written to, and the `new` ones."""
    rest = iter(new)
    return [next(rest) if index == NEW else args[index] for index in indices]


def returned_in_place(returned: Any, args: Sequence[Any], indices: Sequence[int]) -> Any:
    """The value of an in-place call of a packed function from what it returned."""
    if returned is not None or NEW in indices:
        return returned
    written = in_their_places((), args, indices)
    return written[0] if len(written) == 1 else tuple(written)

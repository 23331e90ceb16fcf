"""Operators that call a PrimFunc or a packed function.

Source: spec "Notable Operators". The callee's value is a Python callable; destination-passing ones
write into the arrays that are given last. Start reading at `call_tir`.
"""

from __future__ import annotations

from typing import Any

from relaxscript.errors import OperandError
from relaxscript.ir.relax import (
    Attrs,
    Call,
    Expr,
    ExternFunc,
    GlobalVar,
    Tuple,
    TupleGetItem,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    StructInfo,
    TupleStructInfo,
)

from . import prim_func_calls
from .context import InferContext
from .define import op
from .leaves import struct_info_of_leaf
from .operands import convert_callee, convert_operand, convert_sinfo, kind_name, wrong_kind
from .parameters import Callee, Packed, ResultInfo, ShapeLike, Value, Values
from .results import (
    allocated,
    arranged,
    described,
    described_results,
    flat,
    one_description,
    require_allocatable,
)
from .sugar import sugar

__all__ = ["call_dps_packed", "call_packed", "call_pure_packed", "call_tir"]


# ---------------------------------------------------------------- PrimFuncs


@op(calls=True)
def call_tir(
    gvar: Callee, args: Values, out_sinfo: ResultInfo, tir_vars: ShapeLike | None = None
) -> Value:
    """Call a PrimFunc of the module on tensors, with new tensors for its results.

    `out_sinfo` describes the results, one tensor or a list; `tir_vars` are the integers for the
    scalar parameters of the PrimFunc.
    """
    results = allocated(out_sinfo)
    gvar(*args, *(tir_vars or ()), *results)
    return arranged(out_sinfo, results)


@call_tir.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    return {**bound, "out_sinfo": one_description(bound["out_sinfo"])}


@call_tir.normalize_rule
def _(call: Call) -> Call:
    return _with_literal_tuple(call)


def _with_literal_tuple(call: Call) -> Call:
    """The call with its arguments as a tuple literal, also where a variable holds the tuple."""
    held = call.args[1]
    if isinstance(held, Tuple):
        return call
    info = struct_info_of_leaf(held)
    if not isinstance(info, TupleStructInfo):
        return call
    fields = tuple(TupleGetItem.make(held, index) for index in range(len(info.fields)))
    return call.replace(args=(call.args[0], Tuple.make(fields), *call.args[2:]))


@call_tir.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    callee = call.args[0]
    if not isinstance(callee, GlobalVar):
        raise OperandError(
            "gvar",
            f"is {kind_name(context.struct_info(callee))}",
            message="`R.call_tir` calls a PrimFunc of the module by its name",
            code="RX0201",
            help="write `cls.name_of_the_function` with `cls = ` the module's class",
        )
    out_sinfo = described_results(context, call)
    require_allocatable(out_sinfo)
    infos = call_tir.operand_infos(call, context)
    prim_func_calls.check(context, callee, infos[1], infos[2], flat(out_sinfo))
    return out_sinfo


# ---------------------------------------------------------------- packed functions


@op(calls=True)
def call_dps_packed(func: Packed, args: Values, out_sinfo: ResultInfo) -> Value:
    """Call a packed function that writes its results into the tensors given last.

    `out_sinfo` describes the results, one tensor or a list; they are allocated before the call,
    which is taken to be pure.
    """
    results = allocated(out_sinfo)
    func(*args, *results)
    return arranged(out_sinfo, results)


@call_dps_packed.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    return {**bound, "out_sinfo": one_description(bound["out_sinfo"])}


@call_dps_packed.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    _require_packed(context, call.args[0])
    out_sinfo = described_results(context, call)
    require_allocatable(out_sinfo)
    call_dps_packed.operand_infos(call, context)
    return out_sinfo


def _require_packed(context: InferContext, callee: Expr) -> None:
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


@op(calls=True)
def call_pure_packed(func: Packed, *args: Value, sinfo_args: ResultInfo) -> Value:
    """Call a packed function that has no side effects, so that it may stand in a dataflow block.

    `sinfo_args` describes the result.
    """
    return func(*args)


@call_pure_packed.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    _require_packed(context, call.args[0])
    if not call.sinfo_args:
        raise OperandError(
            "sinfo_args",
            "describes no result",
            message="`R.call_pure_packed` describes its result",
            code="RX0204",
            help="write `sinfo_args=R.Object` if nothing is known of it",
        )
    info = context.struct_info(call.args[0])
    derive = info.derive_func if isinstance(info, FuncStructInfo) else None
    if callable(derive):
        return derive(Call.make(call.args[0], call.args[1:], None, call.sinfo_args), context)
    return described(context, call)


@sugar()
def call_packed(
    func: Packed, *args: Value, sinfo_args: ResultInfo = None, **attributes: Any
) -> Expr:
    """Call a packed function by its name; `sinfo_args` describes the result.

    The call is impure: `R.call_pure_packed` is for functions without side effects. Further keywords
    become attributes of the call.
    """
    parameters = {p.name: p for p in call_packed.parameters}
    callee = convert_callee(parameters["func"], func)
    given = [
        convert_operand(parameters["args"], value, lambda: None, f"args[{index}]")
        for index, value in enumerate(args)
    ]
    infos = convert_sinfo(parameters["sinfo_args"], sinfo_args)
    attrs = Attrs(attributes) if attributes else None
    return Call.make(callee, tuple(given), attrs, infos)

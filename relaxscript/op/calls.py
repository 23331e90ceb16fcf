"""Operators that call a PrimFunc or a packed function.

Source: spec "Notable Operators". The callee's value is a Python callable; destination-passing ones
write into the arrays that are given last. Start reading at `call_tir`.
"""

from __future__ import annotations

from typing import Any

from relaxscript.ir.relax import Attrs, Call, Expr
from relaxscript.ir.struct_info import StructInfo
from relaxscript.opdef.composite import composite_op
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operands import convert_callee, convert_operand, convert_sinfo
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Callee, Packed, ResultInfo, ShapeLike, Value, Values
from relaxscript.opdef.traits import Trait

from . import prim_func_calls
from .results import (
    allocate_results,
    arrange_results,
    derived_result,
    described_result,
    described_results,
    named_results,
    one_description,
    require_allocatable,
    require_packed,
)

__all__ = [
    "call_builtin_with_ctx", "call_dps_packed", "call_packed", "call_pure_packed", "call_tir",
]  # fmt: skip


# ---------------------------------------------------------------- PrimFuncs


@op(traits={Trait.CALLS_PRIM_FUNC, Trait.DESTINATION_PASSING, Trait.AS_IS})
def call_tir(
    gvar: Callee, args: Values, out_sinfo: ResultInfo, tir_vars: ShapeLike | None = None
) -> Value:
    """Call a PrimFunc of the module on tensors, with new tensors for its results.

    `out_sinfo` describes the results, one tensor or a list; `tir_vars` are the integers for the
    scalar parameters of the PrimFunc.
    """
    results = allocate_results(out_sinfo)
    gvar(*args, *(tir_vars or ()), *results)
    return arrange_results(out_sinfo, results)


@call_tir.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    return {**bound, "out_sinfo": one_description(bound["out_sinfo"])}


call_tir.normalize_rule(prim_func_calls.with_literal_tuple)


@call_tir.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    callee = prim_func_calls.prim_func_of(context, call, "R.call_tir")
    out_sinfo = described_results(context, call)
    require_allocatable(out_sinfo)
    infos = call_tir.operand_infos(call, context)
    given = prim_func_calls.name_arguments(infos[1])
    prim_func_calls.check(context, callee, given, infos[2], named_results(out_sinfo))
    return out_sinfo


# ---------------------------------------------------------------- packed functions


@op(traits={Trait.CALLS_OUT, Trait.DESTINATION_PASSING, Trait.AS_IS})
def call_dps_packed(func: Packed, args: Values, out_sinfo: ResultInfo) -> Value:
    """Call a packed function that writes its results into the tensors given last.

    `out_sinfo` describes the results, one tensor or a list; they are allocated before the call,
    which is taken to be pure.
    """
    results = allocate_results(out_sinfo)
    func(*args, *results)
    return arrange_results(out_sinfo, results)


@call_dps_packed.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    return {**bound, "out_sinfo": one_description(bound["out_sinfo"])}


@call_dps_packed.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    require_packed(context, call.args[0])
    out_sinfo = described_results(context, call)
    require_allocatable(out_sinfo)
    call_dps_packed.operand_infos(call, context)
    return out_sinfo


@op(traits={Trait.CALLS_OUT, Trait.AS_IS})
def call_pure_packed(func: Packed, *args: Value, sinfo_args: ResultInfo) -> Value:
    """Call a packed function that has no side effects, so that it may be in a dataflow block.

    `sinfo_args` describes the result.
    """
    return func(*args)


@call_pure_packed.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    require_packed(context, call.args[0])
    return derived_result(context, call, "R.call_pure_packed")


for _operator in (call_dps_packed, call_pure_packed):
    _operator.lacks("gradient", "nothing is known of what a packed function computes")


# ---------------------------------------------------------------- builtins


@op(traits={Trait.CALLS_OUT, Trait.IMPURE, Trait.AS_IS})
def call_builtin_with_ctx(func: Packed, args: Values, *, sinfo_args: ResultInfo = None) -> Value:
    """Call a builtin of the virtual machine that takes the state of the running call first.

    `sinfo_args` describes the result. Nothing is known of what such a function does, so the call is
    impure.
    """
    return func(None, *args)


@call_builtin_with_ctx.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    require_packed(context, call.args[0])
    call_builtin_with_ctx.operand_infos(call, context)
    return described_result(context, call)


@composite_op()
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

"""Operators that call a PrimFunc or a packed function.

Source: spec "Notable Operators". The callee's value is a Python callable; destination-passing ones
write into the arrays that are given last. Start reading at `call_tir`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relaxscript.arith import NO
from relaxscript.errors import OperandError, quantity
from relaxscript.ir.relax import Attrs, Call, Expr, Tuple, TupleGetItem
from relaxscript.ir.struct_info import StructInfo
from relaxscript.opdef.composite import composite_op
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.distributed import global_view, require_one_mesh
from relaxscript.opdef.gradient import GradientContext, Gradients, te_gradient
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.opdef.operands import convert_callee, convert_operand, convert_sinfo
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import (
    Attributes,
    Callee,
    Packed,
    ResultInfo,
    ShapeLike,
    Value,
    Values,
)
from relaxscript.opdef.traits import Trait
from relaxscript.sinfo import check_compatibility, explain_mismatch

from . import prim_func_calls
from .gradients import R, fields_of
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
    with_one_description,
)

__all__ = [
    "call_builtin_with_ctx", "call_dps_packed", "call_packed", "call_pure_packed", "call_py_func",
    "call_tir",
    "call_tir_with_grad",
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


call_tir.prepare_rule(with_one_description)
call_tir.normalize_rule(prim_func_calls.with_literal_tuple)


@call_tir.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    return _check_call(context, call, call_tir)


def _check_call(context: InferContext, call: Call, operator: Operator) -> StructInfo:
    callee = prim_func_calls.prim_func_of(context, call, f"R.{operator.script_name}")
    out_sinfo = described_results(context, call)
    require_allocatable(out_sinfo)
    infos = operator.operand_infos(call, context)
    given = prim_func_calls.name_arguments(infos[1])
    require_one_mesh([*given, ("out_sinfo", out_sinfo)])
    whole = [(name, global_view(info)) for name, info in given]
    prim_func_calls.check(context, callee, whole, infos[2], named_results(out_sinfo))
    return out_sinfo


@op(traits={Trait.CALLS_PRIM_FUNC, Trait.DESTINATION_PASSING, Trait.AS_IS})
def call_tir_with_grad(
    gvar: Callee,
    args: Values,
    out_sinfo: ResultInfo,
    te_grad_name: str,
    te_grad_kwargs: Attributes | None = None,
    tir_vars: ShapeLike | None = None,
) -> Value:
    """As `R.call_tir`, for a PrimFunc whose gradient is registered as `te_grad_name`.

    `te_grad_kwargs` are keywords for that gradient. `relax.training.register_te_gradient` registers
    one.
    """
    results = allocate_results(out_sinfo)
    gvar(*args, *(tir_vars or ()), *results)
    return arrange_results(out_sinfo, results)


call_tir_with_grad.prepare_rule(with_one_description)
call_tir_with_grad.normalize_rule(prim_func_calls.with_literal_tuple)


@call_tir_with_grad.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    return _check_call(context, call, call_tir_with_grad)


@call_tir_with_grad.gradient
def _(
    context: GradientContext, gvar: Expr, args: Expr, tir_vars: Expr | None, te_grad_name: str,
    te_grad_kwargs: Mapping[str, Any] | None,
) -> Gradients:  # fmt: skip
    given, function = fields_of(args), te_gradient(te_grad_name)
    placed: list[bool] = []

    def differentiate(*operands: Any, **options: Any) -> Any:
        made = function(*operands, **options)
        several = list(made) if isinstance(made, (list, tuple)) else [made]
        placed[:] = [gradient is not None for gradient in several]
        if len(several) != len(given):
            raise OperandError(
                "te_grad_name",
                f'is "{te_grad_name}"',
                message=f"this gradient gives {quantity(len(several), 'tensor')} "
                f"for {quantity(len(given), 'argument')}",
                code="RX0203",
                help="give one for each argument, None for what has none",
            )
        return [gradient for gradient in several if gradient is not None]

    made = context.call_te(
        differentiate, context.grad, *given, primfunc_name_hint=te_grad_name,
        **(te_grad_kwargs or {}),
    )  # fmt: skip
    numbers = iter(range(len(given)))
    found: list[Expr] = []
    for index, (x, is_made) in enumerate(zip(given, placed)):
        gradient: Expr = TupleGetItem.make(made, next(numbers)) if is_made else R.zeros_like(x)
        _require_alike(te_grad_name, f"args[{index}]", gradient, x)
        found.append(gradient)
    return None, Tuple.make(tuple(found)), None


def _require_alike(te_grad_name: str, operand: str, gradient: Expr, x: Expr) -> None:
    """Refuse a gradient that is not what it is by."""
    given, wanted = struct_info_of_leaf(gradient), struct_info_of_leaf(x)
    if check_compatibility(given, wanted) is NO:
        reason = explain_mismatch(given, wanted)
        raise OperandError(
            operand,
            f"is `{wanted!r}`",
            message=f'the gradient "{te_grad_name}" by it is `{given!r}`',
            code="RX0203",
            help=None if reason is None else f"{reason}: a gradient is like what it is by",
        )


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


call_dps_packed.prepare_rule(with_one_description)


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


@composite_op()
def call_py_func(py_func_name: Packed, *args: Value, out_sinfo: ResultInfo) -> Expr:
    """Call a Python function that has no side effects, by the name it is registered under.

    `out_sinfo` describes the result, one or a list. It is `R.call_pure_packed` by another name;
    `relaxscript.register_func` registers functions.
    """
    described = one_description(out_sinfo)
    return call_pure_packed.build((py_func_name, *args), {"sinfo_args": described})


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


call_tir.lacks("gradient", "what a PrimFunc computes is not known: `R.call_tir_with_grad` names it")
for _operator in (call_tir, call_tir_with_grad):
    _operator.lacks("compute", "it calls a PrimFunc already")
for _operator in (call_dps_packed, call_pure_packed, call_builtin_with_ctx):
    _operator.lacks("gradient", "nothing is known of what a packed function computes")
    _operator.lacks("compute", "nothing is known of what a packed function computes")


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

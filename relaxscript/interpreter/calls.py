"""The forms of calls: operators by their meaning, PrimFuncs, packed functions, closures.

Operands have values by now: `expression.py` evaluates them. A function that is called is applied
by `apply`, and what it does is run by `relax.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.errors import Span, VMError
from relaxscript.ir import relax, tir
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op import Trait, builtin, traits_of
from relaxscript.op.base import (
    compute_prim_value,
    invoke_closure,
    invoke_pure_closure,
    make_closure,
)
from relaxscript.op.calls import (
    call_builtin_with_ctx,
    call_dps_packed,
    call_pure_packed,
    call_tir,
    call_tir_with_grad,
)
from relaxscript.op.device import to_vdevice
from relaxscript.op.dist import call_tir_local_view
from relaxscript.op.inplace import call_inplace_packed, call_tir_inplace
from relaxscript.op.results import in_their_places, inplace_indices, returned_in_place
from relaxscript.op.shards import require_one_device
from relaxscript.runtime import Closure, PackedFunc
from relaxscript.runtime.builtins import (
    BUILTINS,
    INVOKE_CLOSURE,
    MATCH_CAST,
    alloc_tensor,
    make_prim_value,
    make_shape,
)
from relaxscript.runtime.coercion import call_packed, require_written
from relaxscript.runtime.values import kind_of
from relaxscript.semantics.check_calls import check_of
from relaxscript.semantics.checks import device_of
from relaxscript.semantics.error_context import locate_errors, name_operands
from relaxscript.semantics.make_closure import make_closure as closure_over
from relaxscript.semantics.operators import operator_function
from relaxscript.semantics.prim_funcs import assemble_results, call_tir_adapter, result_struct_infos

from .closure import CallRequest, Evaluation, RelaxClosure
from .environment import RunEnvironment
from .module_functions import function_of, kernel_of

__all__ = ["apply", "call_operator", "evaluated_operands"]


def evaluated_operands(call: relax.Call) -> tuple[relax.Expr, ...]:
    """The operands of an operator that are values to it: not PrimFuncs, and no scalar by itself."""
    match call.op:
        case call_tir.op | call_tir_with_grad.op | call_tir_inplace.op | call_tir_local_view.op:
            return call.args[1:]
        case compute_prim_value.op:
            return ()
    return call.args


def call_operator(  # noqa: C901
    call: relax.Call, args: Sequence[Any], env: RunEnvironment
) -> Evaluation:
    """The value of a call of an operator, given the values of its `evaluated_operands`."""
    match call.op:
        case call_builtin_with_ctx.op:
            return (yield from _call_builtin_with_ctx(call, args, env))
        case call_dps_packed.op:
            return (yield from _call_dps_packed(call, args, env))
        case call_inplace_packed.op:
            returned = yield from apply(args[0], args[1:], call.span, env)
            return returned_in_place(returned, args[1:], inplace_indices(call))
        case call_pure_packed.op:
            return (yield from apply(args[0], args[1:], call.span, env))
        case call_tir.op | call_tir_with_grad.op:
            return _call_tir(call, args, env)
        case call_tir_local_view.op:
            require_one_device(call.sinfo_args, call.span)
            return _call_tir(call, args, env)
        case call_tir_inplace.op:
            return _call_tir_inplace(call, args, env)
        case compute_prim_value.op:
            (value,) = call.args[0].values  # type: ignore[attr-defined]
            return make_prim_value(env.state, env.dim(value), value.dtype)
        case invoke_closure.op | invoke_pure_closure.op:
            return (yield from apply(args[0], args[1], call.span, env))
        case make_closure.op:
            return closure_over(args[0], *args[1])
        case to_vdevice.op:
            with locate_errors(call.span):
                return BUILTINS["vm.builtin.to_device"](args[0], str(call.attrs["dst_vdevice"]))  # type: ignore[index]
        case builtin.alloc_tensor.op if isinstance(call.args[1], relax.DataTypeImm):
            return alloc_tensor(*args[:2])
    with locate_errors(call.span), name_operands(call):
        result = operator_function(call, checked=True)(*args)
    if Trait.FREES in traits_of(call.op):
        env.kill(call.args)
    return result


def apply(callee: Any, args: Sequence[Any], span: Span | None, env: RunEnvironment) -> Evaluation:
    """Call a value (12.2)."""
    match callee:
        case RelaxClosure() if callee.interpreter is env.interpreter:
            return (yield CallRequest(callee, args, span)).pop()
        case PackedFunc(name=name) if name == INVOKE_CLOSURE and args:
            return (yield from apply(args[0], args[1:], span, env))
        case Closure(name=name, call=function) | PackedFunc(name=name, function=function):
            return call_packed(name, function, args)
    raise VMError(f"{kind_of(callee)} cannot be called", code="RX0613")


def _call_builtin_with_ctx(
    call: relax.Call, args: Sequence[Any], env: RunEnvironment
) -> Evaluation:
    callee, given = args
    check = check_of(call)
    if check is not None and check[0] == MATCH_CAST:
        return given[0]  # the variable of the binding says what it must be
    return (yield from apply(callee, [env.state, *given], call.span, env))


def _prim_func(callee: relax.Expr, env: RunEnvironment) -> tir.PrimFunc:
    name = callee.name_hint  # type: ignore[attr-defined]
    func = function_of(env.module, name)
    if not isinstance(func, tir.PrimFunc):
        raise VMError(f"the module has no PrimFunc `{name}`", code="RX0607")
    return func


def _call_tir(call: relax.Call, args: Sequence[Any], env: RunEnvironment) -> Any:
    func = _prim_func(call.args[0], env)
    given, *shape = args
    results = _allocate_results(result_struct_infos(_result_info(call)), env)
    call_tir_adapter(func, kernel_of(env.module, func))(*given, *shape, *results)
    return assemble_results(_result_info(call), results)


def _call_tir_inplace(call: relax.Call, args: Sequence[Any], env: RunEnvironment) -> Any:
    func = _prim_func(call.args[0], env)
    given, *shape = args
    infos, indices = result_struct_infos(_result_info(call)), inplace_indices(call)
    for index, info in zip(indices, infos, strict=True):
        if index >= 0:
            env.match(given[index], info, f"`args[{index}]`, which is written in place,")
    new = [info for index, info in zip(indices, infos, strict=True) if index < 0]
    made = _allocate_results(new, env)
    call_tir_adapter(func, kernel_of(env.module, func))(*given, *shape, *made)
    return assemble_results(_result_info(call), in_their_places(made, given, indices))


def _call_dps_packed(call: relax.Call, args: Sequence[Any], env: RunEnvironment) -> Evaluation:
    callee, given = args
    results = _allocate_results(result_struct_infos(_result_info(call)), env)
    returned = yield from apply(callee, [*given, *results], call.span, env)
    require_written(getattr(callee, "name", ""), returned, [*given, *results])
    return assemble_results(_result_info(call), results)


def _allocate_results(infos: Sequence[TensorStructInfo], env: RunEnvironment) -> list[Any]:
    """New tensors for results that a destination-passing call describes."""
    made = []
    for info in infos:
        if isinstance(info.shape, relax.Var):
            shape = env.lookup(info.shape)
        else:
            shape = make_shape(env.state, [env.dim(dim) for dim in info.dims or ()])
        made.append(alloc_tensor(shape, info.dtype, device_of(info.vdevice) or "cpu:0"))
    return made


def _result_info(call: relax.Call) -> StructInfo:
    infos = call.sinfo_args
    return infos[0] if len(infos) == 1 else TupleStructInfo.make(infos)

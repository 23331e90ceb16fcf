"""The forms of calls: operators by their meaning, PrimFuncs, packed functions, closures.

`CallEvaluator` is the part of the interpreter that knows operators; what expressions evaluate to,
and what a call of a function does, is said in `relax.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
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
from relaxscript.op.calls import call_builtin_with_ctx, call_dps_packed, call_pure_packed, call_tir
from relaxscript.op.device import to_vdevice
from relaxscript.op.inplace import call_inplace_packed, call_tir_inplace
from relaxscript.op.results import in_their_places, inplace_indices, returned_in_place
from relaxscript.runtime.builtins import (
    BUILTINS,
    MATCH_CAST,
    alloc_tensor,
    make_prim_value,
    make_shape,
)
from relaxscript.runtime.coercion import require_written
from relaxscript.semantics.check_calls import check_of
from relaxscript.semantics.checks import device_of
from relaxscript.semantics.error_context import locate_errors, name_operands
from relaxscript.semantics.make_closure import make_closure as closure_over
from relaxscript.semantics.operators import operator_function
from relaxscript.semantics.prim_funcs import assemble_results, call_tir_adapter, result_struct_infos

from .closure import CallRequest, Evaluation
from .environment import RunEnvironment

__all__ = ["CallEvaluator"]


class CallEvaluator(ABC):
    """Evaluates calls; subclassed in `relax.py` for what functions and expressions are."""

    def __init__(self) -> None:
        self._forms: dict[str, Callable[[relax.Call, RunEnvironment], Evaluation]] = {
            call_builtin_with_ctx.name: self._call_builtin_with_ctx,
            call_dps_packed.name: self._call_dps_packed,
            call_inplace_packed.name: self._call_inplace_packed,
            call_pure_packed.name: self._call_pure_packed,
            call_tir.name: self._call_tir,
            call_tir_inplace.name: self._call_tir_inplace,
            compute_prim_value.name: self._compute_prim_value,
            invoke_closure.name: self._invoke_closure,
            invoke_pure_closure.name: self._invoke_closure,
            make_closure.name: self._make_closure,
            to_vdevice.name: self._to_vdevice,
        }

    @abstractmethod
    def _evaluate(self, expr: relax.Expr, env: RunEnvironment) -> Evaluation: ...

    @abstractmethod
    def _each(
        self, exprs: Sequence[relax.Expr], env: RunEnvironment
    ) -> Generator[CallRequest, Any, list[Any]]: ...

    @abstractmethod
    def _apply(self, callee: Any, args: Sequence[Any], span: Span | None) -> Evaluation: ...

    @abstractmethod
    def _function(self, name: str) -> Any: ...

    @abstractmethod
    def _kernel(self, func: tir.PrimFunc) -> Callable[..., Any]: ...

    @abstractmethod
    def _match(
        self, value: Any, info: StructInfo, env: RunEnvironment, where: str, origin: str = ""
    ) -> None: ...

    def _call(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        match call.op:
            case relax.Op(name) if name in self._forms:
                return (yield from self._forms[name](call, env))
            case builtin.alloc_tensor.op if isinstance(call.args[1], relax.DataTypeImm):
                shape, dtype, *_ = yield from self._each(call.args, env)
                return alloc_tensor(shape, dtype)
            case relax.Op():
                values = yield from self._each(call.args, env)
                with locate_errors(call.span), name_operands(call):
                    result = operator_function(call, checked=True)(*values)
                if Trait.FREES in traits_of(call.op):
                    env.kill(call.args)
                return result
        if isinstance(call.op, relax.ExternFunc | relax.GlobalVar):  # looked up as it is called
            args = yield from self._each(call.args, env)
            callee = yield from self._evaluate(call.op, env)
        else:
            callee = yield from self._evaluate(call.op, env)
            args = yield from self._each(call.args, env)
        return (yield from self._apply(callee, args, call.span))

    def _call_pure_packed(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        callee, *args = yield from self._each(call.args, env)
        return (yield from self._apply(callee, args, call.span))

    def _call_inplace_packed(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        callee, *args = yield from self._each(call.args, env)
        returned = yield from self._apply(callee, args, call.span)
        return returned_in_place(returned, args, inplace_indices(call))

    def _call_builtin_with_ctx(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        callee, args = yield from self._each(call.args, env)
        check = check_of(call)
        if check is not None and check[0] == MATCH_CAST:
            return args[0]  # the variable of the binding says what it must be
        return (yield from self._apply(callee, [env.state, *args], call.span))

    def _to_vdevice(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        (value,) = yield from self._each(call.args, env)
        with locate_errors(call.span):
            return BUILTINS["vm.builtin.to_device"](value, str(call.attrs["dst_vdevice"]))  # type: ignore[index]

    def _invoke_closure(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        callee, args = yield from self._each(call.args, env)
        return (yield from self._apply(callee, args, call.span))

    def _make_closure(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        callee, captured = yield from self._each(call.args, env)
        return closure_over(callee, *captured)

    def _compute_prim_value(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        yield from ()
        (value,) = call.args[0].values  # type: ignore[attr-defined]
        return make_prim_value(env.state, env.dim(value), value.dtype)

    def _prim_func(self, callee: relax.Expr) -> tir.PrimFunc:
        name = callee.name_hint  # type: ignore[attr-defined]
        func = self._function(name)
        if not isinstance(func, tir.PrimFunc):
            raise VMError(f"the module has no PrimFunc `{name}`", code="RX0607")
        return func

    def _call_tir(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        func = self._prim_func(call.args[0])
        args, *shape = yield from self._each(call.args[1:], env)
        results = self._allocate_results(result_struct_infos(_result_info(call)), env)
        call_tir_adapter(func, self._kernel(func))(*args, *shape, *results)
        return assemble_results(_result_info(call), results)

    def _call_tir_inplace(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        func = self._prim_func(call.args[0])
        args, *shape = yield from self._each(call.args[1:], env)
        infos, indices = result_struct_infos(_result_info(call)), inplace_indices(call)
        for index, info in zip(indices, infos, strict=True):
            if index >= 0:
                self._match(args[index], info, env, f"`args[{index}]`, which is written in place,")
        new = [info for index, info in zip(indices, infos, strict=True) if index < 0]
        made = self._allocate_results(new, env)
        call_tir_adapter(func, self._kernel(func))(*args, *shape, *made)
        return assemble_results(_result_info(call), in_their_places(made, args, indices))

    def _call_dps_packed(self, call: relax.Call, env: RunEnvironment) -> Evaluation:
        callee, args = yield from self._each(call.args, env)
        results = self._allocate_results(result_struct_infos(_result_info(call)), env)
        returned = yield from self._apply(callee, [*args, *results], call.span)
        require_written(getattr(callee, "name", ""), returned, [*args, *results])
        return assemble_results(_result_info(call), results)

    def _allocate_results(
        self, infos: Sequence[TensorStructInfo], env: RunEnvironment
    ) -> list[Any]:
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

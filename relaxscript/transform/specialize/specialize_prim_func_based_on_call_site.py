"""SpecializePrimFuncBasedOnCallSite: buffers are in the memory of the tensors that calls give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from relaxscript.analysis.derive import Context
from relaxscript.ir import prim
from relaxscript.ir.buffer_access import pointer_variable
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Call, Expr, GlobalVar, Tuple
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.ir.tir import Buffer, PrimFunc
from relaxscript.ir.walk import compounds, rewrite_top_down
from relaxscript.op.calls import call_tir
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.op.results import NEW, inplace_indices
from relaxscript.transform.fuse.tir_calls import tensors_of
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["SpecializePrimFuncBasedOnCallSite"]

_CALLS = (call_tir.op, call_tir_inplace.op)


class SpecializePrimFuncBasedOnCallSite(ModulePass):
    """Put the memory scopes of tensors into the buffers of the PrimFuncs that take them.

    Before:

        @T.prim_func(private=True)
        def exp(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")): ...

        y = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((4,), "float32", vdevice="llvm:0:l2"))

    After, where `x` is on the device "llvm:0:l2", too:

        @T.prim_func(private=True)
        def exp(x_handle: T.handle, y_handle: T.handle):
            x = T.match_buffer(x_handle, (4,), scope="l2")
            y = T.match_buffer(y_handle, (4,), scope="l2")
            ...

        y = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((4,), "float32", vdevice="llvm:0:l2"))

    Scopes are those of virtual devices, which `RealizeVDevice` and `UpdateVDevice` change. Programs
    do the same whatever they are: a processor has one memory. A buffer stays as it is where no call
    says a device for it, or two calls say different scopes. TVM takes those of the last call.

    Source: TVM 0.25 `relax.transform.SpecializePrimFuncBasedOnCallSite`.
    """

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if not mod.global_infos.get("vdevice"):
            return mod
        made = mod
        for gvar, said in _scopes(mod).items():
            func = mod[gvar]
            assert isinstance(func, PrimFunc)
            new = _with_scopes(func, said)
            if new is not func:
                made = mod.clone() if made is mod else made
                made[gvar] = new
        return made


def _scopes(mod: IRModule) -> dict[GlobalVar, dict[Buffer, set[str]]]:
    """The scopes that calls say, for each buffer that is a parameter."""
    context = Context(mod)
    found: dict[GlobalVar, dict[Buffer, set[str]]] = {}
    for function in mod.relax_functions().values():
        for node in compounds(function):
            match node:
                case Call(op=op, args=(GlobalVar() as gvar, Tuple() as given, *_)) if op in _CALLS:
                    func = mod.functions.get(gvar)
                    if isinstance(func, PrimFunc):
                        infos = _tensors(node, map(context.struct_info, given.fields))
                        _note(func, infos, found.setdefault(gvar, {}))
    return found


def _tensors(call: Expr, given: Iterable[StructInfo]) -> list[StructInfo]:
    """The StructInfos of the tensors that a call gives to its PrimFunc, and of new results."""
    assert isinstance(call, Call)
    results = tensors_of(call.sinfo_args[0]) or []
    if call.op == call_tir_inplace.op:
        places = inplace_indices(call)
        results = [info for info, place in zip(results, places) if place == NEW]
    return [*given, *results]


def _note(func: PrimFunc, infos: list[StructInfo], said: dict[Buffer, set[str]]) -> None:
    for param, info in zip(func.params, infos):
        buffer = func.buffer_map.get(param)
        if buffer is not None and isinstance(info, TensorStructInfo) and info.vdevice is not None:
            said.setdefault(buffer, set()).add(info.vdevice.memory_scope)


def _with_scopes(func: PrimFunc, said: Mapping[Buffer, set[str]]) -> PrimFunc:
    """The PrimFunc with buffers in the scopes of which all calls say the same."""
    pointers: dict[prim.Var, tuple[prim.Var, str]] = {}
    for buffer, scopes in said.items():
        if len(scopes) == 1 and buffer.scope not in scopes:
            (scope,) = scopes
            pointer = pointer_variable(buffer.data.name, buffer.dtype, scope)
            pointers[buffer.data] = pointer, scope
    if not pointers:
        return func

    def step(node: Node) -> Node | None:
        # What is a part of such a buffer is in its memory.
        if isinstance(node, Buffer) and node.data in pointers:
            pointer, scope = pointers[node.data]
            return node.replace(data=pointer, scope=scope)
        return pointers[node][0] if isinstance(node, prim.Var) and node in pointers else None

    return rewrite_top_down(func, step)

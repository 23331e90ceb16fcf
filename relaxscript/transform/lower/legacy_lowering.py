"""Programs that were lowered before a check was one call: their chains of calls are taken back.

Files hold such programs. Each function had a heap of integers, which calls of builtins filled and
compared one dimension after the other. Functions of the module computed sizes in it.
"""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
    Call,
    ExternFunc,
    Function,
    GlobalVar,
    SeqExpr,
    ShapeExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import PrimStructInfo, ShapeStructInfo
from relaxscript.ir.walk import compounds, rewrite, rewrite_top_down
from relaxscript.op.base import compute_prim_value
from relaxscript.op.calls import call_builtin_with_ctx

from .vm_shape_lower import LOWERED

__all__ = ["remove_shape_heaps"]

_ALLOCATION = "vm.builtin.alloc_shape_heap"
_CHECKS = frozenset(
    f"vm.builtin.{name}"
    for name in (
        "check_func_info", "check_prim_value_info", "check_shape_info", "check_tensor_info",
        "check_tuple_info", "match_prim_value", "match_shape", "match_shape_value",
    )
)  # fmt: skip


def remove_shape_heaps(module: IRModule) -> IRModule:
    """The module before its checks and shapes were written out over heaps; itself without any."""
    made, used = module, set[str]()
    for var, function in module.relax_functions().items():
        heaps = _heaps(function)
        if heaps:
            made = made.clone() if made is module else made
            made[var] = _remove_heaps(function, heaps)
            used |= _sizes(function, heaps)
    for name in used:
        del made[name]
    return made


def _heaps(function: Function) -> set[Var]:
    return {
        node.var
        for node in compounds(function)
        if isinstance(node, VarBinding) and _is_allocation(node.value)
    }


def _is_allocation(value: Node) -> bool:
    match value:
        case Call(op=call_builtin_with_ctx.op, args=(ExternFunc(name), _)):
            return name == _ALLOCATION
    return False


def _sizes(function: Function, heaps: set[Var]) -> set[str]:
    """The functions that compute sizes in the heaps of a function."""
    return {
        node.op.name_hint
        for node in compounds(function)
        if isinstance(node, Call) and isinstance(node.op, GlobalVar) and _on_heap(node, heaps)
    }


def _on_heap(call: Call, heaps: set[Var]) -> bool:
    return len(call.args) == 1 and call.args[0] in heaps


def _remove_heaps(function: Function, heaps: set[Var]) -> Function:
    def block(node: Node) -> Node | None:
        if isinstance(node, BindingBlock):
            kept = [b for b in node.bindings if not _is_check(b, heaps)]
            return node.replace(bindings=tuple(kept))
        if isinstance(node, SeqExpr):
            return node.replace(blocks=tuple(b for b in node.blocks if b.bindings))
        return None

    def shape(node: Node) -> Node | None:
        match node:
            case Call(op=ExternFunc(), args=(Var() as heap, *_), sinfo_args=(info,)) if (
                heap in heaps
            ):
                return _shape_value(info)
        return None

    made = rewrite_top_down(rewrite(function, block), shape)
    attrs = (made.attrs or Attrs()).without(LOWERED)
    return made.replace(attrs=attrs or None)


def _is_check(binding: Binding, heaps: set[Var]) -> bool:
    match binding.value:
        case Call(op=ExternFunc(name)) if name in _CHECKS:
            return True
        case Call(op=GlobalVar()) as call:
            return _on_heap(call, heaps)
    return binding.var in heaps


def _shape_value(info: Node) -> Node | None:
    """The value that was read from a heap, as its StructInfo says it."""
    match info:
        case ShapeStructInfo(values=tuple(values)):
            return ShapeExpr.make(values)
        case PrimStructInfo(value=value) if value is not None:
            return Call.make(compute_prim_value.op, (ShapeExpr.make((value,)),))
    return None

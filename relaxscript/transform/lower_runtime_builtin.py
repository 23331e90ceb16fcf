"""LowerRuntimeBuiltin: operators that the machine has functions for become calls of these."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    Expr,
    ExternFunc,
    Function,
    MatchCast,
    Op,
    StringImm,
    Tuple,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op import Operator, base, device, memory, vm

from .bindings import BindingRewriter
from .context import PassContext
from .passes import FunctionPass

__all__ = ["LowerRuntimeBuiltin"]


class LowerRuntimeBuiltin(FunctionPass):
    """Call the functions of the virtual machine instead of operators that stand for them.

    Before:

        s: R.Shape([n, 4]) = R.shape_of(x)
        c: R.Object = R.make_closure(cls.f, (x,))
        y: R.Object = R.invoke_closure(c, (s,), sinfo_args=R.Object)
        R.memory.kill_tensor(x)

    After:

        s: R.Shape([n, 4]) = R.call_packed("vm.builtin.shape_of", x, sinfo_args=R.Shape([n, 4]))
        c = R.call_packed("vm.builtin.make_closure", cls.f, x, sinfo_args=R.Object)
        y = R.call_packed("vm.builtin.invoke_closure", c, s, sinfo_args=R.Object)
        R.vm.kill_object(x)

    `R.memory` becomes `R.vm`; `R.shape_of`, `R.tensor_to_shape`, `R.shape_to_tensor`,
    `R.make_closure`, `R.invoke_closure`, `R.to_vdevice`, `R.print` and `R.assert_op` become calls.
    Operators that give new tensors, `R.reshape` among them, stay what they are.

    Source: TVM `relax.transform.LowerRuntimeBuiltin`.
    """

    required = ("ToNonDataflow", "RemovePurityChecking")

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return _Rewriter(mod).function(func)


class _Rewriter(BindingRewriter):
    def binding(self, binding: Binding) -> None:
        value = binding.value
        if isinstance(value, Call) and isinstance(value.op, Op) and value.op.name in _LOWERED:
            # What is derived may have variables of the function that a closure is made of.
            info = binding.var.struct_info or self.builder.struct_info(value)
            lowered = _LOWERED[value.op.name](value, info)
            if lowered is not None and not isinstance(binding, MatchCast):
                self.rebind(binding, lowered)
                return
        self.keep(binding)


def _builtin(name: str, call: Call, args: tuple[Expr, ...], info: StructInfo) -> Call:
    return Call.make(ExternFunc.make(name), args, None, (info,), span=call.span)


def _plain(name: str) -> Callable[[Call, StructInfo], Call]:
    """The same operands for the function of a name."""
    return lambda call, info: _builtin(name, call, call.args, info)


def _flat(name: str) -> Callable[[Call, StructInfo], Call | None]:
    """A function, and the fields of the tuple behind it, as operands of their own."""

    def lowered(call: Call, info: StructInfo) -> Call | None:
        callee, args = call.args
        if not isinstance(args, Tuple):
            return None
        return _builtin(name, call, (callee, *args.fields), info)

    return lowered


def _renamed(operator: Operator, order: tuple[int, ...]) -> Callable[[Call, StructInfo], Call]:
    """Another operator, with the operands in another order."""
    return lambda call, info: Call.make(
        operator.op, tuple(call.args[i] for i in order), call.attrs, call.sinfo_args, span=call.span
    )


def _to_device(call: Call, info: StructInfo) -> Call:
    place = StringImm.make(str((call.attrs or Attrs())["dst_vdevice"]))
    return _builtin("vm.builtin.to_device", call, (*call.args, place), info)


_LOWERED: dict[str, Callable[[Call, StructInfo], Call | None]] = {
    base.invoke_closure.name: _flat("vm.builtin.invoke_closure"),
    base.make_closure.name: _flat("vm.builtin.make_closure"),
    memory.alloc_storage.name: _renamed(vm.alloc_storage, (0, 1, 3, 2)),
    memory.alloc_tensor.name: _renamed(vm.alloc_tensor, (0, 1, 2, 3)),
    memory.kill_storage.name: _renamed(vm.kill_object, (0,)),
    memory.kill_tensor.name: _renamed(vm.kill_object, (0,)),
    base.shape_of.name: _plain("vm.builtin.shape_of"),
    base.shape_to_tensor.name: _plain("relax.run.shape_to_tensor"),
    base.tensor_to_shape.name: _plain("vm.builtin.tensor_to_shape"),
    device.to_vdevice.name: _to_device,
    base.print.name: _plain("relax.run.print"),
    base.assert_op.name: _plain("relax.run.assert_op"),
}

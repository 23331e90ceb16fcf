"""LowerRuntimeBuiltin: operators that the machine has functions for become calls of these."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.builder import ExprMutator
from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    Op,
    StringImm,
    Tuple,
    TupleGetItem,
)
from relaxscript.ir.struct_info import ShapeStructInfo, StructInfo, TupleStructInfo
from relaxscript.op import Operator, base, builtin, device, memory, vm
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

__all__ = ["LowerRuntimeBuiltin", "VMBuiltinLower"]


class LowerRuntimeBuiltin(FunctionPass):
    """Call the functions of the virtual machine instead of operators that stand for them.

    Before:

        c: R.Object = R.make_closure(cls.f, (x,))
        y: R.Object = R.invoke_closure(c, (s,), sinfo_args=R.Object)
        z = R.builtin.alloc_tensor(s, R.dtype("float32"), R.prim_value(0))
        R.memory.kill_tensor(x)

    After:

        c = R.call_packed("vm.builtin.make_closure", cls.f, x, sinfo_args=R.Object)
        y = R.call_packed("vm.builtin.invoke_closure", c, s, sinfo_args=R.Object)
        z = R.call_packed(
            "vm.builtin.alloc_tensor", s, R.dtype("float32"), sinfo_args=R.Tensor((4,), "float32")
        )
        R.vm.kill_object(x)

    `R.memory` becomes `R.vm`; `R.make_closure`, `R.invoke_closure`, `R.to_vdevice` and
    `R.builtin.alloc_tensor` become calls.
    Operators that run by their meaning, `R.shape_of` and `R.print` among them, stay what they are.
    What these calls give is checked by nobody, so checks are written out before: `VMShapeLower`.

    Source: TVM `relax.transform.LowerRuntimeBuiltin`.
    """

    required = ("ToNonDataflow", "RemovePurityChecking")

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return _BuiltinCaller(mod).function(func)


# The name that it had before, which TVM keeps.
VMBuiltinLower = LowerRuntimeBuiltin


def _builtin(name: str, call: Call, args: tuple[Expr, ...], info: StructInfo) -> Call:
    return Call.make(ExternFunc.make(name), args, None, (info,), span=call.span)


def _flat(name: str) -> Callable[[Call, StructInfo], Call]:
    """A function, and the fields of the tuple behind it, as operands of their own."""

    def lowered(call: Call, info: StructInfo) -> Call:
        callee, args = call.args
        fields = args.fields if isinstance(args, Tuple) else ()
        return _builtin(name, call, (callee, *fields), info)

    return lowered


def _rename_operator(
    operator: Operator, order: tuple[int, ...]
) -> Callable[[Call, StructInfo], Call]:
    """Another operator, with the operands in another order."""
    return lambda call, info: Call.make(
        operator.op, tuple(call.args[i] for i in order), call.attrs, call.sinfo_args, span=call.span
    )


def _to_device(call: Call, info: StructInfo) -> Call:
    place = StringImm.make(str((call.attrs or Attrs())["dst_vdevice"]))
    return _builtin("vm.builtin.to_device", call, (*call.args, place), info)


def _alloc_tensor(call: Call, info: StructInfo) -> Call:
    return _builtin("vm.builtin.alloc_tensor", call, call.args[:2], info)


def _alloc_storage(call: Call, info: StructInfo) -> Call:
    size, index, scope, _ = call.args  # which counts bytes, whatever the dtype of the tensors
    return Call.make(vm.alloc_storage.op, (size, index, _BYTES, scope), span=call.span)


_BYTES = DataTypeImm.make(DataType("uint8"))
_LOWERED: dict[str, Callable[[Call, StructInfo], Call]] = {
    base.invoke_closure.name: _flat("vm.builtin.invoke_closure"),
    base.make_closure.name: _flat("vm.builtin.make_closure"),
    builtin.alloc_tensor.name: _alloc_tensor,
    memory.alloc_storage.name: _alloc_storage,
    memory.alloc_tensor.name: _rename_operator(vm.alloc_tensor, (0, 1, 2, 3)),
    memory.kill_storage.name: _rename_operator(vm.kill_object, (0,)),
    memory.kill_tensor.name: _rename_operator(vm.kill_object, (0,)),
    device.to_vdevice.name: _to_device,
}


class _BuiltinCaller(ExprMutator):
    """Calls functions of the machine in the place of operators."""

    operators = frozenset(_LOWERED)

    def binding(self, binding: Binding) -> None:
        lowered = self._lower(binding.value, binding)
        if lowered is None:
            self.keep(binding)
        else:
            self.replace_value(binding, lowered)

    def _lower(self, value: Expr, binding: Binding) -> Call | None:
        """The call that stands for a call of an operator, None for anything else."""
        match value:
            case Call(op=Op(name) as op, args=args) if name in _LOWERED:
                info = self.builder.struct_info(value)
                if op == base.make_closure.op:
                    # What is derived may have variables of the function of the closure.
                    info = binding.var.struct_info or info
                if op == builtin.alloc_tensor.op and not self._has_size(args):
                    return None
                if op in (base.make_closure.op, base.invoke_closure.op):
                    value = value.replace(args=(args[0], self._fields(args[1], binding.span)))
                return _LOWERED[name](value, info)
        return None

    def _has_size(self, args: tuple[Expr, ...]) -> bool:
        """True if an allocation has a shape and a dtype, not something that may be one."""
        shape, dtype, *_ = args
        info = self.builder.struct_info(shape)
        return isinstance(info, ShapeStructInfo) and isinstance(dtype, DataTypeImm)

    def _fields(self, args: Expr, span: Span | None) -> Expr:
        """The tuple of arguments written out, of which nothing may be known."""
        info = self.builder.struct_info(args)
        if isinstance(args, Tuple) or not isinstance(info, TupleStructInfo):
            return args
        fields = [TupleGetItem.make(args, index) for index in range(len(info.fields))]
        return Tuple.make(tuple([self.emit(field, "field", span) for field in fields]))

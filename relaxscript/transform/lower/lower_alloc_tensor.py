"""LowerAllocTensor: a tensor is cut out of a storage."""

from __future__ import annotations

from relaxscript.analysis.memory_usage import bytes_of_tensor
from relaxscript.builder import ExprMutator
from relaxscript.dtypes import DataType
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import const
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataTypeImm,
    Function,
    PrimValue,
    ShapeExpr,
    VarBinding,
)
from relaxscript.op import builtin, memory
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

__all__ = ["LowerAllocTensor"]

_BYTES = DataTypeImm(DataType("uint8"))


class LowerAllocTensor(FunctionPass):
    """Allocate a storage of as many bytes as a tensor has, and cut the tensor out of it.

    Before:

        x = R.builtin.alloc_tensor(
            R.shape([n, 4]), R.dtype("float32"), R.prim_value(0), R.str("global")
        )

    After:

        storage: R.Object = R.memory.alloc_storage(
            R.shape([n * 16]), R.prim_value(0), R.str("global"), R.dtype("uint8")
        )
        x: R.Tensor((n, 4), "float32") = R.memory.alloc_tensor(
            storage, R.prim_value(0), R.shape([n, 4]), R.dtype("float32")
        )

    A tensor of unknown size stays as it is: one whose shape is held by a variable that says nothing
    of its dimensions, or whose dtype is. Source: TVM `relax.transform.LowerAllocTensor`.
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return _StorageAllocator(mod).function(func)


class _StorageAllocator(ExprMutator):
    """Allocates a storage for each tensor, and cuts the tensor out of it."""

    operators = frozenset({builtin.alloc_tensor.name})

    def binding(self, binding: Binding) -> None:
        match binding:
            case VarBinding(value=Call(op=builtin.alloc_tensor.op) as call):
                shape, dtype, index, scope = call.args
                size = bytes_of_tensor(shape, dtype, self.builder.context)
                if size is not None:
                    args = (ShapeExpr.make((size,)), index, scope, _BYTES)
                    made = Call.make(memory.alloc_storage.op, args, span=call.span)
                    storage = self.emit(made, "storage", binding.span)
                    parts = (storage, PrimValue.make(const(0, "int64")), shape, dtype)
                    cut = Call.make(memory.alloc_tensor.op, parts, span=call.span)
                    self.replace_value(binding, cut)
                    return
        self.keep(binding)

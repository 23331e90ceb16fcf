"""Storage that a program takes and gives back itself, as lowered programs do.

A storage is an object: an array of bytes, from which tensors are cut. Source: TVM `relax.memory`.
"""

from __future__ import annotations

from relaxscript.ir.relax import Call
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import DTypeValue, ShapeLike, Tensor, Text, Value
from relaxscript.opdef.prim_operands import require_integer
from relaxscript.opdef.traits import Trait

from .storage import cut_out, new_storage, tensor_in_storage

__all__ = ["alloc_storage", "alloc_tensor", "kill_storage", "kill_tensor"]

_OBJECT = ObjectStructInfo()
_UNIT = TupleStructInfo.make(())


@op("memory.alloc_storage", traits={Trait.ALLOCATES, Trait.AS_IS})
def alloc_storage(
    size: ShapeLike, virtual_device_index: Value, storage_scope: Text, dtype: DTypeValue
) -> Value:
    """A new storage for `size` elements of `dtype`, one number or a shape."""
    return new_storage(size, dtype)


@alloc_storage.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    _, index, _, _ = alloc_storage.operand_infos(call, context)
    require_integer("virtual_device_index", index, "the number of a device")
    return _OBJECT


@op("memory.alloc_tensor", traits={Trait.ALLOCATES, Trait.IN_STORAGE, Trait.AS_IS})
def alloc_tensor(storage: Value, offset: Value, shape: ShapeLike, dtype: DTypeValue) -> Tensor:
    """The tensor that begins `offset` bytes behind the start of a storage, and shares its memory.

    Raises `ValueError` for a tensor that the storage does not hold.
    """
    return cut_out(storage, offset, shape, dtype)


tensor_in_storage(alloc_tensor)


@op("memory.kill_storage", traits={Trait.FREES, Trait.IMPURE, Trait.AS_IS})
def kill_storage(storage: Value) -> Value:
    """Give a storage back; it must not be used afterwards."""
    return ()


@op("memory.kill_tensor", traits={Trait.FREES, Trait.IMPURE, Trait.AS_IS})
def kill_tensor(tensor: Tensor) -> Value:
    """Give a tensor back; it must not be used afterwards."""
    return ()


@kill_storage.infer_rule
def _(context: InferContext, storage: StructInfo) -> StructInfo:
    return _UNIT


@kill_tensor.infer_rule
def _(context: InferContext, tensor: TensorStructInfo) -> StructInfo:
    return _UNIT


for _operator in (alloc_storage, alloc_tensor, kill_storage, kill_tensor):
    _operator.lacks("gradient", "passes write it when nothing is left to differentiate")
    _operator.lacks("compute", "it handles memory, which the machine does")

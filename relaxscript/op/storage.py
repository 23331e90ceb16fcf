"""Storages and the tensors in them, as the operators of `memory.py` and `vm.py` see them.

A storage is an object: an array of bytes, from which tensors are cut.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, VMError
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Call, DataTypeImm, Expr
from relaxscript.ir.struct_info import ObjectStructInfo, StructInfo, TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import DTypeValue, ShapeLike, Tensor, Value
from relaxscript.opdef.prim_operands import integer_in, require_integer
from relaxscript.opdef.shapes import of_shape
from relaxscript.opdef.traits import Trait

__all__ = ["cut_out", "declare_alloc_tensor", "dtype_of", "new_storage", "tensor_like"]

tensor_like = TensorStructInfo.make(None, DataType("void"), None, -1)


def new_storage(size: tuple[int, ...], dtype: DataType) -> Any:
    """A storage as programs hold it."""
    count = math.prod(size) * dtype.itemsize
    try:
        return np.zeros(count, np.uint8)
    except (MemoryError, OverflowError, ValueError) as error:
        text = f"cannot allocate a storage of {count} bytes: {error}"
        raise VMError(text, code="RX0606") from error


def cut_out(storage: Any, offset: Any, shape: tuple[int, ...], dtype: DataType) -> Tensor:
    """A tensor in a storage."""
    start = integer_in(offset)
    end = start + math.prod(shape) * dtype.itemsize
    if start < 0 or end > storage.size:
        raise ValueError(f"the storage has {storage.size} bytes, and {end} are needed")
    found: Tensor = storage[start:end].view(dtype.numpy).reshape(shape)
    return found


def declare_alloc_tensor(name: str) -> Operator:
    """Declare an operator that makes a tensor in a storage."""

    @op(name, traits={Trait.ALLOCATES, Trait.IN_STORAGE, Trait.AS_IS})
    def alloc_tensor(storage: Value, offset: Value, shape: ShapeLike, dtype: DTypeValue) -> Tensor:
        """The tensor that begins `offset` bytes behind the start of a storage, in its memory.

        Raises `ValueError` for a tensor that the storage does not hold.
        """
        return cut_out(storage, offset, shape, dtype)

    @alloc_tensor.infer_call_rule
    def rule(context: InferContext, call: Call) -> StructInfo:
        names = [parameter.name for parameter in alloc_tensor.parameters]
        infos = dict(zip(names, alloc_tensor.operand_infos(call, context)))
        if not isinstance(infos["storage"], (ObjectStructInfo, TensorStructInfo)):
            fact = f"is {infos['storage'].noun}, not a storage"
            raise OperandError("storage", fact, code="RX0201")
        require_integer("offset", infos["offset"], "an offset")
        offset = infos["offset"].value
        if isinstance(offset, IntImm) and offset.value < 0:
            message = "a tensor begins in its storage"
            raise OperandError("offset", f"is {offset.value}", message=message, code="RX0204")
        like = tensor_like.replace(dtype=dtype_of(call.args[3]))
        return of_shape(call.args[2], infos["shape"], like)

    return alloc_tensor


def dtype_of(expr: Expr) -> DataType:
    """The dtype that an operand says, void where it is known only later."""
    return expr.value if isinstance(expr, DataTypeImm) else DataType("void")

"""Storage that a program takes and gives back itself, as lowered programs do.

A storage is an object: an array of bytes, from which tensors are cut. Source: TVM `relax.memory`.
"""

from __future__ import annotations

import math

import numpy as np

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, as_dimension
from relaxscript.ir.relax import Call
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import DType, DTypeValue, ShapeLike, Tensor, Text, Value
from relaxscript.opdef.prim_operands import integer_in, require_integer
from relaxscript.opdef.shapes import (
    VOID,
    dims_of,
    number,
    of_shape,
    product,
    require_inside,
)
from relaxscript.opdef.traits import Trait

from .storage import declare_alloc_tensor, new_storage

__all__ = [
    "alloc_storage", "alloc_tensor", "ensure_zero_offset", "kill_storage", "kill_tensor", "view",
]  # fmt: skip

_OBJECT = ObjectStructInfo()
_UNIT = TupleStructInfo.make(())
_BYTE = DataType("uint8")


@op("memory.alloc_storage", traits={Trait.ALLOCATES, Trait.AS_IS})
def alloc_storage(
    size: ShapeLike, virtual_device_index: Value, storage_scope: Text, dtype: DTypeValue
) -> Value:
    """A new storage of `size` bytes, one number or a shape, for tensors of `dtype` or any other."""
    return new_storage(size, _BYTE)


@alloc_storage.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    _, index, _, _ = alloc_storage.operand_infos(call, context)
    require_integer("virtual_device_index", index, "the number of a device")
    return _OBJECT


alloc_tensor = declare_alloc_tensor("memory.alloc_tensor")


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


# ---------------------------------------------------------------- other shapes of the same bytes


@op("memory.view")
def view(
    data: Tensor,
    shape: ShapeLike | None = None,
    dtype: DType | None = None,
    relative_byte_offset: Value | None = None,
) -> Tensor:
    """The bytes of `data` from an offset on, as a tensor of another shape, another dtype, or both.

    What is not given is that of `data`. The tensor must not go beyond the end of `data`. Tensors do
    not change, so that the result is the same where it is a copy.
    """
    wanted = data.dtype if dtype is None else dtype.numpy
    dims = data.shape if shape is None else tuple(shape)
    start = integer_in(relative_byte_offset)
    end = start + math.prod(dims) * wanted.itemsize
    if start < 0 or end > data.nbytes:
        raise ValueError(f"the tensor has {data.nbytes} bytes, and {start} to {end} are asked for")
    taken = np.frombuffer(data.tobytes()[start:end], np.uint8).copy()
    found: Tensor = taken.view(wanted).reshape(dims)
    return found


@view.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    data, shape, offset = view.operand_infos(call, context)
    dtype = view.attributes(call)["dtype"] or data.dtype
    start = None
    if offset is not None:
        start = require_integer("relative_byte_offset", offset, "an offset")
    if isinstance(start, IntImm) and start.value < 0:
        message = "a view begins in its tensor"
        fact = f"is {start.value}"
        raise OperandError("relative_byte_offset", fact, message=message, code="RX0204")
    like = TensorStructInfo.make(None, dtype, data.vdevice, -1)
    if shape is None:
        found: StructInfo = TensorStructInfo.make(data.shape, dtype, data.vdevice, data.ndim)
    else:
        found = of_shape(call.args[1], shape, like)
    known = offset is None or start is not None
    if known and isinstance(found, TensorStructInfo) and VOID not in (dtype, data.dtype):
        _require_room(context, data, found, start)
    return found


def _require_room(
    context: InferContext, data: TensorStructInfo, found: TensorStructInfo, start: PrimExpr | None
) -> None:
    """Require that a view ends where its tensor ends, or before."""
    dims, wanted = dims_of(data), dims_of(found)
    if dims is None or wanted is None:
        return
    have = product((*dims, number(data.dtype.itemsize)))
    need = product((*wanted, number(found.dtype.itemsize)))
    if start is not None:
        need = simplify(prim.Add.make(need, as_dimension(start)))
    fact = f"has {dim_text(have)} bytes"
    message = f"a view of {dim_text(need)} bytes, its offset included, goes beyond its tensor"
    help = "give the shape of the view" if found.shape is data.shape else None
    error = OperandError("data", fact, message=message, help=help)
    require_inside(context, need, have, error, f"`data` {fact}, and {message}")


@op("memory.ensure_zero_offset")
def ensure_zero_offset(data: Tensor) -> Tensor:
    """The tensor in a memory of its own, at whose first byte it begins.

    Tensors of programs are so already, but for views. Source: TVM `relax.memory`.
    """
    return data.copy()


@ensure_zero_offset.infer_rule
def _(context: InferContext, data: TensorStructInfo) -> StructInfo:
    return data


view.lacks("gradient", "it may read the bytes of floats as something else")
ensure_zero_offset.lacks("gradient", "passes write it when nothing is left to differentiate")
for _operator in (view, ensure_zero_offset):
    _operator.lacks("compute", "it handles memory, which the machine does")

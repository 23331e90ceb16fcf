"""Properties of a tensor, read while the program runs: its dtype, shape and layout in memory.

Scripts write these as attributes, `x.shape[0]` or `x.dtype.bits`. Tensors of Relax are compact and
in row-major order, so strides follow from the shape and offsets are 0. Dtypes are described as
DLPack does, but for bool, which is an unsigned integer of one bit. Source: TVM `relax.inspect`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from relaxscript.dtypes import DataType, result_dtype
from relaxscript.ir.prim import IntImm, PrimExpr, const
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import Tensor, Value
from relaxscript.opdef.prim_operands import integer_in, require_integer
from relaxscript.opdef.shapes import Dims, axis_in, dims_of, product
from relaxscript.opdef.traits import Trait
from relaxscript.runtime.values import make_prim

__all__ = [
    "tensor_byte_offset", "tensor_dtype_bits", "tensor_dtype_code", "tensor_dtype_lanes",
    "tensor_elem_offset", "tensor_ndim", "tensor_shape_i", "tensor_stride_i",
]  # fmt: skip

_INT64 = DataType("int64")
_CODES = {"int": 0, "uint": 1, "bool": 1, "float": 2, "bfloat": 4}
_SMALL_FLOAT_CODES = {
    "float8_e3m4": 7, "float8_e4m3": 8, "float8_e4m3b11fnuz": 9, "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14,
}  # fmt: skip


# ---------------------------------------------------------------- dtypes


@op("inspect.tensor_dtype_code", traits={Trait.AS_IS})
def tensor_dtype_code(x: Tensor) -> Value:
    """The kind of the elements, as DLPack counts kinds: 0 int, 1 uint, 2 float, 4 bfloat; uint8."""
    return make_prim(_code(result_dtype(x)), "uint8")


@op("inspect.tensor_dtype_bits", traits={Trait.AS_IS})
def tensor_dtype_bits(x: Tensor) -> Value:
    """The bits of an element, 1 for a bool; uint8."""
    return make_prim(result_dtype(x).bits, "uint8")


@op("inspect.tensor_dtype_lanes", traits={Trait.AS_IS})
def tensor_dtype_lanes(x: Tensor) -> Value:
    """The numbers in an element, which is 1 in every tensor of Relax; uint16."""
    return make_prim(1, "uint16")


def _code(dtype: DataType) -> int:
    return _SMALL_FLOAT_CODES.get(str(dtype), _CODES[dtype.kind])


def _of_dtype(operator: Operator, dtype: str, ask: Callable[[DataType], int]) -> None:
    wide = DataType(dtype)

    @operator.infer_rule
    def rule(context: InferContext, x: TensorStructInfo) -> StructInfo:
        value = None if x.dtype.is_void else const(ask(x.dtype), wide)
        return PrimStructInfo.make(wide, value)


_of_dtype(tensor_dtype_code, "uint8", _code)
_of_dtype(tensor_dtype_bits, "uint8", lambda dtype: dtype.bits)
_of_dtype(tensor_dtype_lanes, "uint16", lambda dtype: dtype.lanes)


# ---------------------------------------------------------------- shapes and memory


@op("inspect.tensor_ndim", traits={Trait.AS_IS})
def tensor_ndim(x: Tensor) -> Value:
    """The rank; int32."""
    return make_prim(x.ndim, "int32")


@tensor_ndim.infer_rule
def _(context: InferContext, x: TensorStructInfo) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    value = None if rank < 0 else const(rank, DataType("int32"))
    return PrimStructInfo.make(DataType("int32"), value)


@op("inspect.tensor_shape_i", traits={Trait.AS_IS})
def tensor_shape_i(x: Tensor, axis: Value) -> Value:
    """The number of elements along `axis`, a scalar; int64.

    Raises `IndexError` for an axis that there is not.
    """
    return x.shape[_place(x, axis)]


@op("inspect.tensor_stride_i", traits={Trait.AS_IS})
def tensor_stride_i(x: Tensor, axis: Value) -> Value:
    """The stride along `axis`, in elements, a scalar; int64.

    Raises `IndexError` for an axis that there is not.
    """
    return math.prod(x.shape[_place(x, axis) + 1 :])


@op("inspect.tensor_byte_offset", traits={Trait.AS_IS})
def tensor_byte_offset(x: Tensor) -> Value:
    """The offset of the tensor in its memory, in bytes, which is 0; uint64."""
    return make_prim(0, "uint64")


@op("inspect.tensor_elem_offset", traits={Trait.AS_IS})
def tensor_elem_offset(x: Tensor) -> Value:
    """The offset of the tensor in its memory, in elements, which is 0; int64."""
    return 0


def _place(x: Tensor, axis: Any) -> int:
    """An axis counted from 0."""
    index = integer_in(axis)
    if not -x.ndim <= index < x.ndim:
        raise IndexError(f"there is no axis {index}")
    return index % x.ndim


def _along_axis(operator: Operator, ask: Callable[[Dims, int], PrimExpr]) -> None:
    @operator.infer_rule
    def rule(context: InferContext, x: TensorStructInfo, axis: StructInfo) -> StructInfo:
        index = require_integer("axis", axis, "an axis")
        if not isinstance(index, IntImm):
            return PrimStructInfo.make(_INT64)
        dims = dims_of(x)
        place = axis_in(index.value, x.ndim if dims is None else len(dims))
        if dims is None:
            return PrimStructInfo.make(_INT64)
        return PrimStructInfo.make(_INT64, ask(dims, place))


def _stride(dims: Dims, axis: int) -> PrimExpr:
    return product(dims[axis + 1 :])


_along_axis(tensor_shape_i, lambda dims, axis: dims[axis])
_along_axis(tensor_stride_i, _stride)


def _zero(operator: Operator, dtype: str) -> None:
    @operator.infer_rule
    def rule(context: InferContext, x: TensorStructInfo) -> StructInfo:
        return PrimStructInfo.make(DataType(dtype), const(0, DataType(dtype)))


_zero(tensor_byte_offset, "uint64")
_zero(tensor_elem_offset, "int64")


for _operator in (
    tensor_byte_offset,
    tensor_dtype_bits,
    tensor_dtype_code,
    tensor_dtype_lanes,
    tensor_elem_offset,
    tensor_ndim,
    tensor_shape_i,
    tensor_stride_i,
):
    _operator.lacks("gradient", "its result is an integer")
    _operator.lacks("compute", "the machine makes its result, of what it knows of a tensor")

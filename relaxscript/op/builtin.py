"""A tensor that is allocated, and marks for passes. Source: TVM `relax.builtin`."""

from __future__ import annotations

import numpy as np

from relaxscript.ir.relax import Call, Expr
from relaxscript.ir.struct_info import StructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.families import compute_elements
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import DTypeValue, ShapeLike, Tensor, Text, Value
from relaxscript.opdef.prim_operands import require_integer
from relaxscript.opdef.shapes import of_shape
from relaxscript.opdef.traits import Trait

from .storage import dtype_of, tensor_like

__all__ = ["alloc_tensor", "stop_lift_params"]


@op("builtin.alloc_tensor", traits={Trait.ALLOCATES})
def alloc_tensor(
    shape: ShapeLike, dtype: DTypeValue, runtime_device_index: Value, storage_scope: Text = "global"
) -> Tensor:
    """A new tensor of zeros."""
    return np.zeros(tuple(shape), dtype.numpy)


@alloc_tensor.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    shape, _, index, _ = alloc_tensor.operand_infos(call, context)
    require_integer("runtime_device_index", index, "the number of a device")
    return of_shape(call.args[0], shape, tensor_like.replace(dtype=dtype_of(call.args[1])))


@op("builtin.stop_lift_params")
def stop_lift_params(x: Tensor) -> Tensor:
    """The tensor itself, which is not computed beforehand though its operands are known."""
    return x.copy()


@stop_lift_params.infer_rule
def _(context: InferContext, x: StructInfo) -> StructInfo:
    return x


compute_elements(stop_lift_params, lambda x: x)


@stop_lift_params.gradient
def _(context: GradientContext, x: Expr) -> Gradients:
    return (context.grad,)


alloc_tensor.lacks("gradient", "no tensor is among its operands")
alloc_tensor.lacks("compute", "its elements are whatever the memory holds")

"""Operators that say on which device a value is.

Source: spec "Notable Operators", `to_vdevice` and `hint_on_device`. Whoever runs the program
moves values; the meaning in numpy is the value itself.
"""

from __future__ import annotations

from typing import Any

from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.vdevice import VDevice
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.opdef.operands import wrong_kind
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Device, Tensor, Value, VirtualDevice
from relaxscript.opdef.traits import Trait

from .gradients import R

__all__ = ["hint_on_device", "to_vdevice"]


@op(traits={Trait.VIEW})
def to_vdevice(data: Value, dst_vdevice: VirtualDevice) -> Value:
    """A tensor on a virtual device of the module; of a tuple each field, and theirs."""
    if isinstance(data, tuple):
        return tuple(to_vdevice.function(field, dst_vdevice) for field in data)
    return data.copy()


@to_vdevice.infer_rule
def _(context: InferContext, data: StructInfo, dst_vdevice: VirtualDevice) -> StructInfo:
    return _with_device(data, dst_vdevice, "data")


def _with_device(info: StructInfo, device: VirtualDevice, operand: str) -> StructInfo:
    match info:
        case TensorStructInfo():
            return TensorStructInfo.make(info.shape, info.dtype, device, info.ndim)
        case TupleStructInfo(fields):
            return TupleStructInfo.make(tuple(_with_device(f, device, operand) for f in fields))
    raise wrong_kind(operand, info, "tensor")


@op(traits={Trait.VIEW})
def hint_on_device(data: Tensor, dst_vdevice: Device, memory_scope: str = "global") -> Tensor:
    """The tensor itself, which is wanted on a device such as `R.device("cpu", 1)`.

    The device is none of the module's virtual ones. `RealizeVDevice` makes it a `R.to_vdevice`, or
    nothing where the tensor is there already; until then it is not known where the result is.
    """
    return data


@hint_on_device.infer_rule
def _(
    context: InferContext, data: TensorStructInfo, dst_vdevice: Device, memory_scope: str = "global"
) -> StructInfo:
    return data if data.vdevice is None else data.replace(vdevice=None)


@to_vdevice.gradient
def _(context: GradientContext, data: Expr, dst_vdevice: VirtualDevice) -> Gradients:
    device = _device_of(struct_info_of_leaf(data))
    return (context.grad if device is None else R.to_vdevice(context.grad, device),)


def _device_of(info: StructInfo) -> VDevice | None:
    """The device of a tensor, or of the first of a tuple that says one."""
    match info:
        case TensorStructInfo(vdevice=device):
            return device
        case TupleStructInfo(fields):
            return next((d for d in map(_device_of, fields) if d is not None), None)
    return None


@hint_on_device.gradient
def _(context: GradientContext, data: Expr, **options: Any) -> Gradients:
    return (context.grad,)


for _operator in (to_vdevice, hint_on_device):
    _operator.lacks("compute", "the machine moves what it is given to another device")

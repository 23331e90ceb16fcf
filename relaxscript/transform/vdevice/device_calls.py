"""Calls and devices: which calls run on one device, and which device a hint names."""

from __future__ import annotations

from relaxscript.errors import Span
from relaxscript.ir.module import IRModule, Target, VDevice
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Attrs, Call, Expr, GlobalVar, Op
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.op import Trait, lookup
from relaxscript.op.base import invoke_closure, invoke_pure_closure
from relaxscript.op.device import hint_on_device, to_vdevice
from relaxscript.runtime import Device
from relaxscript.sinfo import same_vdevice

__all__ = [
    "hinted_device", "is_closure_call", "is_host", "is_kernel_call", "listed_devices", "move_call",
    "named_device", "wanted_device",
]  # fmt: skip

# Traits of operators of whose function nothing is known: it may take and give any tensors.
_OPAQUE = {Trait.CALLS_OUT, Trait.CAPTURES}


def is_kernel_call(call: Call, module: IRModule) -> bool:
    """True if a call runs an operator or PrimFunc on tensors that must be on one device.

    `R.to_vdevice` moves a tensor from wherever it is; operators with side effects, `R.print` for
    one, look at tensors anywhere; packed functions do as they like.
    """
    match call.op:
        case hint_on_device.op | to_vdevice.op:
            return False
        case Op() as op:
            operator = lookup(op)
            return operator.pure and not operator.traits & _OPAQUE
        case GlobalVar() as callee:
            return callee in module and isinstance(module[callee], PrimFunc)
    return False


def is_closure_call(op: Expr) -> bool:
    """True if a call of an operator calls a closure, with the fields of a tuple."""
    return op in (invoke_closure.op, invoke_pure_closure.op)


def listed_devices(module: IRModule) -> list[VDevice]:
    """The virtual devices that a module lists."""
    return [d for d in module.global_infos.get("vdevice", ()) if isinstance(d, VDevice)]


def move_call(value: Expr, device: VDevice, span: Span | None) -> Call:
    """`R.to_vdevice(value, device)`."""
    return Call.make(to_vdevice.op, (value,), Attrs({"dst_vdevice": device}), span=span)


def is_host(device: VDevice) -> bool:
    """True if tensors on a virtual device are those of the host, as constants are."""
    return device.vdevice_id == 0 and device.target.kind in Device.KINDS


def named_device(node: Node) -> VDevice | None:
    """The virtual device that a node itself says a tensor to be on."""
    match node:
        case TensorStructInfo(vdevice=device):
            return device
        case Call(op=hint_on_device.op | to_vdevice.op, attrs=Attrs() as attrs):
            device = attrs["dst_vdevice"]
            return device if isinstance(device, VDevice) else None
    return None


def wanted_device(hint: Call) -> VDevice:
    """The kind, number and memory scope that an `R.hint_on_device` names."""
    attrs = hint.attrs or Attrs()
    device: VDevice = attrs["dst_vdevice"]
    return VDevice(device.target, device.vdevice_id, attrs.get("memory_scope", "global"))


def hinted_device(hint: Call, module: IRModule) -> VDevice | None:
    """The virtual device of the module that an `R.hint_on_device` names; None if it has none.

    A target with options is found by its kind, since a hint can say no options.
    """
    wanted = wanted_device(hint)
    listed = listed_devices(module)
    exact = (d for d in listed if same_vdevice(d, wanted))
    plain = (d for d in listed if same_vdevice(d.replace(target=Target(d.target.kind)), wanted))
    return next(exact, None) or next(plain, None)

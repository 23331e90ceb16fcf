"""Devices of the tensors that a StructInfo describes, taken over from another one."""

from __future__ import annotations

from relaxscript.arith import YES
from relaxscript.ir.field_roles import paired_parts, with_parts
from relaxscript.ir.module import VDevice
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo

from .compatibility import check_compatibility

__all__ = ["differs_in_devices_only", "with_vdevice_of"]


def with_vdevice_of(info: StructInfo, known: StructInfo | None) -> StructInfo:
    """A StructInfo with the devices that another one of the same value says and it does not.

    It is the same object where there are none.
    """
    match info, known:
        case TensorStructInfo(shape, dtype, None, ndim), TensorStructInfo(vdevice=VDevice() as v):
            return TensorStructInfo.make(shape, dtype, v, ndim, span=info.span)
        case StructInfo(), StructInfo() if info.is_compound:
            pairs = paired_parts(info, known) or ()
            return with_parts(info, [with_vdevice_of(x, y) for x, y in pairs]) if pairs else info
    return info


def differs_in_devices_only(derived: StructInfo, base: StructInfo) -> bool:
    """True if `derived` is accepted as `base` but for devices that one of them does not say."""
    mine, theirs = with_vdevice_of(derived, base), with_vdevice_of(base, derived)
    said = mine is not derived or theirs is not base
    return said and check_compatibility(mine, theirs) is YES

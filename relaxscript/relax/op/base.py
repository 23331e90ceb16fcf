"""Names that users know as `relax.op.base`: calls, closures, shapes as values, devices."""

from __future__ import annotations

from relaxscript.op.base import (
    assert_op,
    compute_prim_value,
    invoke_closure,
    invoke_pure_closure,
    make_closure,
    null_value,
    print,
    shape_of,
    shape_to_tensor,
    tensor_to_shape,
)
from relaxscript.op.calls import (
    call_builtin_with_ctx,
    call_dps_packed,
    call_packed,
    call_pure_packed,
    call_py_func,
    call_tir,
    call_tir_with_grad,
)
from relaxscript.op.collapse_sum import size
from relaxscript.op.device import hint_on_device, to_vdevice
from relaxscript.op.inplace import call_inplace_packed, call_tir_inplace

__all__ = [
    "assert_op", "call_builtin_with_ctx", "call_dps_packed", "call_inplace_packed", "call_packed",
    "call_pure_packed", "call_py_func", "call_tir", "call_tir_inplace", "call_tir_with_grad",
    "compute_prim_value", "hint_on_device", "invoke_closure", "invoke_pure_closure",
    "make_closure", "null_value", "print", "shape_of", "shape_to_tensor", "size",
    "tensor_to_shape", "to_vdevice",
]  # fmt: skip

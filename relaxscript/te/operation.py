"""Names that users know as `tvm.te.operation`: what makes tensors, and a PrimFunc of them."""

from __future__ import annotations

from .compute import compute, extern, placeholder, reduce_axis, size_var, thread_axis, var
from .prim_func import create_prim_func
from .tensor import ComputeOp, ExternOp, Operation, PlaceholderOp

__all__ = [
    "ComputeOp", "ExternOp", "Operation", "PlaceholderOp", "compute", "create_prim_func", "extern",
    "placeholder", "reduce_axis", "size_var", "thread_axis", "var",
]  # fmt: skip

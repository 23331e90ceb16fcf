"""Names that users know as `tvm.ir.op`: operators and their attributes."""

from __future__ import annotations

from .op_attributes import register_op_attr
from .relax import Op

__all__ = ["Op", "register_op_attr"]

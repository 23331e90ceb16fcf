"""Names that users know as `tvm.ir.expr`: scalar expressions, global variables and ranges."""

from __future__ import annotations

from .prim import PrimExpr
from .relax import GlobalVar
from .tir import Range

__all__ = ["GlobalVar", "PrimExpr", "Range"]

"""Names that users know as `tvm.tir.function`: PrimFuncs, and maps of indices."""

from __future__ import annotations

from relaxscript.tir import IndexMap, PrimFunc

__all__ = ["IndexMap", "PrimFunc"]

"""Names that users know as `tvm.ir.type`: types without shapes."""

from __future__ import annotations

from .types import FuncType, PointerType, PrimType, TupleType, Type

__all__ = ["FuncType", "PointerType", "PrimType", "TupleType", "Type"]

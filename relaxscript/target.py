"""Names that users know as `tvm.target`."""

from __future__ import annotations

from .ir.module import Target

__all__ = ["Target"]

"""Names that users know as `tvm.ir.function`: what all functions of modules are."""

from __future__ import annotations

from .relax import BaseFunc

__all__ = ["BaseFunc"]

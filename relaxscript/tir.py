"""Names that users know as `tvm.tir`: scalar expressions, statements and functions over buffers."""

from __future__ import annotations

from .ir import prim, tir as statements
from .ir.prim import *  # noqa: F403
from .ir.tir import *  # noqa: F403

__all__ = [*prim.__all__, *statements.__all__]

"""Names that users know as `tvm.tir`: scalar expressions, statements and functions over buffers."""

from __future__ import annotations

from .ir import prim, tir as statements, tir_compute
from .ir.prim import *  # noqa: F403
from .ir.tir import *  # noqa: F403
from .ir.tir_compute import *  # noqa: F403

__all__ = [*prim.__all__, *statements.__all__, *tir_compute.__all__]

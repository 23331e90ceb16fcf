"""Names that users know as `tvm.tir.analysis`: questions about PrimFuncs and their parts."""

from __future__ import annotations

from relaxscript.analysis import prim_funcs
from relaxscript.analysis.prim_funcs import *  # noqa: F403

__all__ = [*prim_funcs.__all__]

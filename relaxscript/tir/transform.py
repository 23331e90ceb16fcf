"""Names that users know as `tvm.tir.transform`: passes over PrimFuncs."""

from __future__ import annotations

from relaxscript.transform import prim_func
from relaxscript.transform.pass_infra.passes import PrimFuncPass, prim_func_pass
from relaxscript.transform.prim_func import *  # noqa: F403

__all__ = ["PrimFuncPass", "prim_func_pass", *prim_func.__all__]

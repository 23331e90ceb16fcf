"""Names that users know as `tvm.ir.transform`: what a pass is, and how passes run."""

from __future__ import annotations

from relaxscript.transform import (
    ModulePass,
    Pass,
    PassContext,
    PassInfo,
    Sequential,
    module_pass,
)

__all__ = ["ModulePass", "Pass", "PassContext", "PassInfo", "Sequential", "module_pass"]

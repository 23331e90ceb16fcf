"""Names that users know as `tvm.ir.transform`: what a pass is, and how passes run."""

from __future__ import annotations

from relaxscript.transform import (
    ApplyPassToFunction,
    ModulePass,
    Pass,
    PassContext,
    PassInfo,
    PrintIR,
    Sequential,
    module_pass,
)

__all__ = [
    "ApplyPassToFunction", "ModulePass", "Pass", "PassContext", "PassInfo", "PrintIR", "Sequential",
    "module_pass",
]  # fmt: skip

"""Passes: named steps from module to module, one file each.

`passes.py` says what a pass is, `context.py` how passes run, `pipeline.py` which rows of passes
have names, `bindings.py` is what most of them are written with.
"""

from __future__ import annotations

from .attach_global_symbol import AttachGlobalSymbol
from .call_tir_rewrite import CallTIRRewrite
from .context import PassContext, PassInfo
from .kill_after_last_use import KillAfterLastUse
from .lower_alloc_tensor import LowerAllocTensor
from .normalize import Normalize
from .passes import (
    DataflowBlockPass,
    FunctionPass,
    ModulePass,
    Pass,
    Sequential,
    dataflowblock_pass,
    function_pass,
    module_pass,
)
from .remove_purity_checking import RemovePurityChecking
from .to_non_dataflow import ToNonDataflow

__all__ = [
    "AttachGlobalSymbol", "CallTIRRewrite", "DataflowBlockPass", "FunctionPass", "KillAfterLastUse",
    "LowerAllocTensor", "ModulePass", "Normalize", "Pass", "PassContext", "PassInfo",
    "RemovePurityChecking", "Sequential", "ToNonDataflow", "dataflowblock_pass", "function_pass",
    "module_pass",
]  # fmt: skip

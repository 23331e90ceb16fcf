"""Passes: named steps from module to module, one file each.

`passes.py` says what a pass is, `context.py` how passes run, `pipeline.py` which rows of passes
have names, `bindings.py` is what most of them are written with.
"""

from __future__ import annotations

from .attach_global_symbol import AttachGlobalSymbol
from .compute_prim_value import ComputePrimValue
from .context import PassContext, PassInfo
from .lambda_lift import LambdaLift
from .lower_runtime_builtin import LowerRuntimeBuiltin
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
from .vm_shape_lower import VMShapeLower

__all__ = [
    "AttachGlobalSymbol", "ComputePrimValue", "DataflowBlockPass", "FunctionPass", "LambdaLift",
    "LowerRuntimeBuiltin", "ModulePass", "Normalize", "Pass", "PassContext", "PassInfo",
    "RemovePurityChecking", "Sequential", "ToNonDataflow", "VMShapeLower", "dataflowblock_pass",
    "function_pass", "module_pass",
]  # fmt: skip

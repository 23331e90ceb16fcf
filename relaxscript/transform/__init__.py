"""Passes: named steps from module to module, one file each.

`passes.py` says what a pass is, `context.py` how passes run, `pipeline.py` which rows of passes
have names, `bindings.py` is what most of them are written with.
"""

from __future__ import annotations

from .attach_global_symbol import AttachGlobalSymbol
from .call_tir_rewrite import CallTIRRewrite
from .compute_prim_value import ComputePrimValue
from .context import PassContext, PassInfo
from .kill_after_last_use import KillAfterLastUse
from .lambda_lift import LambdaLift
from .lower_alloc_tensor import LowerAllocTensor
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
from .pipeline import (
    default_build_pipeline,
    default_pipeline,
    get_default_pipeline,
    get_pipeline,
    register_pipeline,
    zero_pipeline,
)
from .realize_vdevice import RealizeVDevice
from .remove_purity_checking import RemovePurityChecking
from .remove_redundant_checks import RemoveRedundantChecks
from .remove_unused_checks import RemoveUnusedChecks
from .to_non_dataflow import ToNonDataflow
from .update_vdevice import UpdateVDevice
from .vm_shape_lower import VMShapeLower

__all__ = [
    "AttachGlobalSymbol", "CallTIRRewrite", "ComputePrimValue", "DataflowBlockPass",
    "FunctionPass", "KillAfterLastUse", "LambdaLift", "LowerAllocTensor", "LowerRuntimeBuiltin",
    "ModulePass", "Normalize", "Pass", "PassContext", "PassInfo", "RealizeVDevice",
    "RemovePurityChecking", "RemoveRedundantChecks", "RemoveUnusedChecks", "Sequential",
    "ToNonDataflow", "UpdateVDevice", "VMShapeLower", "dataflowblock_pass",
    "default_build_pipeline", "default_pipeline", "function_pass", "get_default_pipeline",
    "get_pipeline", "module_pass", "register_pipeline", "zero_pipeline",
]  # fmt: skip

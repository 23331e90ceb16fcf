"""Passes: named steps from module to module, one file each.

pass_infra/   passes.py says what a pass is, context.py how passes run.
normalize/    the forms that other passes ask for.
simplify/     programs become smaller or plainer.
specialize/   what is known of arguments is put into functions.
legalize/     operators become loops, composite ones simpler ones.
fuse/         what is computed together becomes one function.
byoc/         what code generators of one's own compile.
lower/        what calls, signatures and casts ask of the machine.
algebra/      the same values by other operations.
prim_func/    passes over PrimFuncs alone, which `relaxscript.tir.transform` lists.
default_schedule/  how loops are arranged where nobody says it.
gradient/     what a function gives, and how that changes with its parameters.
layout/       how weights lie in memory, as those want it that read them.
precision/    fewer bits, and functions to fewer digits.
memory/       where tensors are in memory, and how long they live.
vdevice/      where each tensor is.
other_machines/  what only GPUs and tuners give a meaning.
params/       what is computed of weights alone, and when each of them is fetched.
pipeline.py   which rows of passes have names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .default_schedule.apply_default_schedule import ApplyDefaultSchedule
from .fuse.annotate_tir_op_pattern import AnnotateTIROpPattern
from .fuse.fuse_ops import FuseOps
from .fuse.fuse_tir import FuseTIR
from .fuse.outline_native import OutlineNative
from .fuse.rewrite_dataflow_reshape import RewriteDataflowReshape
from .layout.attach_attr_layout_free_buffers import AttachAttrLayoutFreeBuffers
from .layout.split_layout_rewrite_preproc import SplitLayoutRewritePreproc
from .legalize.decompose_ops import DecomposeOpsForInference, DecomposeOpsForTraining
from .legalize.legalize_ops import LegalizeOps
from .lower.call_tir_rewrite import CallTIRRewrite
from .lower.compute_prim_value import ComputePrimValue
from .lower.lambda_lift import LambdaLift
from .lower.lower_alloc_tensor import LowerAllocTensor
from .lower.lower_runtime_builtin import LowerRuntimeBuiltin, VMBuiltinLower
from .lower.lower_to_one_worker import LowerToOneWorker
from .lower.remove_redundant_checks import RemoveRedundantChecks
from .lower.remove_unused_checks import RemoveUnusedChecks
from .lower.vm_shape_lower import VMShapeLower
from .memory.attach_attr_no_alias import AttachAttrNoAlias
from .memory.dataflow_use_inplace_calls import DataflowUseInplaceCalls
from .memory.kill_after_last_use import KillAfterLastUse
from .memory.static_plan_block_memory import StaticPlanBlockMemory
from .normalize.attach_global_symbol import AttachGlobalSymbol
from .normalize.convert_to_dataflow import ConvertToDataflow
from .normalize.normalize import Normalize
from .normalize.normalize_global_var import NormalizeGlobalVar
from .normalize.remove_purity_checking import RemovePurityChecking
from .normalize.to_non_dataflow import ToNonDataflow
from .normalize.topological_sort import TopologicalSort
from .other_machines.rewrite_cuda_graph import RewriteCUDAGraph
from .pass_infra.apply_pass_to_function import ApplyPassToFunction
from .pass_infra.context import PassContext, PassInfo
from .pass_infra.passes import (
    DataflowBlockPass,
    FunctionPass,
    ModulePass,
    Pass,
    Sequential,
    dataflowblock_pass,
    function_pass,
    module_pass,
)
from .pass_infra.print_ir import PrintIR
from .pass_infra.verify_each import VerifyEach
from .pipeline import (
    default_build_pipeline,
    default_pipeline,
    get_default_pipeline,
    get_pipeline,
    register_pipeline,
    zero_pipeline,
)
from .simplify.canonicalize_bindings import CanonicalizeBindings
from .simplify.dead_code_elimination import DeadCodeElimination
from .simplify.eliminate_common_subexpr import EliminateCommonSubexpr
from .simplify.fold_constant import FoldConstant
from .simplify.inline_private_functions import InlinePrivateFunctions
from .specialize.bind_params import BindParams
from .specialize.bind_symbolic_vars import BindSymbolicVars
from .specialize.bundle_model_params import BundleModelParams
from .vdevice.realize_vdevice import RealizeVDevice
from .vdevice.update_vdevice import UpdateVDevice

if TYPE_CHECKING:
    from .algebra.adjust_matmul_order import AdjustMatmulOrder
    from .algebra.combine_parallel_matmul import CombineParallelMatmul
    from .algebra.expand_matmul_of_sum import ExpandMatmulOfSum
    from .algebra.reorder_permute_dims_after_concat import ReorderPermuteDimsAfterConcat
    from .algebra.reorder_take_after_matmul import ReorderTakeAfterMatmul
    from .byoc.allocate_workspace import AllocateWorkspace
    from .byoc.attach_extern_modules import AttachExternModules
    from .byoc.merge_composite_functions import MergeCompositeFunctions
    from .byoc.nest_matcher import MatchResult
    from .byoc.run_codegen import RunCodegen
    from .byoc.split_call_tir_by_pattern import SplitCallTIRByPattern
    from .fuse.fuse_ops_by_pattern import FuseOpsByPattern
    from .fuse.fuse_transpose_matmul import FuseTransposeMatmul
    from .fuse.fusion_pattern import FusionPattern, PatternCheckContext
    from .gradient.gradient import Gradient
    from .layout.alter_op_impl import AlterOpImpl
    from .layout.convert_layout import ConvertLayout
    from .layout.optimize_layout_transform import OptimizeLayoutTransform
    from .other_machines.ipc_memory import IPCAllReduceRewrite, LowerGPUIPCAllocStorage
    from .other_machines.meta_schedule import (
        FewShotTuning,
        MetaScheduleApplyDatabase,
        MetaScheduleTuneIRMod,
        MetaScheduleTuneTIR,
    )
    from .params.lazy_get_input import LazyGetInput
    from .params.lazy_set_output import LazySetOutput
    from .params.lazy_transform_params import LazyTransformParams
    from .params.lift_transform_params import LiftTransformParams
    from .params.update_param_struct_info import UpdateParamStructInfo
    from .precision.fast_math_transform import FastMathTransform
    from .precision.to_mixed_precision import ToMixedPrecision
    from .simplify.expand_tuple_arguments import ExpandTupleArguments
    from .simplify.fold_batchnorm_to_conv2d import FoldBatchnormToConv2D
    from .simplify.remove_redundant_reshape import RemoveRedundantReshape
    from .simplify.remove_unused_outputs import RemoveUnusedOutputs
    from .simplify.remove_unused_parameters import RemoveUnusedParameters
    from .specialize.specialize_prim_func_based_on_call_site import (
        SpecializePrimFuncBasedOnCallSite,
    )

# What no pipeline runs, and patterns with it, is imported when it is first used.
_LATER = {
    "AdjustMatmulOrder": "algebra.adjust_matmul_order",
    "AllocateWorkspace": "byoc.allocate_workspace",
    "AlterOpImpl": "layout.alter_op_impl",
    "AttachExternModules": "byoc.attach_extern_modules",
    "CombineParallelMatmul": "algebra.combine_parallel_matmul",
    "ConvertLayout": "layout.convert_layout",
    "ExpandMatmulOfSum": "algebra.expand_matmul_of_sum",
    "ExpandTupleArguments": "simplify.expand_tuple_arguments",
    "FastMathTransform": "precision.fast_math_transform",
    "FewShotTuning": "other_machines.meta_schedule",
    "FoldBatchnormToConv2D": "simplify.fold_batchnorm_to_conv2d",
    "FuseOpsByPattern": "fuse.fuse_ops_by_pattern",
    "FuseTransposeMatmul": "fuse.fuse_transpose_matmul",
    "FusionPattern": "fuse.fusion_pattern",
    "Gradient": "gradient.gradient",
    "IPCAllReduceRewrite": "other_machines.ipc_memory",
    "LazyGetInput": "params.lazy_get_input",
    "LazySetOutput": "params.lazy_set_output",
    "LazyTransformParams": "params.lazy_transform_params",
    "LiftTransformParams": "params.lift_transform_params",
    "LowerGPUIPCAllocStorage": "other_machines.ipc_memory",
    "MatchResult": "byoc.nest_matcher",
    "MergeCompositeFunctions": "byoc.merge_composite_functions",
    "MetaScheduleApplyDatabase": "other_machines.meta_schedule",
    "MetaScheduleTuneIRMod": "other_machines.meta_schedule",
    "MetaScheduleTuneTIR": "other_machines.meta_schedule",
    "OptimizeLayoutTransform": "layout.optimize_layout_transform",
    "PatternCheckContext": "fuse.fusion_pattern",
    "RemoveRedundantReshape": "simplify.remove_redundant_reshape",
    "RemoveUnusedOutputs": "simplify.remove_unused_outputs",
    "RemoveUnusedParameters": "simplify.remove_unused_parameters",
    "ReorderPermuteDimsAfterConcat": "algebra.reorder_permute_dims_after_concat",
    "ReorderTakeAfterMatmul": "algebra.reorder_take_after_matmul",
    "RunCodegen": "byoc.run_codegen",
    "SpecializePrimFuncBasedOnCallSite": "specialize.specialize_prim_func_based_on_call_site",
    "SplitCallTIRByPattern": "byoc.split_call_tir_by_pattern",
    "UpdateParamStructInfo": "params.update_param_struct_info",
    "ToMixedPrecision": "precision.to_mixed_precision",
}

if not TYPE_CHECKING:  # for type checkers a name that is not here is an error

    def __getattr__(name: str) -> Any:
        from relaxscript.errors.not_built import of_transform

        room = _LATER.get(name)
        if room is None:
            return of_transform(name)
        value = globals()[name] = getattr(import_module(f"{__name__}.{room}"), name)
        return value


__all__ = [
    "AdjustMatmulOrder",
    "AllocateWorkspace",
    "AlterOpImpl",
    "AnnotateTIROpPattern",
    "ApplyDefaultSchedule",
    "ApplyPassToFunction",
    "AttachAttrLayoutFreeBuffers",
    "AttachAttrNoAlias",
    "AttachExternModules",
    "AttachGlobalSymbol",
    "BindParams",
    "BindSymbolicVars",
    "BundleModelParams",
    "CallTIRRewrite",
    "CanonicalizeBindings",
    "CombineParallelMatmul",
    "ComputePrimValue",
    "ConvertLayout",
    "ConvertToDataflow",
    "DataflowBlockPass",
    "DataflowUseInplaceCalls",
    "DeadCodeElimination",
    "DecomposeOpsForInference",
    "DecomposeOpsForTraining",
    "EliminateCommonSubexpr",
    "ExpandMatmulOfSum",
    "ExpandTupleArguments",
    "FastMathTransform",
    "FewShotTuning",
    "FoldBatchnormToConv2D",
    "FoldConstant",
    "FunctionPass",
    "FuseOps",
    "FuseOpsByPattern",
    "FuseTIR",
    "FuseTransposeMatmul",
    "FusionPattern",
    "Gradient",
    "IPCAllReduceRewrite",
    "InlinePrivateFunctions",
    "KillAfterLastUse",
    "LambdaLift",
    "LazyGetInput",
    "LazySetOutput",
    "LazyTransformParams",
    "LegalizeOps",
    "LiftTransformParams",
    "LowerAllocTensor",
    "LowerGPUIPCAllocStorage",
    "LowerRuntimeBuiltin",
    "LowerToOneWorker",
    "MatchResult",
    "MergeCompositeFunctions",
    "MetaScheduleApplyDatabase",
    "MetaScheduleTuneIRMod",
    "MetaScheduleTuneTIR",
    "ModulePass",
    "Normalize",
    "NormalizeGlobalVar",
    "OptimizeLayoutTransform",
    "OutlineNative",
    "Pass",
    "PassContext",
    "PassInfo",
    "PatternCheckContext",
    "PrintIR",
    "RealizeVDevice",
    "RemovePurityChecking",
    "RemoveRedundantChecks",
    "RemoveRedundantReshape",
    "RemoveUnusedChecks",
    "RemoveUnusedOutputs",
    "RemoveUnusedParameters",
    "ReorderPermuteDimsAfterConcat",
    "ReorderTakeAfterMatmul",
    "RewriteCUDAGraph",
    "RewriteDataflowReshape",
    "RunCodegen",
    "Sequential",
    "SpecializePrimFuncBasedOnCallSite",
    "SplitCallTIRByPattern",
    "SplitLayoutRewritePreproc",
    "StaticPlanBlockMemory",
    "ToMixedPrecision",
    "ToNonDataflow",
    "TopologicalSort",
    "UpdateParamStructInfo",
    "UpdateVDevice",
    "VMBuiltinLower",
    "VMShapeLower",
    "VerifyEach",
    "dataflowblock_pass",
    "default_build_pipeline",
    "default_pipeline",
    "function_pass",
    "get_default_pipeline",
    "get_pipeline",
    "module_pass",
    "register_pipeline",
    "zero_pipeline",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

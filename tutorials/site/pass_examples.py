"""A program for each pass, on which its page shows what it does: the pass is run when it is made.

    "FoldConstant": Example(programs.CONSTANTS)

Passes that are made with arguments have the expression that makes them. What a pass asks for is
brought about by others before it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import relaxscript as rx
from relaxscript import tir, transform
from relaxscript.dpl import is_op, wildcard
from relaxscript.errors import RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source, ir as I, relax as R, tir as T

from . import pass_programs as programs

__all__ = ["EXAMPLES", "WITHOUT", "Example", "difference"]


class Example(NamedTuple):
    """A program, the passes before, and the expression that makes the pass, if it takes any."""

    program: str
    before: tuple[str, ...] = ()
    made_by: str | None = None

    def module(self) -> IRModule:
        """The program, as the pass gets it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelaxWarning)  # some are about checks
            mod = from_source(self.program, mode="python")
        assert isinstance(mod, IRModule)
        for name in self.before:
            mod = _made(name)(mod)
        return mod

    def make(self, name: str) -> Any:
        return _made(self.made_by or f"{name}()")


def _made(expression: str) -> Any:
    """The pass that an expression of this file makes."""
    names = {
        **{name: getattr(transform, name) for name in transform.__all__},
        "tir": tir.transform, "np": np, "rx": rx, "I": I, "R": R, "T": T, "is_op": is_op,
        "wildcard": wildcard, "LAYER_PATTERN": LAYER_PATTERN,
    }  # fmt: skip
    return eval(expression, names)  # what is in this file


def difference(name: str, example: Example) -> str:
    """The script before, compared with that after the pass."""
    mod = example.module()
    return str(rx.diff(mod, example.make(name)(mod)))


# The product and the relu of `programs.LAYER`.
LAYER_PATTERN = is_op("relax.nn.relu")(is_op("relax.matmul")(wildcard(), wildcard()))

EXAMPLES: Mapping[str, Example] = {
    "AdjustMatmulOrder": Example(programs.PRODUCTS),
    "AnnotateTIROpPattern": Example(programs.LAYER, ("LegalizeOps()",)),
    "ApplyDefaultSchedule": Example(programs.TRANSFORM_PARAMS, ("LegalizeOps()",)),
    "AttachAttrLayoutFreeBuffers": Example(programs.CONSTANTS, ("LegalizeOps()",)),
    "AttachAttrNoAlias": Example(programs.CALLED),
    "AttachGlobalSymbol": Example(programs.PRIVATE),
    "BindParams": Example(
        programs.LAYER, (), 'BindParams("main", {"w": np.ones((4, 8), "float32")})'
    ),
    "BindSymbolicVars": Example(programs.LAYER, (), 'BindSymbolicVars({"n": 2})'),
    "BundleModelParams": Example(programs.WEIGHTS),
    "CallTIRRewrite": Example(programs.CONSTANTS, ("LegalizeOps()", "ToNonDataflow()")),
    "CanonicalizeBindings": Example(programs.TRIVIAL),
    "CombineParallelMatmul": Example(programs.PARALLEL),
    "ComputePrimValue": Example(programs.SCALAR),
    "ConvertLayout": Example(
        programs.IMAGES, (), 'ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})'
    ),
    "ConvertToDataflow": Example(programs.PLAIN),
    "DataflowUseInplaceCalls": Example(programs.LAYER),
    "DeadCodeElimination": Example(programs.REPEATED),
    "DecomposeOpsForInference": Example(programs.NORMALIZATION),
    "DecomposeOpsForTraining": Example(programs.NORMALIZATION),
    "EliminateCommonSubexpr": Example(programs.REPEATED),
    "ExpandMatmulOfSum": Example(programs.SUM_OF_WEIGHTS),
    "ExpandTupleArguments": Example(programs.TUPLE_ARGUMENT),
    "FastMathTransform": Example(programs.FAST),
    "FoldBatchnormToConv2D": Example(programs.NORMALIZATION),
    "FoldConstant": Example(programs.CONSTANTS),
    "FuseOps": Example(programs.LAYER, ("LegalizeOps()", "AnnotateTIROpPattern()")),
    "FuseOpsByPattern": Example(
        programs.LAYER, (), 'FuseOpsByPattern([("mine.layer", LAYER_PATTERN)])'
    ),
    "FuseTIR": Example(programs.LAYER, ("LegalizeOps()", "AnnotateTIROpPattern()", "FuseOps()")),
    "FuseTransposeMatmul": Example(programs.WEIGHTS),
    "Gradient": Example(programs.LOSS, (), 'Gradient("main")'),
    "InlinePrivateFunctions": Example(programs.PRIVATE),
    "KillAfterLastUse": Example(
        programs.LAYER, ("LegalizeOps()", "ToNonDataflow()", "CallTIRRewrite()")
    ),
    "LambdaLift": Example(programs.LOCAL),
    "LazyGetInput": Example(programs.WEIGHTS),
    "LazySetOutput": Example(programs.TRANSFORM_PARAMS),
    "LazyTransformParams": Example(programs.TRANSFORM_PARAMS),
    "LegalizeOps": Example(programs.LAYER),
    "LiftTransformParams": Example(programs.WEIGHTS),
    "LowerAllocTensor": Example(
        programs.LAYER, ("LegalizeOps()", "ToNonDataflow()", "CallTIRRewrite()")
    ),
    "LowerRuntimeBuiltin": Example(
        programs.CONSTANTS,
        ("LegalizeOps()", "ToNonDataflow()", "CallTIRRewrite()", "LowerAllocTensor()"),
    ),
    "MergeCompositeFunctions": Example(
        programs.LAYER, ('FuseOpsByPattern([("mine.layer", LAYER_PATTERN)])',)
    ),
    "RemovePurityChecking": Example(programs.IMPURE),
    "RemoveRedundantReshape": Example(programs.RESHAPES),
    "RemoveUnusedChecks": Example(programs.CHECKS),
    "RemoveUnusedOutputs": Example(programs.PRIVATE),
    "RemoveUnusedParameters": Example(programs.PRIVATE),
    "ReorderPermuteDimsAfterConcat": Example(programs.TRANSPOSED),
    "ReorderTakeAfterMatmul": Example(programs.TAKEN),
    "RewriteDataflowReshape": Example(programs.RESHAPES, ("LegalizeOps()",)),
    "StaticPlanBlockMemory": Example(
        programs.FAST, ("LegalizeOps()", "ToNonDataflow()", "CallTIRRewrite()")
    ),
    "ToMixedPrecision": Example(programs.IMAGES),
    "ToNonDataflow": Example(programs.RESHAPES),
    "TopologicalSort": Example(programs.REPEATED),
    "UpdateParamStructInfo": Example(
        programs.WEIGHTS,
        (),
        'UpdateParamStructInfo(lambda p: R.Tensor(p.struct_info.shape, "float16"))',
    ),
    "UpdateVDevice": Example(programs.DEVICES, (), 'UpdateVDevice(rx.VDevice("llvm", 2), 1)'),
    "RealizeVDevice": Example(programs.DEVICES),
    "VMBuiltinLower": Example(
        programs.CONSTANTS,
        ("LegalizeOps()", "ToNonDataflow()", "CallTIRRewrite()", "LowerAllocTensor()"),
    ),
    "VMShapeLower": Example(programs.LAYER),
    "tir.AnnotateEntryFunc": Example(programs.KERNEL),
    "tir.Apply": Example(
        programs.KERNEL, (), 'tir.Apply(lambda func: func.with_attr("tir.noalias", True))'
    ),
    "tir.BindTarget": Example(programs.KERNEL, (), 'tir.BindTarget(rx.target.Target("llvm"))'),
    "tir.ConvertBlocksToOpaque": Example(programs.REDUCTION, ("tir.LowerInitBlock()",)),
    "tir.Filter": Example(programs.KERNEL, (), "tir.Filter(lambda func: False)"),
    "tir.FlattenBuffer": Example(programs.LOOPS),
    "tir.LowerInitBlock": Example(programs.REDUCTION),
    "tir.LowerOpaqueBlock": Example(
        programs.REDUCTION, ("tir.LowerInitBlock()", "tir.ConvertBlocksToOpaque()")
    ),
    "tir.RemoveNoOp": Example(programs.LOOPS),
    "tir.Simplify": Example(programs.KERNEL),
    "tir.UnrollLoop": Example(programs.LOOPS),
}

# Passes that have none: they want a code generator, a GPU or a tuner, or what no short script has.
WITHOUT = frozenset({
    "AllocateWorkspace", "AlterOpImpl", "AttachExternModules", "FewShotTuning",
    "IPCAllReduceRewrite", "LowerGPUIPCAllocStorage", "LowerToOneWorker",
    "MetaScheduleApplyDatabase", "MetaScheduleTuneIRMod", "MetaScheduleTuneTIR", "Normalize",
    "NormalizeGlobalVar", "OptimizeLayoutTransform", "OutlineNative", "RemoveRedundantChecks",
    "RewriteCUDAGraph", "RunCodegen", "SpecializePrimFuncBasedOnCallSite", "SplitCallTIRByPattern",
    "SplitLayoutRewritePreproc", "tir.CompactBufferAllocation",
    "tir.CompactScheduledBuffers", "tir.ConvertSSA",
    "tir.PlanAndUpdateBufferAllocationLocation", "tir.VectorizeLoop",
})  # fmt: skip

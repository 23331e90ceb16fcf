"""Pipelines: rows of passes that have a name.

    lowered = get_pipeline("default_build")(mod)

    @register_pipeline("mine")
    def mine():
        return Sequential([...])

Source: TVM `relax.pipeline`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir.module import IRModule
from relaxscript.ir.vdevice import Target, as_target
from relaxscript.runtime.forks import lock_across_forks

from .default_schedule.apply_default_schedule import ApplyDefaultSchedule
from .fuse.annotate_tir_op_pattern import AnnotateTIROpPattern
from .fuse.fuse_ops import FuseOps
from .fuse.fuse_tir import FuseTIR
from .fuse.outline_native import OutlineNative
from .fuse.rewrite_dataflow_reshape import RewriteDataflowReshape
from .layout.attach_attr_layout_free_buffers import AttachAttrLayoutFreeBuffers
from .layout.split_layout_rewrite_preproc import SplitLayoutRewritePreproc
from .legalize.decompose_ops import DecomposeOpsForInference
from .legalize.legalize_ops import LegalizeOps
from .lower.call_tir_rewrite import CallTIRRewrite
from .lower.compute_prim_value import ComputePrimValue
from .lower.lambda_lift import LambdaLift
from .lower.lower_alloc_tensor import LowerAllocTensor
from .lower.lower_runtime_builtin import LowerRuntimeBuiltin
from .lower.lower_to_one_worker import LowerToOneWorker
from .lower.vm_shape_lower import VMShapeLower
from .memory.attach_attr_no_alias import AttachAttrNoAlias
from .memory.kill_after_last_use import KillAfterLastUse
from .memory.static_plan_block_memory import StaticPlanBlockMemory
from .normalize.normalize import Normalize
from .normalize.remove_purity_checking import RemovePurityChecking
from .normalize.to_non_dataflow import ToNonDataflow
from .other_machines.rewrite_cuda_graph import RewriteCUDAGraph
from .pass_infra.passes import Pass, Sequential
from .prim_func.compact_scheduled_buffers import CompactScheduledBuffers
from .simplify.canonicalize_bindings import CanonicalizeBindings
from .simplify.dead_code_elimination import DeadCodeElimination
from .simplify.eliminate_common_subexpr import EliminateCommonSubexpr
from .simplify.fold_constant import FoldConstant
from .vdevice.realize_vdevice import RealizeVDevice

__all__ = [
    "PIPELINE_MAP", "dataflow_lower_passes", "default_build_pipeline", "default_pipeline",
    "finalize_passes", "get_default_pipeline", "get_pipeline", "legalize_passes",
    "library_dispatch_passes", "register_pipeline", "zero_pipeline",
]  # fmt: skip

Pipeline = Pass | Callable[[IRModule], IRModule]


def zero_pipeline(*, enable_warning: bool = False) -> Sequential:
    """The passes before a module is lowered: operators as loops, and those that go together as one.

    What depends on constants only is computed. PrimFuncs that nothing calls any more stay, as in
    TVM's pipeline: `DeadCodeElimination` behind it removes them. With `enable_warning`,
    `LegalizeOps` warns of calls that it leaves.
    """
    return Sequential(
        [
            Normalize(), LegalizeOps(enable_warning=enable_warning), AnnotateTIROpPattern(),
            FoldConstant(), FuseOps(), FuseTIR(),
        ],
        name="zero",
    )  # fmt: skip


def default_pipeline() -> Sequential:
    """The passes that `build` runs unless it is told others: they lower a module for the machine.

    Private functions stay private: `AttachGlobalSymbol`, which makes them public, is not among the
    passes, since the code generator does not need it. Memory is not planned. Tensors are allocated
    one by one, and freed as soon as no register holds them.
    """
    return Sequential([*_write_out_calls(), *_write_out_checks()], name="default")


def default_build_pipeline() -> Sequential:
    """The same with memory planned and its life written out, as TVM's pipeline has it.

    Tensors lie in storages, which several share that do not live at the same time. Values are
    killed after their last use, and PrimFuncs compute scalars.
    """
    return Sequential(
        [
            *_write_out_calls(), StaticPlanBlockMemory(), RewriteCUDAGraph(), LowerAllocTensor(),
            KillAfterLastUse(), ComputePrimValue(), *_write_out_checks(),
        ],
        name="default_build",
    )  # fmt: skip


def llvm_pipeline() -> Sequential:
    """The passes that `build` runs for native code: operators become loops, arranged for vectors.

    What is constant is computed, what is equal is computed once. Operators that go together become
    one PrimFunc, whose loops are arranged for this processor. Weights lie as these read them. What
    follows is `default`.
    """
    steps = [*_write_loops(), *_arrange_loops(), *_write_out_calls(), *_write_out_checks()]
    return Sequential(steps, name="llvm")


def zero_build_pipeline() -> Sequential:
    """The passes that `build` runs where it is told "zero": those of `zero`, then `default`."""
    return Sequential([LowerToOneWorker(), zero_pipeline(), default_pipeline()], name="zero_build")


def library_dispatch_passes(target: Target | str) -> list[Pass]:
    """The passes that choose libraries for a target: none, since no default uses one."""
    as_target(target)  # refuses what is none
    return []


def legalize_passes(target: Target | str) -> list[Pass]:
    """The passes of the default pipeline for a target that make loops of operators.

    There are none where operators are run one by one: without llvmlite, with `-opt-level=0`, and
    for targets of other kinds. With `dataflow_lower_passes` and `finalize_passes` behind them they
    are the whole of that pipeline. Passes of one's own may stand between.
    """
    return _write_loops() if optimises(as_target(target)) else []


def dataflow_lower_passes(target: Target | str) -> list[Pass]:
    """The passes behind these, which arrange the loops and write out calls of them."""
    arranged = _arrange_loops() if optimises(as_target(target)) else []
    return [*arranged, *_write_out_calls()]


def finalize_passes(target: Target | str) -> list[Pass]:
    """The passes behind these, after which a module is lowered for the machine."""
    as_target(target)
    return _write_out_checks()


def _write_loops() -> list[Pass]:
    return [
        Normalize(), LowerToOneWorker(), RealizeVDevice(), FoldConstant(),
        DecomposeOpsForInference(keep_training=True), EliminateCommonSubexpr(),
        CanonicalizeBindings(keep_failures=True),
        LegalizeOps(keep_failures=True, keep_faster=True), AnnotateTIROpPattern(), FuseOps(),
        FuseTIR(),
    ]  # fmt: skip


def _arrange_loops() -> list[Pass]:
    return [
        RewriteDataflowReshape(), DeadCodeElimination(keep_failures=True),
        AttachAttrNoAlias(whole_program=True), AttachAttrLayoutFreeBuffers(),
        ApplyDefaultSchedule(), CompactScheduledBuffers(), SplitLayoutRewritePreproc(),
        FoldConstant(),
        DeadCodeElimination(keep_failures=True), OutlineNative(),
    ]  # fmt: skip


def _write_out_calls() -> list[Pass]:
    return [
        Normalize(), LowerToOneWorker(), RealizeVDevice(), ToNonDataflow(), LambdaLift(direct=True),
        RemovePurityChecking(), CallTIRRewrite(),
    ]  # fmt: skip


def _write_out_checks() -> list[Pass]:
    return [VMShapeLower(), LowerRuntimeBuiltin()]


PIPELINE_MAP: dict[str, Callable[..., Pipeline]] = {
    "zero": zero_pipeline,
    "default": default_pipeline,
    "default_build": default_build_pipeline,
    "llvm": llvm_pipeline,
}
OUR_PIPELINES = tuple(PIPELINE_MAP)


def build_pipelines(target: Target) -> dict[str, Callable[..., Pipeline]]:
    """The pipelines that `build` knows by name: each lowers what it is given for a target."""
    default = partial(get_default_pipeline, target)
    return {**PIPELINE_MAP, "zero": zero_build_pipeline, "default": default}


_registering = lock_across_forks()


def get_pipeline(name: str = "zero", **kwargs: Any) -> Pipeline:
    """The pipeline of a name; `kwargs` are for the function that makes it.

    Raises `DiagnosticError` (RX0703) for an unknown name.
    """
    make = PIPELINE_MAP.get(name)
    if make is None:
        near = nearest(name, list(PIPELINE_MAP))
        help = did_you_mean(near, f"there are {', '.join(PIPELINE_MAP)}", '"')
        message = f'there is no pipeline "{name}"'
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
    return make(**kwargs)


def register_pipeline(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: `get_pipeline(name)` gives what the function makes from then on.

    Raises `DiagnosticError` (RX0703) for a name that is taken.
    """

    def register(make: Callable[..., Any]) -> Callable[..., Any]:
        with _registering:
            if name in PIPELINE_MAP:
                message = f'the pipeline "{name}" is there already'
                raise DiagnosticError(Diagnostic("RX0703", message, None))
            PIPELINE_MAP[name] = make
        return make

    return register


def optimises(target: Target) -> bool:
    """True if the default pipeline for a target is the one that makes native code of operators."""
    return PIPELINE_MAP.get(_kind(target)) is llvm_pipeline and not _as_written(target)


def _kind(target: Target) -> str:
    return "llvm" if target.kind == "cpu" else str(target.kind)


def _as_written(target: Target) -> bool:
    """True for a target that asks for operators to be run one by one, or where nothing else can."""
    return target.attrs.get("opt-level") in (0, "0") or find_spec("llvmlite") is None


def get_default_pipeline(target: Target | str) -> Pipeline:
    """The pipeline for a target: the one that is registered by its kind, else `default`.

    With `-opt-level=0` it is `default`, too. Whether code is made for the target is for `build` to
    say.
    """
    found = as_target(target)
    if _kind(found) == "llvm" and _as_written(found):
        return default_pipeline()
    return PIPELINE_MAP.get(_kind(found), default_pipeline)()

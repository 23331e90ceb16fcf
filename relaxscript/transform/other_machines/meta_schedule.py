"""Passes that tune PrimFuncs by measuring: nothing is tuned here, and they say so.

Searching for schedules needs a builder, a runner and a cost model beside the compiler. Loops are
arranged by rules instead (`ApplyDefaultSchedule`), and by steps that users write (`tir.Schedule`).
A program that calls these passes goes on with the loops that it has, and is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.errors import Diagnostic, warn
from relaxscript.ir.module import IRModule
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = [
    "FewShotTuning", "MetaScheduleApplyDatabase", "MetaScheduleTuneIRMod", "MetaScheduleTuneTIR",
]  # fmt: skip


class FewShotTuning(ModulePass):
    """Leave every PrimFunc as it is, and warn that none is tuned.

    TVM tries random schedules of each PrimFunc of static shape until `valid_count` of them compile.
    With `benchmark` it takes the fastest of these, else the last.

    Source: TVM `relax.transform.FewShotTuning`.
    """

    def __init__(self, valid_count: int = 1, benchmark: bool = False) -> None:
        self.valid_count = valid_count
        self.benchmark = benchmark

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return _untuned(self, mod)


class MetaScheduleApplyDatabase(ModulePass):
    """Leave every PrimFunc as it is, and warn that no schedules are read.

    TVM takes the schedules of PrimFuncs from the database in `work_dir`, or from the current one.
    With `enable_warning` it names those that have none there. Such a database is what tuning
    leaves, and nothing is tuned here. Source: TVM `relax.transform.MetaScheduleApplyDatabase`.
    """

    def __init__(self, work_dir: str | None = None, enable_warning: bool = False) -> None:
        self.work_dir = work_dir
        self.enable_warning = enable_warning

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return _untuned(self, mod)


class MetaScheduleTuneIRMod(ModulePass):
    """Leave the module as it is, write nothing into `work_dir`, and warn that nothing is tuned.

    TVM measures `max_trials_global` schedules of all PrimFuncs, `max_trials_per_task` of each. With
    `op_names` it tunes those only whose names have one of these in them. `params` are the weights
    that it measures with. Source: TVM `relax.transform.MetaScheduleTuneIRMod`.
    """

    traceable = True

    def __init__(
        self,
        params: Mapping[str, Any],
        work_dir: str,
        max_trials_global: int,
        max_trials_per_task: int | None = None,
        op_names: Sequence[str] | None = None,
    ) -> None:
        self.params = params
        self.work_dir = work_dir
        self.max_trials_global = max_trials_global
        self.max_trials_per_task = max_trials_per_task
        self.op_names = op_names

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return _untuned(self, mod)


class MetaScheduleTuneTIR(ModulePass):
    """Leave every PrimFunc as it is, write nothing into `work_dir`, and warn that none is tuned.

    TVM measures up to `max_trials_global` schedules of the PrimFuncs of a module. Source: TVM
    `relax.transform.MetaScheduleTuneTIR`.
    """

    def __init__(self, work_dir: str, max_trials_global: int) -> None:
        self.work_dir = work_dir
        self.max_trials_global = max_trials_global

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return _untuned(self, mod)


def _untuned(step: ModulePass, mod: IRModule) -> IRModule:
    """The module as it is, with one warning."""
    message = f"`{step.info.name}` changes nothing: no schedules are searched for or read"
    help = "`ApplyDefaultSchedule()` arranges all loops; `tir.Schedule` changes them step by step"
    warn(Diagnostic("RX0703", message, None, help=help, severity="warning"))
    return mod

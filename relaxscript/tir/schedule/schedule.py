"""Names that users know as `tvm.tir.schedule.schedule`: the schedule and its random variables."""

from __future__ import annotations

from relaxscript.transform.schedule import BlockRV, ExprRV, LoopRV, Schedule, ScheduleError

__all__ = ["BlockRV", "ExprRV", "LoopRV", "Schedule", "ScheduleError"]

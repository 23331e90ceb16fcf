"""Names that users know as `tvm.s_tir`: schedules of PrimFuncs."""

from __future__ import annotations

from relaxscript.transform import schedule
from relaxscript.transform.schedule import *  # noqa: F403

__all__ = ["schedule", *schedule.__all__]

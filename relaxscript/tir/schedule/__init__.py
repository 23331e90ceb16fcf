"""Names that users know as `tvm.tir.schedule`: schedules, their steps and their errors."""

from __future__ import annotations

from relaxscript.transform import schedule
from relaxscript.transform.schedule import *  # noqa: F403

from . import testing, trace

__all__ = ["testing", "trace", *schedule.__all__]

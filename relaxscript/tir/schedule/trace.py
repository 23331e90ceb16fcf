"""Names that users know as `tvm.tir.schedule.trace`: the steps of a schedule as data."""

from __future__ import annotations

from relaxscript.transform.schedule import Trace

__all__ = ["Trace"]

"""Names that users know as `tvm.tir.schedule.testing`: what tests of schedules compare."""

from __future__ import annotations

from relaxscript.testing.schedules import (
    assert_structural_equal_ignore_global_symbol,
    verify_trace_roundtrip,
)

__all__ = ["assert_structural_equal_ignore_global_symbol", "verify_trace_roundtrip"]

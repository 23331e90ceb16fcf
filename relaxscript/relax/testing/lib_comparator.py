"""Names that users know as `relax.testing.lib_comparator`: kernels beside others."""

from __future__ import annotations

from relaxscript.testing.lib_comparator import (
    LibCompareVMInstrument,
)

__all__ = ["LibCompareVMInstrument"]

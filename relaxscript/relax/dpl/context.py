"""Names that users know as `tvm.relax.dpl.context`: patterns that share constraints."""

from __future__ import annotations

from relaxscript.dpl import PatternContext

__all__ = ["PatternContext"]

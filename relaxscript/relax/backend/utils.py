"""Names that users know as `relax.backend.utils`: questions for the `check` of a pattern."""

from __future__ import annotations

from relaxscript.transform.fuse.fusion_pattern import has_leaking_intermediate_variables

__all__ = ["has_leaking_intermediate_variables"]

"""Names that users know as `relax.backend.pattern_registry`: patterns by their names."""

from __future__ import annotations

from relaxscript.transform.byoc.pattern_registry import (
    get_pattern,
    get_patterns_with_prefix,
    register_patterns,
)

__all__ = ["get_pattern", "get_patterns_with_prefix", "register_patterns"]

"""The patterns that have names for all: backends register theirs, and partition by them.

Source: TVM `relax.backend.pattern_registry`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from relaxscript.runtime.forks import lock_across_forks
from relaxscript.transform.fuse.fusion_pattern import FusionPattern, as_fusion_pattern

__all__ = ["get_pattern", "get_patterns_with_prefix", "register_patterns"]

_patterns: dict[str, FusionPattern] = {}
_registering = lock_across_forks()


def register_patterns(patterns: Iterable[FusionPattern | tuple[Any, ...]]) -> None:
    """Register fusion patterns by their names; what comes later is tried first.

    A name that is there already means the new pattern from then on. Raises `DiagnosticError`
    (RX0709) for what is no fusion pattern; then none is registered.
    """
    made = [as_fusion_pattern(pattern) for pattern in patterns]
    with _registering:
        for pattern in made:
            _patterns.pop(pattern.name, None)
            _patterns[pattern.name] = pattern


def get_patterns_with_prefix(prefix: str) -> list[FusionPattern]:
    """The patterns whose names begin with a prefix, in the order in which they are tried."""
    with _registering:
        known = list(_patterns.values())
    return [pattern for pattern in reversed(known) if pattern.name.startswith(prefix)]


def get_pattern(name: str) -> FusionPattern | None:
    """The pattern of a name, or None."""
    return _patterns.get(name)

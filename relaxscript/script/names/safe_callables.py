"""Callables that only build IR or annotations: the ones that data mode may call."""

from __future__ import annotations

from typing import Any

__all__ = ["is_safe", "safe_callables"]

_SAFE: set[int] = set()
_KEPT_ALIVE: list[Any] = []


def safe_callables(*functions: Any) -> None:
    """Allow data mode to call these: they build IR and do nothing else."""
    for function in functions:
        _SAFE.add(id(function))
        _KEPT_ALIVE.append(function)


def is_safe(function: Any) -> bool:
    """True if a callable only builds IR or annotations."""
    return id(function) in _SAFE

"""Facts of PrimFuncs that were found once, by their names."""

from __future__ import annotations

from typing import Any

from .tir import PrimFunc

__all__ = ["facts_of"]

_facts = PrimFunc.__dict__["known_facts"]


def facts_of(func: PrimFunc) -> dict[str, Any]:
    """The facts that were found of a PrimFunc; whoever finds one enters it.

    A function is frozen, and who asks for its write set, say, does so many times in a build.
    """
    facts: dict[str, Any] | None = _facts.__get__(func)
    if facts is None:
        facts = {}
        _facts.__set__(func, facts)
    return facts

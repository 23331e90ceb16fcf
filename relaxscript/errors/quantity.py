"""Counts of things as messages say them: `1 index`, `2 indices`."""

from __future__ import annotations

__all__ = ["quantity"]


def quantity(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun; `plural` is needed where it is neither `axes` of `axis` nor an `s`."""
    if number == 1:
        return f"1 {noun}"
    regular = f"{noun[:-2]}es" if noun.endswith("is") else f"{noun}s"
    return f"{number} {plural or regular}"

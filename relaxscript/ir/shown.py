"""How a node shows itself where Python asks: as its script, or by its fields where it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import hooks

if TYPE_CHECKING:
    from .node import Node

__all__ = ["plain", "show"]


def show(node: Node) -> str | None:
    """The script of a node, or None where it has none; never fails, since debuggers call it."""
    if not hooks.script_of.is_filled:
        return None
    try:
        text: str = hooks.script_of(node)
    except Exception:
        return None
    return text


def plain(node: Node) -> str:
    """`Class(field=value, ...)`, one level deep."""
    parts = [f"{f.name}={_part(getattr(node, f.name, None))}" for f in node._fields if not f.place]
    return f"{type(node).__name__}({', '.join(parts)})"


def _part(value: Any) -> str:
    if isinstance(value, tuple):
        return (
            f"({', '.join(_part(item) for item in value[:4])}{', ...' if len(value) > 4 else ''})"
        )
    if hasattr(type(value), "_fields"):
        hint = getattr(value, "name_hint", None) or getattr(value, "name", None)
        return f"<{type(value).__name__}{f' {hint}' if isinstance(hint, str) else ''}>"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

"""Constraints between patterns: who uses whom, and what has the same shape.

They belong to a context, `PatternContext`; the innermost one of a thread takes what is said.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span

if TYPE_CHECKING:
    from .context import PatternContext
    from .pattern import DFPattern

__all__ = [
    "Constraints", "Link", "active_stack", "current_constraints", "pattern_error",
    "require_constraints",
]  # fmt: skip


def pattern_error(message: str, help: str | None = None, code: str = "RX0709") -> DiagnosticError:
    """The error for a pattern that means nothing, blamed on the user's line of Python."""
    return DiagnosticError(Diagnostic(code, message, caller_span(), help=help))


@dataclass(frozen=True)
class Link:
    """A producer that is used by a consumer, as its argument `index`, or as any if that is -1.

    `only` says that nobody else uses it. `by_call` says that the consumer is a call pattern, and
    the producer the pattern of one of its arguments: matching the call sees to it.
    """

    producer: DFPattern
    consumer: DFPattern
    index: int = -1
    only: bool = False
    by_call: bool = False


class Constraints:
    """Demands on the patterns of a context, in the order in which they were made."""

    owner: PatternContext

    def __init__(self, inherited: Constraints | None = None) -> None:
        self.links: dict[Link, None] = {} if inherited is None else dict(inherited.links)
        self.parts: dict[DFPattern, None] = {} if inherited is None else dict(inherited.parts)
        self.same_shapes: list[tuple[DFPattern, ...]] = (
            [] if inherited is None else list(inherited.same_shapes)
        )

    def add_part(self, part: DFPattern) -> None:
        """Have a pattern matched by a variable of the block."""
        self.parts.setdefault(part)

    def add_link(self, link: Link) -> None:
        """Have one pattern used by another."""
        self.links.setdefault(link)
        self.parts.setdefault(link.producer)
        self.parts.setdefault(link.consumer)

    def add_same_shape(self, patterns: tuple[DFPattern, ...]) -> None:
        """Have what several patterns match be of one shape."""
        self.same_shapes.append(patterns)
        for part in patterns:
            self.parts.setdefault(part)


class _Active(threading.local):
    def __init__(self) -> None:
        self.stack: list[Constraints] = []


_active = _Active()


def active_stack() -> list[Constraints]:
    """The contexts that are open in this thread, the innermost last."""
    return _active.stack


def current_constraints() -> Constraints | None:
    """The innermost context that is open in this thread, or None."""
    return _active.stack[-1] if _active.stack else None


def require_constraints(word: str) -> Constraints:
    """The innermost context; raises `DiagnosticError` where none is open."""
    found = current_constraints()
    if found is None:
        raise pattern_error(
            f"`{word}` is outside of a pattern context, so nothing would hold it",
            "write `with PatternContext() as ctx:` around it, then `ctx.match_dfb(block)`",
        )
    return found

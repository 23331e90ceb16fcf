"""Words for a schedule that is refused: the call, and the blocks and loops that forbid it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, Label, Span
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.node import Node
from relaxscript.ir.tir import For

__all__ = ["Place", "ScheduleError", "refuse"]

# A statement, and what is true of it; one that has no place in a source is told in a note.
Place = tuple[Node, str]


class ScheduleError(DiagnosticError):
    """A step of a schedule would change what a PrimFunc computes, or has no meaning for it."""

    def shortened(self, with_message: bool) -> ScheduleError:
        """The error without places and help, or without saying what is wrong at all."""
        first = self.diagnostics[0]
        text = first.message if with_message else "a step of a schedule is refused"
        return ScheduleError(Diagnostic(first.code, text, first.span))


def _place_of(node: Node) -> Span | None:
    """The variable of a loop, and the first line of what has many."""
    span = (node.loop_var.span or node.span) if isinstance(node, For) else node.span
    if span is None or span.end_line == span.line:
        return span
    end = len(span.source.line(span.line).rstrip()) + 1
    return Span(span.source, span.line, span.column, span.line, end)


def refuse(message: str, places: Iterable[Place] = (), help: str | None = None) -> ScheduleError:
    """The error for a step at the line of Python that asks for it; nothing was changed."""
    labels: list[Label] = []
    notes: list[str] = []
    seen: set[tuple[Any, str]] = set()
    for node, text in places:
        span: Span | None = _place_of(node)
        if (span, text) in seen:
            continue
        seen.add((span, text))
        if span is None:
            notes.append(text)
        else:
            labels.append(Label(span, text))
    return ScheduleError(
        Diagnostic("RX0506", message, caller_span(), tuple(labels), tuple(notes), help)
    )

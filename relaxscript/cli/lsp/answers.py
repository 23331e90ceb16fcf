"""Handlers on a text that may be broken just now: of the newest text, else of the last good one."""

from __future__ import annotations

from lsprotocol.types import (
    DocumentSymbol,
    Hover,
    InlayHint,
    Location,
    MarkupContent,
    MarkupKind,
    Position,
    Range,
)

from relaxscript.script import relax

from .definitions import definition_of
from .hints import as_lsp_hint, hints_in
from .lookup import FoundSyntax, found_at
from .open_documents import OpenDocument
from .shift import Shift
from .symbols import outline
from .words import hover_text

__all__ = ["definition_at", "hints_of", "hover_of", "symbols_of"]


def hover_of(session: OpenDocument, position: Position) -> Hover | None:
    """The words on what stands at a position."""
    document = session.document
    line, column = document.place(position)
    newest = None if session.latest is None else found_at(session.latest, (line, column))
    text = None if newest is None else hover_text(newest)
    if newest is not None and text is not None:
        return _hover(text, document.range(newest.span))
    old = _old_line(session, line)
    if old is None or session.good is None:
        return None
    before: FoundSyntax | None = found_at(session.good, (old, column))
    text = None if before is None else hover_text(before)
    return None if text is None else _hover(text, None)


def _hover(text: str, range: Range | None) -> Hover:
    return Hover(MarkupContent(MarkupKind.Markdown, text), range)


def _old_line(session: OpenDocument, line: int) -> int | None:
    """The line of the last good text that a line of a broken one was."""
    shift = _shift(session)
    return None if shift is None else shift.to_old(line)


def _shift(session: OpenDocument) -> Shift | None:
    """From the last good text to the newest, where that is broken."""
    newest, good = session.latest, session.good
    if newest is None or good is None or newest.read.error is None:
        return None
    return Shift(good.source.lines, newest.source.lines)


def definition_at(session: OpenDocument, position: Position) -> Location | None:
    """The place where the name at a position is defined."""
    document, known = session.document, session.latest
    span = None if known is None else definition_of(known, document.place(position))
    return None if span is None else document.locate(span)


def symbols_of(session: OpenDocument) -> list[DocumentSymbol]:
    """The outline of a document."""
    known = session.latest
    return [] if known is None else outline(session.document, known)


def hints_of(session: OpenDocument, asked: Range) -> list[InlayHint]:
    """The hints of a range."""
    document, newest = session.document, session.latest
    first, last = document.place(asked.start), document.place(asked.end)
    if newest is None:
        return []
    writable = newest.names.get("R") is relax
    shift = _shift(session)
    if shift is None or session.good is None:
        found = list(hints_in(newest, first[0], last[0]))
    else:
        old = hints_in(session.good, 1, len(session.good.source.lines))
        moved = ((shift.to_new(hint.line), hint) for hint in old)
        found = [hint._replace(line=line) for line, hint in moved if line is not None]
    return [
        as_lsp_hint(document, hint, writable=writable)
        for hint in found
        if first <= (hint.line, hint.column) <= last
    ]

"""Diagnostics as editors show them, and their fixes as edits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lsprotocol import types

from relaxscript.cli.autofix import look, mend
from relaxscript.errors import Diagnostic, Source

from .analysis import Analysis
from .documents import Document

__all__ = ["Fix", "as_lsp", "fixed_text", "fixes_in", "replacing_edit"]

NAME = "relaxscript"
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
}
# Titles repeat what is replaced where both sides are short.
SHORT = 40


class Fix(NamedTuple):
    """The correction that a diagnostic offers: in one line, and as edits."""

    title: str
    edits: list[types.TextEdit]
    diagnostic: types.Diagnostic


def as_lsp(
    document: Document, diagnostic: Diagnostic, severity: types.DiagnosticSeverity | None = None
) -> types.Diagnostic:
    """A diagnostic with its help and notes in its message, its labels as related places."""
    notes = [f"note: {note}" for note in diagnostic.notes]
    help = [f"help: {diagnostic.help}"] if diagnostic.help is not None else []
    here = None if diagnostic.span is None else diagnostic.span.start
    known = [x for x in diagnostic.labels if x.span.filename == document.filename]
    facts = [label.text for label in known if label.span.start == here]
    related = [
        types.DiagnosticRelatedInformation(document.locate(label.span), label.text)
        for label in known
        if label.span.start != here
    ]
    said = diagnostic.message + (f": {'; '.join(facts)}" if facts else "")
    at = types.Position(0, 0)
    place = types.Range(at, at) if diagnostic.span is None else document.range(diagnostic.span)
    return types.Diagnostic(
        range=place, message="\n".join([said, *notes, *help]),
        severity=severity or SEVERITIES[diagnostic.severity], code=diagnostic.code, source=NAME,
        related_information=related or None,
    )  # fmt: skip


def fixes_in(document: Document, analysis: Analysis, asked: types.Range) -> Iterable[Fix]:
    """The fixes of the diagnostics that a range touches."""
    first, last = document.place(asked.start), document.place(asked.end)
    for diagnostic in analysis.diagnostics:
        span = diagnostic.span
        if not diagnostic.fix or span is None or span.end < first or last < span.start:
            continue
        edits = [
            types.TextEdit(document.range(edit.span), with_line_ends(document, edit.new_text))
            for edit in diagnostic.fix
        ]
        yield Fix(title_of(diagnostic), edits, as_lsp(document, diagnostic))


def title_of(diagnostic: Diagnostic) -> str:
    """The fix of a diagnostic in one line."""
    if len(diagnostic.fix) == 1:
        old, new = diagnostic.fix[0].span.text, diagnostic.fix[0].new_text
        if all(part and "\n" not in part and len(part) <= SHORT for part in (old, new)):
            return f"Replace `{old}` by `{new}`"
    title = diagnostic.help or diagnostic.message
    return title[:1].upper() + title[1:]


def with_line_ends(document: Document, text: str) -> str:
    """A text whose lines end as those of a document do."""
    return text.replace("\n", "\r\n") if "\r\n" in document.text else text


def fixed_text(source: Source) -> str:
    """The text with all its fixes, as `relaxscript check --fix` applies them."""
    return mend(look([source], None), None).sources[0].text


def replacing_edit(document: Document, new: str) -> list[types.TextEdit]:
    """The smallest edit after which a document has another text."""
    old = document.source.text
    if old == new:
        return []
    start = common_length(old, new)
    rest = min(len(old), len(new)) - start
    behind = common_length(old[::-1][:rest], new[::-1][:rest])
    changed = new[start : len(new) - behind]
    return [types.TextEdit(document.range_between(start, len(old) - behind), changed)]


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of letters that two texts begin with alike."""
    pairs = enumerate(zip(first, second))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))

"""Mistakes that are known of the text before, at the places where they are in a new text.

What is kept lies outside of the definitions in which something was changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from relaxscript.errors import Diagnostic, Edit, Label, Source, Span

from .shift import Shift

__all__ = ["Kept"]


@dataclass(frozen=True)
class Kept:
    """All that two texts have in common: not what was changed, and no definition around it.

    `definitions` are the first and last lines of those of the old text. `broken` is the mistake of
    the new one; a definition that has it in it says nothing of its own.
    """

    old: Source
    new: Source
    definitions: tuple[tuple[int, int], ...]
    broken: Span | None = None

    def diagnostics(self, known: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Those of the old text that are mistakes of the new text as well."""
        shift = Shift(self.old.lines, self.new.lines)
        touched = [lines for lines in self.definitions if self.is_touched(lines, shift)]
        for each in known:
            line = 0 if each.span is None else each.span.line
            if not any(first <= line <= last for first, last in touched):
                moved = self.moved(each, shift)
                if moved is not None:
                    yield moved

    def is_touched(self, lines: tuple[int, int], shift: Shift) -> bool:
        """True if something was changed between two lines, or is no Python there."""
        now = shift.to_new_lines(*lines)
        return now is None or (self.broken is not None and now[0] <= self.broken.line <= now[1])

    def moved(self, diagnostic: Diagnostic, shift: Shift) -> Diagnostic | None:
        """A mistake with its places in the new text; None where one of them is no more."""
        spans = [*([diagnostic.span] if diagnostic.span is not None else []),
                 *(label.span for label in diagnostic.labels),
                 *(edit.span for edit in diagnostic.fix)]  # fmt: skip
        places: dict[Span, Span] = {}
        for span in spans:
            place = self.place(span, shift)
            if place is None:
                return None
            places[span] = place
        return replace(
            diagnostic,
            span=None if diagnostic.span is None else places[diagnostic.span],
            labels=tuple(Label(places[span], text) for span, text in diagnostic.labels),
            fix=tuple(Edit(places[span], text) for span, text in diagnostic.fix),
        )

    def place(self, span: Span, shift: Shift) -> Span | None:
        """The place in the new text; that in another file is the same."""
        if span.filename != self.old.filename:
            return span
        now = shift.to_new_lines(span.line, span.end_line)
        return None if now is None else Span(self.new, now[0], span.column, now[1], span.end_column)

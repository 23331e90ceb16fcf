"""Documents that an editor has open: their text as it is being typed, and places in it.

Editors count lines from 0 and columns in units of an encoding, UTF-16 unless both sides agree on
another one; we count both from 1, in characters. The conversion happens here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from lsprotocol.types import (
    Location,
    Position,
    Range,
    TextDocumentContentChangeEvent,
    TextDocumentContentChangePartial,
)

from relaxscript.errors import Source, Span

__all__ = ["Document", "Encoding", "Place", "character_of", "units_of"]

Encoding = Literal["utf-8", "utf-16", "utf-32"]
# A line and a column as spans have them.
Place = tuple[int, int]


def units_of(text: str, encoding: Encoding) -> int:
    """The length of a piece of a line in the units of an encoding."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(letter > "\uffff" for letter in text)


def character_of(line: str, units: int, encoding: Encoding) -> int:
    """The number of whole characters of a line that lie before a number of units."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    seen = 0
    for index, letter in enumerate(line):
        seen += units_of(letter, encoding)
        if seen > units:
            return index
    return len(line)


@dataclass
class Document:
    """One open document; `version` is the editor's number of the text, which grows."""

    uri: str
    filename: str
    text: str
    version: int
    encoding: Encoding = "utf-16"
    _source: Source | None = field(default=None, repr=False)

    @property
    def source(self) -> Source:
        """The text as a source, the same one until the text changes."""
        if self._source is None:
            self._source = Source(self.filename, self.text)
        return self._source

    @property
    def context(self) -> Source:
        """The text that is read, of which this may be a part: see `notebooks.py`."""
        return self.source

    def views(self) -> Sequence[Document]:
        """The documents that an editor knows of what is read as one."""
        return [self]

    def view(self, uri: str) -> Document:
        """The one of them that has a name."""
        return self

    def copy(self) -> Document:
        """A document that stays as this is now."""
        return replace(self, _source=self.source)

    # ---- changes

    def change(self, changes: Sequence[TextDocumentContentChangeEvent], version: int) -> None:
        """Apply changes in their order: of a range, or of the whole text."""
        for change in changes:
            new = change.text
            if isinstance(change, TextDocumentContentChangePartial):
                start = self.source.offset(*self.place(change.range.start)) + self._mark
                end = self.source.offset(*self.place(change.range.end)) + self._mark
                new = self.text[:start] + new + self.text[max(start, end) :]
            self.text, self._source = new, None
        self.version = version

    @property
    def _mark(self) -> int:
        """1 where the text begins with a byte order mark, which is no character of the source."""
        return len(self.text) - len(self.source.text)

    @property
    def _units_of_mark(self) -> int:
        return units_of("\ufeff" * self._mark, self.encoding)

    # ---- places

    def place(self, position: Position) -> Place:
        """The place of a position; one behind the end of its line or of the text is that end."""
        lines = self.source.lines
        if position.line >= len(lines):
            return len(lines), len(lines[-1]) + 1
        line = lines[position.line]
        units = position.character - (0 if position.line else self._units_of_mark)
        return position.line + 1, character_of(line, max(units, 0), self.encoding) + 1

    def position(self, place: Place) -> Position:
        """The position of a place."""
        line = self.source.line(place[0])
        units = units_of(line[: place[1] - 1], self.encoding)
        return Position(place[0] - 1, units + (0 if place[0] > 1 else self._units_of_mark))

    def range(self, span: Span) -> Range:
        """The range of a span of this text, or of one with the same lines."""
        return Range(self.position(span.start), self.position(span.end))

    def holds(self, span: Span) -> bool:
        """True if a piece of what is read is in this document."""
        return True

    def locate(self, span: Span) -> Location:
        """The range of a span, and the document that it is in."""
        return Location(self.uri, self.range(span))

    def range_between(self, start: int, end: int) -> Range:
        """The range from character `start` to character `end` of the source."""
        return self.range(self.source.between(start, end))

    @property
    def whole(self) -> Range:
        """The range of all of it."""
        return self.range(self.source.whole)

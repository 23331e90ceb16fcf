"""Places in sources: a `Source` is a text with a name, a `Span` a piece of it.

Lines and columns count from 1, columns in characters; the end of a span is exclusive. Lines are
those of Python's tokenizer: `\\n`, `\\r\\n` and `\\r` end a line, a form feed does not. Python's
`ast` counts columns in UTF-8 bytes and from 0; the conversion happens here and nowhere else. It is
done when a column is asked for, because a parser makes many more spans than anybody looks at.

Start reading at `Source.span`.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from .notebook import live_cell

LINE_END = re.compile(r"\r\n|\r|\n")
DEFINED_NAME = re.compile(r"(?:async\s+def|def|class)\s+(\w+)")
FIRST_WORD = re.compile(r"\w+")
LAST_WORD = re.compile(r"\w+\Z")

_new_span = object.__new__


class Source:
    """A text and the name it goes by: a file, a notebook cell, or IR that was printed.

    `cell` is the number of a cell in the notebook that the file is. Two sources are equal when
    name, cell and text are. A byte order mark at the beginning is dropped, as
    Python drops that of a file.
    """

    __slots__ = ("_cell", "_filename", "_is_ascii", "_lines", "_starts", "_text")

    def __init__(self, filename: str, text: str, cell: int | None = None) -> None:
        self._filename = filename
        self._cell = cell
        self._text = text.removeprefix("\ufeff")
        self._is_ascii = self._text.isascii()
        self._lines: tuple[str, ...] | None = None
        self._starts: list[int] | None = None

    @property
    def filename(self) -> str:
        """The path of the file, or a name in angle brackets for a text that is in no file."""
        return self._filename

    @property
    def cell(self) -> int | None:
        """The number of a notebook's cell, from 1; None for what is a whole file."""
        return self._cell

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines as Python counts them, without their ends; at least one."""
        if self._lines is None:
            text = self._text
            self._lines = tuple(LINE_END.split(text) if "\r" in text else text.split("\n"))
        return self._lines

    @property
    def whole(self) -> Span:
        """The span of the whole text."""
        return Span(self, 1, 1, len(self.lines), len(self.lines[-1]) + 1)

    def location(self, line: int, column: int | None = None) -> str:
        """The place in words: `model.py:5:25`, or `Cell In[8], line 5` in a notebook.

        Without a column that of a whole line, `model.py:5`.
        """
        if self._cell is not None:
            return f"{self._filename}: cell {self._cell}, line {line}"
        cell = live_cell(self._filename)
        if cell is not None:
            return f"{cell}, line {line}"
        return f"{self._filename}:{line}" + ("" if column is None else f":{column}")

    def line(self, number: int) -> str:
        """Line `number`, counted from 1; empty for a line that does not exist."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def span(self, node: ast.AST) -> Span:
        """The span of a node of the tree of this text.

        A node without a position in Python (`ast.arguments`, `ast.withitem`, ...) has the span of
        its parts. One without parts (`ast.Load`) has that of the whole text.
        """
        at = node.__dict__
        try:
            end = at["end_col_offset"]
            if end is not None:
                # As the constructor does, which is called several times for each line of a script.
                span = _new_span(Span)
                span._source = self
                span._line = at["lineno"]
                span._column = at["col_offset"]
                span._end_line = at["end_lineno"]
                span._end_column = end
                span._bytes = True
                return span
        except KeyError:
            pass
        return self._span_of_parts(node)

    def name_span(self, node: ast.AST) -> Span:
        """The span of the name that `node` introduces or looks up.

        That is `f` of `def f(...)`, `C` of `class C` and `x` of the parameter `x: T`. It is `axis`
        of the argument `axis=1`, and `add` of `R.add`. For any other node it is the node's own.
        """
        span = self.span(node)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found = DEFINED_NAME.match(span.text)
                at = found.span(1) if found else None
            case ast.arg() | ast.keyword(arg=str()):
                found = FIRST_WORD.match(span.text)
                at = found.span() if found else None
            case ast.Attribute():
                found = LAST_WORD.search(span.text)
                at = found.span() if found else None
            case _:
                at = None
        if at is None:
            return span
        start = self.offset(span.line, span.column)
        return self.between(start + at[0], start + at[1])

    def between(self, start: int, end: int) -> Span:
        """The span from character `start` to character `end` of the text, counted from 0."""
        return Span(self, *self._position(start), *self._position(end))

    def offset(self, line: int, column: int) -> int:
        """The number of characters before `column` of `line`, or before its end."""
        starts = self._line_starts()
        line = min(max(line, 1), len(starts))
        return starts[line - 1] + min(max(column, 1) - 1, len(self.line(line)))

    def character_column(self, line: int, byte: int) -> int:
        """The column, in characters from 1, of UTF-8 byte `byte`, counted from 0, of `line`."""
        text = self.line(line)
        if text.isascii():
            return byte + 1
        encoded = text.encode("utf-8", "replace")
        return len(encoded[:byte].decode("utf-8", "replace")) + max(byte - len(encoded), 0) + 1

    def _position(self, offset: int) -> tuple[int, int]:
        starts = self._line_starts()
        offset = min(max(offset, 0), len(self._text))
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *(end.end() for end in LINE_END.finditer(self._text))]
        return self._starts

    def _span_of_parts(self, node: ast.AST) -> Span:
        spans = [self.span(part) for part in ast.walk(node) if _has_position(part)]
        return spans[0].cover(*spans[1:]) if spans else self.whole

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Source):
            return NotImplemented
        same = self._filename == other._filename and self._cell == other._cell
        return same and self._text == other._text

    def __hash__(self) -> int:
        return hash((self._filename, self._cell, self._text))

    def __reduce__(self) -> tuple[type[Source], tuple[str, str, int | None]]:
        return Source, (self._filename, self._text, self._cell)

    def __repr__(self) -> str:
        return f"Source({self._filename!r}, {len(self.lines)} lines)"


def _has_position(node: ast.AST) -> bool:
    fields = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return all(getattr(node, name, None) is not None for name in fields)


class Span:
    """A piece of a source: from `line` and `column` to `end_line` and `end_column`, exclusive.

    Immutable and compared by value; ordered by file name and position; `contains` is a partial
    order.
    """

    # With `_bytes`, both columns are byte offsets as Python's syntax trees have them. A script has
    # several spans a line, and few are ever looked at: what they cost is memory.
    __slots__ = ("_bytes", "_column", "_end_column", "_end_line", "_line", "_source")

    def __init__(
        self, source: Source, line: int, column: int, end_line: int, end_column: int,
        in_bytes: bool = False,
    ) -> None:  # fmt: skip
        self._source = source
        self._line = line
        self._column = column
        self._end_line = end_line
        self._end_column = end_column
        self._bytes = in_bytes

    @property
    def source(self) -> Source:
        """The source of which this is a piece."""
        return self._source

    @property
    def filename(self) -> str:
        """The name of the source."""
        return self._source.filename

    @property
    def line(self) -> int:
        """The line of the first character, from 1."""
        return self._line

    @property
    def column(self) -> int:
        """The column of the first character, from 1."""
        column = self._column
        return self._source.character_column(self._line, column) if self._bytes else column

    @property
    def end_line(self) -> int:
        """The line of the end, from 1."""
        return self._end_line

    @property
    def end_column(self) -> int:
        """The column just after the last character, from 1."""
        column = self._end_column
        return self._source.character_column(self._end_line, column) if self._bytes else column

    @property
    def start(self) -> tuple[int, int]:
        """Line and column of the first character."""
        return self.line, self.column

    @property
    def end(self) -> tuple[int, int]:
        """Line and column of the end, exclusive."""
        return self.end_line, self.end_column

    @property
    def corners(self) -> tuple[int, int, int, int]:
        """Line, column, and those of the end."""
        if self._bytes and not self._source._is_ascii:
            return (*self.start, *self.end)
        first = 1 if self._bytes else 0
        return self._line, self._column + first, self._end_line, self._end_column + first

    @property
    def spans(self) -> tuple[Span, ...]:
        """The pieces of which this is made: itself, unless it is a `SequentialSpan`."""
        return (self,)

    @property
    def text(self) -> str:
        """The text of the span."""
        source = self._source
        return source.text[source.offset(*self.start) : source.offset(*self.end)]

    def contains(self, other: Span) -> bool:
        """True if `other` lies in this span of the same source; a span contains itself."""
        return self._source == other._source and self.start <= other.start and other.end <= self.end

    def cover(self, *others: Span) -> Span:
        """The smallest span that holds this and `others`; those of other sources are left out."""
        spans = [self, *(other for other in others if other._source == self._source)]
        start = min(span.start for span in spans)
        end = max(span.end for span in spans)
        return Span(self._source, *start, *end)

    def _key(self) -> tuple[str, int, int, int, int, int]:
        cell = self._source.cell or 0
        return self.filename, cell, self.line, self.column, self.end_line, self.end_column

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Span):
            return NotImplemented
        return self._key() == other._key() and self._source == other._source

    def __hash__(self) -> int:
        return hash(self._key())

    def __lt__(self, other: Span) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return (self._key(), self._source.text) < (other._key(), other._source.text)

    def __le__(self, other: Span) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return self == other or self < other

    def __gt__(self, other: Span) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return other < self

    def __ge__(self, other: Span) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return other <= self

    def __reduce__(self) -> tuple[Any, ...]:
        return Span, (self._source, *self.start, *self.end)

    def __str__(self) -> str:
        return self._source.location(self.line, self.column)

    def __repr__(self) -> str:
        return f"Span({self}-{self.end_line}:{self.end_column})"


class SequentialSpan(Span):
    """The place of what several pieces of source say together; it stands where the last one is.

    Source: TVM `ir.SequentialSpan`.
    """

    __slots__ = ("_spans",)

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = tuple(spans)
        last = self._spans[-1]
        super().__init__(
            last._source, last._line, last._column, last._end_line, last._end_column, last._bytes
        )

    @property
    def spans(self) -> tuple[Span, ...]:
        """The pieces, each once."""
        return tuple(dict.fromkeys([one for span in self._spans for one in span.spans]))

    def __reduce__(self) -> tuple[Any, ...]:
        return SequentialSpan, (self._spans,)

"""The picture of a diagnostic, the same in text, ANSI and HTML.

    error[RX0203]: `R.matmul` cannot multiply these operands
      --> digits.py:21:29
       |
    17 |     def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((63, 64), "float32")):
       |                                                              -- `w` has 63 rows here
    21 |             h = R.matmul(x, w)
       |                          -  ^ has 63 rows
       |                          has 64 columns
       = help: the last axis of `x` must equal the last-but-one axis of `w`

`^` marks the culprit, `-` the other places that matter. Lines come in the order of the source.
Places in another source come in a block of their own that begins with `:::`. A span of several
lines is marked line by line; of a long one the first and the last lines are shown, and `...` stands
for the rest. A fix is shown as the line it makes, with `+` beside it and `~` below what is new:

       = help: did you mean `softmax`?
       |
    23 +             gv = R.nn.softmax(a @ v)
       |                       ~~~~~~~

`draw.py` draws one line, `styles.py` knows colours. Start reading at `render`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from .diagnostic import Diagnostic, Edit
from .draw import DOTS, Mark, draw
from .span import Source, Span
from .styles import Line, Role, Style, automatic_style, markup_of, paint, visible

__all__ = ["Style", "automatic_style", "render", "render_body"]

SHOWN_AT_EACH_END = 2  # lines of a long span
SHOWN_IN_HTML = 8  # diagnostics before others are folded


def render(diagnostics: Diagnostic | Iterable[Diagnostic], style: Style = "text") -> str:
    """The picture of one or several diagnostics; `style` is "text", "ansi" or "html"."""
    found = [diagnostics] if isinstance(diagnostics, Diagnostic) else list(diagnostics)
    if style == "html" and len(found) > SHOWN_IN_HTML:
        return _folded_html(found)
    return paint(_all_lines(found), style)


def _all_lines(diagnostics: Iterable[Diagnostic]) -> list[Line]:
    lines: list[Line] = []
    for diagnostic in diagnostics:
        lines += [[]] if lines else []
        lines += [*_header(diagnostic), *_body(diagnostic)]
    return lines


def _folded_html(found: list[Diagnostic]) -> str:
    """The first pictures, and all others folded."""
    from .markup import box, fold, page, preformatted

    first, rest = found[:SHOWN_IN_HTML], found[SHOWN_IN_HTML:]
    shown = preformatted(f"{markup_of(_all_lines(first))}\n\n")
    folded = preformatted(markup_of(_all_lines(rest)))
    return page(box(shown, fold("more", folded, f"{len(rest):,}", False), folds=True))


def render_body(diagnostic: Diagnostic, style: Style = "text") -> str:
    """The picture without its first line, for those who say the message themselves."""
    return paint(_body(diagnostic), style)


@dataclass
class _Snippet:
    """The lines and marks to show of one source."""

    source: Source
    marks: dict[int, list[Mark]] = field(default_factory=dict)
    gaps: set[int] = field(default_factory=set)  # lines after which a span leaves some out

    def add(self, span: Span, text: str, symbol: str, role: Role) -> None:
        stretches = _stretches(span)
        if len(stretches) > 2 * SHOWN_AT_EACH_END + 1:
            head, tail = stretches[:SHOWN_AT_EACH_END], stretches[-SHOWN_AT_EACH_END:]
            self.gaps.add(head[-1][0])
            stretches = head + tail
        for line, start, end in stretches:
            said = text if line == stretches[-1][0] else ""
            self.marks.setdefault(line, []).append(Mark(start, end, said, symbol, role))


@dataclass(frozen=True)
class _ChangedLines:
    """A stretch of lines as a fix makes it; `marks` say what is new, by number of the line."""

    first: int
    lines: list[str]
    marks: dict[int, list[Mark]]


def _header(diagnostic: Diagnostic) -> list[Line]:
    first, *rest = visible(diagnostic.message).split("\n")
    title: Line = [
        (f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity),
        (f": {first}", "strong"),
    ]
    more: list[Line] = [[(f"  {line}", "plain")] for line in rest]
    return [title, *more]


def _body(diagnostic: Diagnostic) -> list[Line]:
    blocks = _snippets(diagnostic)
    changes = _changes(diagnostic.fix)
    numbers = [line for block in blocks for line in block.marks]
    numbers += [change.first + len(change.lines) - 1 for change in changes]
    margin = len(str(max(numbers, default=0)))
    lines: list[Line] = []
    for block in blocks:
        lines += _snippet_lines(block, diagnostic, margin)
    for note in diagnostic.notes:
        lines += _remark("note", note, margin)
    if diagnostic.help or changes:
        lines += _remark("help", diagnostic.help or "write", margin)
    for change in changes:
        lines += _change_lines(change, margin)
    return lines


def _snippets(diagnostic: Diagnostic) -> list[_Snippet]:
    blocks: dict[Source, _Snippet] = {}

    def add(span: Span, text: str, symbol: str, role: Role) -> None:
        said = " ".join(text.split("\n"))
        blocks.setdefault(span.source, _Snippet(span.source)).add(span, said, symbol, role)

    main = diagnostic.span
    if main is not None and all(label.span != main for label in diagnostic.labels):
        add(main, "", "^", diagnostic.severity)
    # The culprit comes first, so that its source is the first block.
    for label in sorted(diagnostic.labels, key=lambda label: label.span != main):
        if label.span == main:
            add(label.span, label.text, "^", diagnostic.severity)
        else:
            add(label.span, label.text, "-", "secondary")
    return list(blocks.values())


def _stretches(span: Span) -> list[tuple[int, int, int]]:
    """Line by line what a span marks, as characters counted from 0; blank lines are left out."""
    source = span.source
    if span.line == span.end_line:
        return [(span.line, span.column - 1, span.end_column - 1)]
    found = []
    for line in range(span.line, min(span.end_line, len(source.lines)) + 1):
        text = source.line(line)
        start = span.column - 1 if line == span.line else len(text) - len(text.lstrip())
        end = len(text.rstrip())
        if line == span.end_line:
            end = min(end, span.end_column - 1)
        if start < end:
            found.append((line, start, end))
    return found or [(span.line, span.column - 1, span.column - 1)]


def _snippet_lines(block: _Snippet, diagnostic: Diagnostic, margin: int) -> Iterator[Line]:
    main = diagnostic.span
    numbers = sorted(block.marks)
    if main is not None and main.source == block.source:
        arrow, at = "-->", main.start
    else:
        arrow, at = ":::", (numbers[0], block.marks[numbers[0]][0].start + 1)
    place = visible(block.source.location(*at))
    yield [(f"{'':{margin}}{arrow} ", "gutter"), (place, "plain")]
    yield _beside("", "|", margin, [])
    for number in numbers:
        if number <= len(block.source.lines):
            rows = draw(block.source.line(number), block.marks[number])
            yield from _number_rows(number, "|", rows, margin)
        if number in block.gaps and number + 1 not in block.marks:
            yield [(DOTS, "gutter")]


def _number_rows(number: int, bar: str, rows: list[Line], margin: int) -> Iterator[Line]:
    yield _beside(str(number), bar, margin, rows[0])
    for row in rows[1:]:
        yield _beside("", "|", margin, row)


def _beside(number: str, bar: str, margin: int, row: Line) -> Line:
    return [(f"{number:>{margin}} {bar} ", "gutter"), *row]


def _remark(kind: Role, text: str, margin: int) -> Iterator[Line]:
    first, *rest = visible(text).split("\n")
    indent = " " * (margin + 1)
    yield [(f"{indent}= ", "gutter"), (kind, kind), (f": {first}", "plain")]
    for line in rest:
        yield [(f"{indent}  {'':{len(kind)}}  {line}", "plain")]


def _changes(edits: Iterable[Edit]) -> list[_ChangedLines]:
    """The edits applied: one change for each stretch of lines that edits share."""
    changes: list[_ChangedLines] = []
    ordered = sorted(edits, key=lambda edit: edit.span)
    for source, group in groupby(ordered, key=lambda edit: edit.span.source):
        shared: list[Edit] = []
        for edit in group:
            if shared and edit.span.line > shared[-1].span.end_line:
                changes.append(_apply(source, shared))
                shared = []
            shared.append(edit)
        changes.append(_apply(source, shared))
    return changes


def _apply(source: Source, edits: list[Edit]) -> _ChangedLines:
    first, last = edits[0].span.line, edits[-1].span.end_line
    at = source.offset(first, 1)
    text = ""
    new: list[tuple[int, int]] = []
    for edit in edits:
        start, end = (source.offset(*place) for place in (edit.span.start, edit.span.end))
        text += source.text[at:start]
        new.append((len(text), len(text) + len(edit.new_text)))
        text += edit.new_text
        at = max(at, end)
    text += source.text[at : source.offset(last, len(source.line(last)) + 1)]
    made = Source(source.filename, text)
    marks: dict[int, list[Mark]] = {}
    for start, end in new:
        for line, left, right in _stretches(made.between(start, end)):
            if left < right:
                marks.setdefault(first + line - 1, []).append(Mark(left, right, "", "~", "help"))
    return _ChangedLines(first, list(made.lines), marks)


def _change_lines(change: _ChangedLines, margin: int) -> Iterator[Line]:
    yield _beside("", "|", margin, [])
    for number, text in enumerate(change.lines, change.first):
        rows = draw(text, change.marks.get(number, ()))
        yield from _number_rows(number, "+", rows, margin)

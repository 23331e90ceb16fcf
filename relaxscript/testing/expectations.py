"""The notation in which a program says what is wrong with it: comments under the offence.

    y = R.add(x, z)
    #            ^ error: RX0101 `z` is not defined
    #              help: did you mean `x`?

A comment with carets speaks of the line above it; the carets are the span of the diagnostic, then
come its severity (`error` or `warning`), code and message. Further lines belong to the diagnostic
above them: `help:`, `note:` and `fix:` (the text that the fix writes; blanks at its end do not
count). They may be left out, and then nothing is said. A label is under its own place, wherever
that is, with dashes for carets:

    def f(x: R.Tensor((4, 3), "float32"), w: R.Tensor((5, 6), "float32")):
    #                                                  - label: `w` has 5 rows here

Where one label of a program is written, all must be.

* A place that begins at the `#` is marked with `<` in the place of its first caret:
  `# <^^ error:` marks three characters, the first above the `#`. (Formatters write the blank.)
* A place that goes on behind its line ends in `...+2:14`: it ends two lines further down, before
  column 14, where lines of this notation do not count.
* A place of no width is marked `!`, before the character above it; no mark at all means no place.
* What is too long for its line goes on in a comment that begins with `|`, also directly behind a
  long mark.

Columns are characters, so letters that are drawn wider than others shift the picture, not its
meaning. Start reading at `read_expectations`; `write_expectation` is its inverse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from relaxscript.errors import Diagnostic, Label, Span

__all__ = [
    "Expectation",
    "Expectations",
    "ExpectedLabel",
    "Place",
    "place_of",
    "read_expectations",
    "write_expectation",
    "write_label",
]  # fmt: skip


def _mark_pattern(sign: str) -> str:
    goes_on = r"\.\.\.\+(?P<lines>\d+):(?P<column>\d+)"
    return rf"(?P<indent>\s*)#(?P<mark> ?<(?:!|{sign}*)|\s*{sign}+|\s*!)?(?:{goes_on})?\s*"


HEAD = re.compile(_mark_pattern(r"\^") + r"(?P<kind>error|warning): (?P<code>RX\d+) (?P<text>.*)")
LABEL = re.compile(_mark_pattern("-") + r"label: (?P<text>.*)")
REMARK = re.compile(r"\s*#\s*(?P<kind>help|note|fix): ?(?P<text>.*)")
BARE = re.compile(r"\s*#(?: ?<[-^]*|\s*[-^]+|\s*!)(?:\.\.\.\+\d+:\d+)?\s*")
MORE = re.compile(r"\s*#\s*\| (?P<text>.*)")


class Place(NamedTuple):
    """A span by its numbers: from `line` and `column` to the end, exclusive, all from 1."""

    line: int
    column: int
    end_line: int
    end_column: int


class ExpectedLabel(NamedTuple):
    """A label that some diagnostic of the program must have."""

    place: Place | None
    text: str


@dataclass
class Expectation:
    """A diagnostic that the program must get; None and empty lists say nothing."""

    severity: str
    code: str
    message: str
    place: Place | None
    help: str | None = None
    notes: list[str] = field(default_factory=list)
    fixes: list[str] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, str, Place | None]:
        """The key that is equal for a diagnostic that is this one."""
        return self.severity, self.code, self.message, self.place


class Expectations(NamedTuple):
    """Everything that the comments of a program say."""

    diagnostics: list[Expectation]
    labels: list[ExpectedLabel]


def is_expectation(line: str) -> bool:
    """True if a line is of this notation."""
    return any(pattern.fullmatch(line) for pattern in (HEAD, LABEL, REMARK, MORE, BARE))


def read_expectations(
    lines: Sequence[str], first: int = 1, last: int | None = None
) -> Expectations:
    """The expectations in the lines `first` to `last` (all, unless given), counted from 1.

    Lines of the notation that follow the last one directly belong to it.
    """
    end = len(lines) if last is None else last
    while end < len(lines) and is_expectation(lines[end]):
        end += 1
    reader = _Reader(lines)
    for number in range(first, end + 1):
        reader.read(number)
    return Expectations(reader.found, reader.labels)


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.code_lines = [n for n, line in enumerate(lines, 1) if not is_expectation(line)]
        self.found: list[Expectation] = []
        self.labels: list[ExpectedLabel] = []
        self.target = 0

    def read(self, number: int) -> None:
        if MORE.fullmatch(self.lines[number - 1]):
            return
        line = self.whole(number)
        if head := HEAD.fullmatch(line):
            place = self.place(head)
            self.found.append(Expectation(head["kind"], head["code"], head["text"], place))
        elif label := LABEL.fullmatch(line):
            self.labels.append(ExpectedLabel(self.place(label), label["text"]))
        elif (remark := REMARK.fullmatch(line)) and self.found:
            self.remark(remark["kind"], remark["text"])
        elif not is_expectation(line):
            self.target = number

    def whole(self, number: int) -> str:
        """A line together with those that continue it."""
        parts = [self.lines[number - 1]]
        for line in self.lines[number:]:
            more = MORE.fullmatch(line)
            if more is None:
                break
            parts.append(more["text"])
        return " ".join(parts)

    def place(self, match: re.Match[str]) -> Place | None:
        """The place that a mark shows, in the line of code above it."""
        mark = match["mark"]
        if mark is None:
            return None
        width = len(mark.strip())
        if mark.lstrip().startswith("<"):
            start = len(match["indent"]) + 1
        else:
            start = len(match["indent"]) + 2 + len(mark) - len(mark.lstrip())
        if mark.endswith("!"):
            width = 0
        end_line, end_column = self.target, start + width
        if match["lines"]:
            index = self.code_lines.index(self.target) + int(match["lines"])
            end_line = self.code_lines[min(index, len(self.code_lines) - 1)]
            end_column = int(match["column"])
        return Place(self.target, start, end_line, end_column)

    def remark(self, kind: str, text: str) -> None:
        expectation = self.found[-1]
        match kind:
            case "help":
                expectation.help = text
            case "note":
                expectation.notes.append(text)
            case _:
                expectation.fixes.append(text)


def place_of(span: Span | None) -> Place | None:
    """The numbers of a span."""
    return None if span is None else Place(*span.start, *span.end)


# ---------------------------------------------------------------- writing


def write_expectation(diagnostic: Diagnostic, lines: Sequence[str]) -> list[str]:
    """The comments that say everything about `diagnostic` but its labels.

    `lines` are those of its source.
    """
    place = place_of(diagnostic.span)
    head = f"{diagnostic.severity}: {diagnostic.code} {diagnostic.message}"
    mark, indent = _mark(place, lines, "^")
    remarks = [f"note: {note}" for note in diagnostic.notes]
    if diagnostic.help is not None:
        remarks.append(f"help: {diagnostic.help}")
    remarks += ["fix: " + edit.new_text.replace("\n", "\\n") for edit in diagnostic.fix]
    return [f"{mark} {head}", *(f"{indent}# {remark}".rstrip() for remark in remarks)]


def write_label(label: Label, lines: Sequence[str]) -> str:
    """The comment for a label."""
    return f"{_mark(place_of(label.span), lines, '-')[0]} label: {label.text}"


def _mark(place: Place | None, lines: Sequence[str], sign: str) -> tuple[str, str]:
    """The comment up to the end of its mark, and its indentation."""
    if place is None:
        return "#", ""
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    indent = line[: len(line) - len(line.lstrip())][: place.column - 1]
    several = place.end_line > place.line
    width = (len(line.rstrip()) + 1 if several else place.end_column) - place.column
    signs = sign * max(width, 1) if width or several else "!"
    if place.column > len(indent) + 1:
        mark = " " * (place.column - len(indent) - 2) + signs
    else:
        mark = " <" + (signs if signs == "!" else signs[1:])
    if several:
        between = lines[place.line : place.end_line]
        count = sum(1 for other in between if not is_expectation(other))
        mark += f"...+{count}:{place.end_column}"
    return f"{indent}#{mark}", indent

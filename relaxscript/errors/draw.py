"""One line of source with everything that is said about it.

    y = R.add(x, R.matmul(x, w))
              -  ^^^^^^^^^^^^^^^ is float16
              is float32

The marks share one row of underlines. The text of the rightmost, if it has one, follows on that
row. The others come on rows beneath, each under the start of its mark. A `|` leads down past a text
on its right:

    f(a, b, c)
      -  -  ^ third
      |  second
      first

Tabs and wide or combining characters keep everything aligned. A line that is too long keeps what
stands around the marks; `...` stands for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from .styles import Line, Piece, Role, merge_pieces, visible, width

TAB = 4
LIMIT = 140
CONTEXTS = (128, 96, 64, 48, 32, 24, 16, 8, 4)
DOTS = "..."


@dataclass(frozen=True)
class Mark:
    """Characters `start` to `end` of a line, counted from 0, and what is said about them."""

    start: int
    end: int
    text: str
    symbol: str
    role: Role


@dataclass(frozen=True)
class _PlacedMark:
    """A mark in columns of the screen."""

    start: int
    end: int
    mark: Mark


def draw(text: str, marks: Sequence[Mark], limit: int = LIMIT) -> list[Line]:
    """The line `text`, then the rows of underlines and texts; `limit` in columns of the screen."""
    shown, columns = _clip(text, marks, limit)
    placed = [_place(mark, columns) for mark in dict.fromkeys(marks)]
    rows: list[Line] = [[(shown, "plain")]]
    if not placed:
        return rows
    placed.sort(key=lambda one: (one.end, one.start))
    said = [one for one in placed if one.mark.text]
    # On the row of underlines a text would seem to speak of the mark that it follows.
    beside = said.pop() if said and said[-1].end == placed[-1].end else None
    rows.append(_underlines(placed, beside.mark if beside else None))
    waiting = sorted(said, key=lambda one: one.start)
    while waiting:
        rows.append(_text_row(waiting[:-1], waiting[-1]))
        waiting.pop()
    return rows


def _underlines(placed: list[_PlacedMark], said: Mark | None) -> Line:
    cells: list[Piece] = [(" ", "plain")] * max(one.end for one in placed)
    # The widest first, so that a part stays visible inside the whole.
    for one in sorted(placed, key=lambda one: one.start - one.end):
        cells[one.start : one.end] = [(one.mark.symbol, one.mark.role)] * (one.end - one.start)
    if said is not None:
        cells += [(" ", "plain"), (visible(said.text), said.role)]
    return merge_pieces(cells)


def _text_row(waiting: list[_PlacedMark], said: _PlacedMark) -> Line:
    cells: list[Piece] = [(" ", "plain")] * said.start
    for one in waiting:
        if one.start < said.start:
            cells[one.start] = ("|", one.mark.role)
    return merge_pieces([*cells, (visible(said.mark.text), said.mark.role)])


def _place(mark: Mark, columns: list[int]) -> _PlacedMark:
    last = len(columns) - 1
    start = columns[min(mark.start, last)]
    return _PlacedMark(start, max(columns[min(mark.end, last)], start + 1), mark)


def _clip(text: str, marks: Sequence[Mark], limit: int) -> tuple[str, list[int]]:
    """The line as it is shown, and the column at which each of its characters and its end are."""
    cells = _cells(text)
    widths = [sum(map(width, cell)) for cell in cells]
    before = [0, *accumulate(widths)]
    pieces: list[str] = []
    columns: list[int] = []
    column = 0
    end = 0
    for start, stop in [*_visible_ranges(before, marks, limit), (len(cells), len(cells))]:
        if start > end:
            columns += [column] * (start - end)
            pieces.append(DOTS)
            column += len(DOTS)
        columns += [column + before[i] - before[start] for i in range(start, stop)]
        pieces += cells[start:stop]
        column += before[stop] - before[start]
        end = stop
    return "".join(pieces), [*columns, column]


def _cells(text: str) -> list[str]:
    """The characters on the screen for each character of `text`."""
    cells: list[str] = []
    column = 0
    for character in text:
        cell = " " * (TAB - column % TAB) if character == "\t" else visible(character)
        cells.append(cell)
        column += sum(map(width, cell))
    return cells


def _visible_ranges(before: list[int], marks: Sequence[Mark], limit: int) -> list[tuple[int, int]]:
    """The stretches of characters to show: all if it fits, else what is around ends of marks."""
    count = len(before) - 1
    if before[-1] <= limit:
        return [(0, count)]
    edges = sorted({min(at, count) for mark in marks for at in (mark.start, mark.end)}) or [0]
    stretches: list[tuple[int, int]] = []
    for context in CONTEXTS:
        stretches = _around(edges, context, count)
        if sum(before[stop] - before[start] + len(DOTS) for start, stop in stretches) <= limit:
            break
    return stretches


def _around(edges: list[int], context: int, count: int) -> list[tuple[int, int]]:
    stretches: list[tuple[int, int]] = []
    for edge in edges:
        start, stop = max(edge - context, 0), min(edge + context, count)
        start = 0 if start <= len(DOTS) else start
        stop = count if stop >= count - len(DOTS) else stop
        if stretches and start <= stretches[-1][1] + len(DOTS):
            start = stretches.pop()[0]
        stretches.append((start, stop))
    return stretches

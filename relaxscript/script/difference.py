"""Differences of two programs as their scripts show them, function by function.

    changes = diff(before, FuseOps()(before))
    changes.show()                      # coloured where the terminal or notebook can show it

Lines that are unique in both scripts and come in the same order are what stays. So the cost is that
of printing both, and of sorting their lines.
"""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from relaxscript.errors.markup import box, fold, hinted, page, preformatted
from relaxscript.errors.styles import Line, Role, Style, automatic_style, paint
from relaxscript.ir import hooks
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import BaseFunc

__all__ = ["ScriptDiff", "diff"]

_ROLES: dict[str, Role] = {"+": "help", "-": "error", "@": "secondary"}
_CLASSES = {"+": "added", "-": "removed"}
_OPEN_LINES = 240  # what is shown of a difference before anybody unfolds it
_HEAD = ""  # what is before the first function

# Lines of a part of a script with the number of the first, from 1.
_Part = tuple[int, Sequence[str]]
# A range of lines that stays, in both: where it begins there, and how long it is.
_Kept = tuple[int, int, int]


def diff(before: IRModule | BaseFunc, after: IRModule | BaseFunc, context: int = 3) -> ScriptDiff:
    """The changes from one module or function to another, with `context` lines around each.

    Functions are compared by name. False where both print the same. Raises `TypeError` for what has
    no script of functions.
    """
    scripts = []
    for given in (before, after):
        if not isinstance(given, (IRModule, BaseFunc)):
            raise TypeError(f"modules and functions are compared, not {brief(given)}")
        scripts.append(_parts(hooks.script_of(given)))
    if not isinstance(context, int) or isinstance(context, bool) or context < 0:
        raise TypeError(f"`context` is a number of lines, not {context!r}")
    old, new = scripts
    lines: list[str] = []
    for name in {**old, **new}:
        lines += _changes(name, old.get(name, (1, ())), new.get(name, (1, ())), context)
    return ScriptDiff(tuple(lines))


@dataclass(frozen=True, repr=False)
class ScriptDiff:
    """Changes as the lines of a unified difference; true if there is one.

    `str` gives the text, a notebook shows it in colour, and `show` does in a terminal.
    """

    lines: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.lines)

    def __str__(self) -> str:
        return self.text("text")

    __repr__ = __str__

    def show(self, style: Style | None = None) -> None:
        """Print the changes; `style` is "text", "ansi" or "html", else what the terminal can."""
        print(self.text(style or automatic_style(sys.stdout)))

    def _repr_html_(self) -> str:
        return self.text("html")

    def text(self, style: Style = "text") -> str:
        """The changes in a style, which is "text", "ansi" or "html"."""
        if not self.lines:
            return paint([[("both print the same", "plain")]], style)
        if style == "html":
            return _html(self.lines)
        painted: list[Line] = [[(line, _ROLES.get(line[:1], "plain"))] for line in self.lines]
        return paint(painted, style)


def _html(lines: Sequence[str]) -> str:
    """The changes as HTML: a stretch folds below its heading, and is open where they are short."""
    from .printer.html import code_html

    starts = [number for number, line in enumerate(lines) if line.startswith("@@")]
    made = []
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        body = "".join(
            f'<span class="{_CLASSES[line[0]]}">{line[0]}{code_html(line[1:])}\n</span>'
            if line[0] in _CLASSES
            else f"{code_html(line)}\n"
            for line in lines[start + 1 : end]
        )
        heading = hinted(lines[start], "", "gutter")
        more = f"{end - start - 1:,} lines"
        made.append(fold(heading, preformatted(body), more, end <= _OPEN_LINES))
    return page(box(*made, folds=True))


def _parts(text: str) -> dict[str, _Part]:
    """The functions of a script by name, and what is before them."""
    lines = text.split("\n")
    found: dict[str, _Part] = {}
    end = 0
    for function in _functions(text):
        start = min([function.lineno, *(d.lineno for d in function.decorator_list)]) - 1
        if not found:
            found[_HEAD] = 1, lines[:start]
        end = function.end_lineno or start
        found[function.name] = start + 1, lines[start:end]
    return found or {_HEAD: (1, lines)}


def _functions(text: str) -> Iterator[ast.FunctionDef]:
    for node in ast.parse(text).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        yield from (item for item in inner if isinstance(item, ast.FunctionDef))


def _changes(name: str, old: _Part, new: _Part, context: int) -> Iterator[str]:
    """The lines of a unified difference of two parts; none where these are the same."""
    (old_start, a), (new_start, b) = old, new
    rows: list[tuple[str, int, int]] = []  # sign, and the lines that come next in both
    i = j = 0
    for start, other, length in [*_kept(a, b), (len(a), len(b), 0)]:
        rows += [("-", at, j) for at in range(i, start)]
        rows += [("+", start, at) for at in range(j, other)]
        rows += [(" ", start + at, other + at) for at in range(length)]
        i, j = start + length, other + length
    for first, last in _hunks([row[0] != " " for row in rows], context):
        hunk = rows[first:last]
        counts = Counter(sign for sign, _, _ in hunk)
        _, i, j = hunk[0]
        was = f"-{old_start + i},{counts[' '] + counts['-']}"
        now = f"+{new_start + j},{counts[' '] + counts['+']}"
        yield f"@@ {was} {now} @@ {name}".rstrip()
        for sign, i, j in hunk:
            yield sign + (b[j] if sign == "+" else a[i])


def _hunks(changed: Sequence[bool], context: int) -> Iterator[tuple[int, int]]:
    """The ranges of rows that are shown: changes with what is around them."""
    first = last = -1
    for row, differs in enumerate(changed):
        if not differs:
            continue
        if last < 0 or last < row - context:
            if last >= 0:
                yield first, min(last, len(changed))
            first = max(row - context, 0)
        last = row + context + 1
    if last >= 0:
        yield first, min(last, len(changed))


def _kept(a: Sequence[str], b: Sequence[str]) -> Iterator[_Kept]:
    """The ranges that stay: unique lines in the same order, with equal lines beside them."""
    i = j = 0
    for at, other in [*_anchors(a, b), (len(a), len(b))]:
        if at < i or other < j:
            continue  # part of a range already
        start = at
        while start > i and other - (at - start) > j and a[start - 1] == b[other - at + start - 1]:
            start -= 1
        begin = other - (at - start)
        ahead = 0
        while i + ahead < start and j + ahead < begin and a[i + ahead] == b[j + ahead]:
            ahead += 1
        if ahead:
            yield i, j, ahead
        i, j = at, other
        while i < len(a) and j < len(b) and a[i] == b[j]:
            i, j = i + 1, j + 1
        if i > start:
            yield start, begin, i - start


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The longest row of lines that are unique in both and come in the same order."""
    counts, others = Counter(a), Counter(b)
    where = {line: place for place, line in enumerate(b)}
    pairs = [
        (place, where[line])
        for place, line in enumerate(a)
        if counts[line] == 1 and others[line] == 1
    ]
    ends: list[int] = []  # the least end of a row of each length
    rows: list[int] = []  # the pair with which it ends
    before: list[int] = []
    for number, (_, other) in enumerate(pairs):
        length = bisect_left(ends, other)
        before.append(rows[length - 1] if length else -1)
        ends[length : length + 1] = [other]
        rows[length : length + 1] = [number]
    found = []
    number = rows[-1] if rows else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]

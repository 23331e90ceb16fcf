"""Marks in a printed script: underlines, remarks behind statements, numbers of lines."""

from __future__ import annotations

from collections.abc import Collection, Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .module import Printer

__all__ = ["add_marks"]


def add_marks(printer: Printer, text: str) -> str:
    """The script with what the options of the printer ask for."""
    options = printer.options
    lines = text.split("\n")
    below = _underlines(printer, lines)
    remarks: dict[int, list[str]] = {}
    marked = [(printer.place(node), text) for node, text in options.obj_to_annotate.items()]
    marked += [(printer.place_of(path), text) for path, text in options.path_to_annotate.items()]
    for span, remark in marked:
        if span is not None:
            remarks.setdefault(span.end_line, []).append(" ".join(str(remark).split()))
    width = len(str(len(lines)))
    found: list[str] = []
    skipped = 0
    shown = _context(options.num_context_lines, below, len(lines))
    for number, line in enumerate(lines, 1):
        if number not in shown:
            skipped += 1
            continue
        found += _skipped_line(skipped)
        skipped = 0
        margin = f"{number:>{width}} " if options.print_line_numbers else ""
        said = f"  # {'; '.join(remarks[number])}" if number in remarks else ""
        found.append(f"{margin}{line}{said}")
        found += [" " * len(margin) + mark for mark in below.get(number, ())]
    return "\n".join([*found, *_skipped_line(skipped)])


def _underlines(printer: Printer, lines: list[str]) -> dict[int, list[str]]:
    """The carets below each line."""
    below: dict[int, list[str]] = {}
    spans = [printer.place(node) for node in printer.options.obj_to_underline]
    spans += [printer.place_of(path) for path in printer.options.path_to_underline]
    for span in spans:
        if span is None:
            continue
        for number in range(span.line, span.end_line + 1):
            line = lines[number - 1]
            start = span.column - 1 if number == span.line else len(line) - len(line.lstrip())
            end = span.end_column - 1 if number == span.end_line else len(line)
            below.setdefault(number, []).append(" " * start + "^" * max(end - start, 1))
    return below


def _context(around: int, marked: Collection[int], count: int) -> Container[int]:
    """The numbers of the lines to show: all, or those around the marked ones."""
    if around < 0 or not marked:
        return range(1, count + 1)
    return {near for at in marked for near in range(at - around, at + around + 1)}


def _skipped_line(count: int) -> list[str]:
    return [f"(... {count} line{'s' if count > 1 else ''} skipped ...)"] if count else []

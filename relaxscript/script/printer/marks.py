"""Marks in a printed text: underlines, remarks behind statements, numbers of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .module import Printer

__all__ = ["decorated"]


def decorated(printer: Printer, text: str) -> str:
    """The text with what the options of the printer ask for."""
    options = printer.options
    lines = text.split("\n")
    below: dict[int, list[str]] = {}
    for node in options.obj_to_underline:
        span = printer.place(node)
        if span is None:
            continue
        for number in range(span.line, span.end_line + 1):
            line = lines[number - 1]
            start = span.column - 1 if number == span.line else len(line) - len(line.lstrip())
            end = span.end_column - 1 if number == span.end_line else len(line)
            below.setdefault(number, []).append(" " * start + "^" * max(end - start, 1))
    remarks: dict[int, str] = {}
    for node, remark in options.obj_to_annotate.items():
        span = printer.place(node)
        if span is not None:
            remarks[span.end_line] = remark
    width = len(str(len(lines)))
    found: list[str] = []
    for number, line in enumerate(lines, 1):
        margin = f"{number:>{width}} " if options.print_line_numbers else ""
        said = f"  # {remarks[number]}" if number in remarks else ""
        found.append(f"{margin}{line}{said}")
        found += [" " * len(margin) + mark for mark in below.get(number, ())]
    return "\n".join(found)

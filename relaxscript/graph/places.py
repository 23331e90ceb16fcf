"""The lines of the printed script for the items of a picture, and their places in files."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.errors import DiagnosticError, InternalError, Span, UnplacedError
from relaxscript.errors.markup import hint_of
from relaxscript.ir.relax import Function
from relaxscript.script.printer.module import Printer

from .picture import Cluster, DrawnNode, Item, Picture
from .wording import LONGEST_DETAIL, fit

__all__ = ["print_program", "say_lines"]

# Keywords that say the StructInfo of the result, which is beside the wire anyway.
_SAID_ELSEWHERE = frozenset({"out_sinfo", "sinfo_args", "out_ty"})
_LONGEST_SCRIPT = 600


def print_program(root: Any, filename: str = "<script>") -> Printer | None:
    """The printed program, which knows the places of its nodes; None for one that has no script."""
    printer = Printer(filename)
    try:
        printer.print(root)
        _ = printer.places  # made here, where it is caught what goes wrong
    except (DiagnosticError, UnplacedError, InternalError, RecursionError):
        return None
    return printer


def say_lines(picture: Picture, function: Function, printer: Printer | None) -> None:
    """Give each item its line and its text in the script, its place in a file, its attributes."""
    whole = None if printer is None else next(iter(printer.places.get(function, ())), None)
    seen: Counter[int] = Counter()
    merges: dict[int, Span] = {}
    for item in picture.items.values():
        origin = item.origin
        if origin is None:
            continue
        if origin.span is not None and not origin.span.filename.startswith("<"):
            item.source = hint_of(origin.span)
        if printer is None or whole is None:
            continue
        spans = [span for span in printer.places.get(origin, ()) if whole.contains(span)]
        if not spans or (item.kind == "name" and item.name == ""):
            continue
        at = -1 if item.kind == "result" else min(seen[id(origin)], len(spans) - 1)
        seen[id(origin)] += 1
        _say(item, spans[at])
        if item.kind == "merge":
            merges[item.key] = spans[at]
    if printer is not None:
        _say_passed(picture, printer, merges)


def _say(item: Item, span: Span) -> None:
    item.line, item.script = span.line, _text(span)
    if isinstance(item, Cluster):
        return
    # The whole of an `if` is no place of what comes out of it.
    item.end_line = span.line if item.kind == "merge" else span.end_line
    if item.kind == "result":
        item.script = span.source.line(span.line).strip()
    if item.kind in ("operator", "kernel", "packed"):
        item.detail = _with_keywords(item)


def _say_passed(picture: Picture, printer: Printer, merges: Mapping[int, Span]) -> None:
    """The lines of what a branch gives and has not computed: the last that use it there."""
    for edge in picture.edges:
        item, whole = picture.items[edge.source], merges.get(edge.target)
        if whole is None or item.kind != "name" or item.name or item.origin is None:
            continue
        is_in_then = edge.place == 0
        end = _line_of_else(whole) if is_in_then else whole.end_line
        spans = [s for s in printer.places.get(item.origin, ()) if whole.line < s.line <= end]
        if spans:
            _say(item, spans[-1])
            item.script = spans[-1].source.line(spans[-1].line).strip()


def _line_of_else(whole: Span) -> int:
    """The line of the `else` of a printed `if`, which is indented as it is."""
    margin = " " * (whole.column - 1)
    lines = range(whole.line, whole.end_line + 1)
    found = (number for number in lines if whole.source.line(number) == f"{margin}else:")
    return next(found, whole.end_line)


def _text(span: Span) -> str:
    """The text at a span; of one of many lines, the first."""
    lines = span.text.split("\n")
    text = (
        lines[0]
        if lines[0].startswith(("if ", "with ", "def "))
        else " ".join(line.strip() for line in lines)
    )
    return text if len(text) <= _LONGEST_SCRIPT else f"{text[:_LONGEST_SCRIPT]}\u2026"


def _with_keywords(node: DrawnNode) -> str:
    """The operands without a box, and the attributes as the script says them: `axis=1`."""
    try:
        body: Sequence[ast.stmt] = ast.parse(node.script).body
    except (SyntaxError, ValueError, RecursionError):
        return node.detail  # a shortened text
    value = getattr(body[0], "value", None) if body else None
    if not isinstance(value, ast.Call):
        return node.detail
    words = {
        keyword.arg: ast.unparse(keyword.value)
        for keyword in value.keywords
        if keyword.arg is not None and keyword.arg not in _SAID_ELSEWHERE
    }
    before = [text for text in node.literals if text not in words.values()]
    return fit(", ".join([*before, *(f"{k}={v}" for k, v in words.items())]), LONGEST_DETAIL)

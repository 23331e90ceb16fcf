"""Blame for IR that has no source: the printed script is a source like any other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from relaxscript.errors import Diagnostic, Label, Span
from relaxscript.errors.render import render_body
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.walk import children

from .module import Printer

__all__ = ["find_places", "underline"]


# More lines than these are not underlined: the first says which part is meant.
_MOST_LINES = 3


def underline(
    root: Any,
    node: Any,
    message: str,
    filename: str = "<script>",
    *,
    within: Any = None,
    occurrence: int = 0,
) -> str:
    """The lines of the printed `root` with `node`, underlined.

         --> <after fuse_ops>:3:9
          |
        3 |     z = y + x
          |         ^^^^^ reads `y` before it is bound

    Of a node with several places, the one inside of `within` is taken. `occurrence` is its number
    there, counted from 0. One that the script does not show is blamed on the smallest
    shown part that holds it. If there is none, the whole is underlined.
    """
    printer = Printer(filename)
    printer.print(root)
    span = _place(printer, node, within, occurrence)
    span = span or _around(printer, root, node) or printer.source.whole
    span = _heading(span)
    return render_body(Diagnostic("", message, span, (Label(span, message),)))


def find_places(
    root: Any, wanted: Sequence[tuple[Any, Any]], filename: str = "<script>"
) -> list[Span | None]:
    """The places of nodes in the printed `root`, each the first inside of the one paired with it.

    A node without a place of its own there has that of the one paired with it. If that has none
    either, it has the place of the nearest node that holds it, or None. The root is printed once.
    """
    printer = Printer(filename)
    printer.print(root)
    holders: dict[int, Any] | None = None
    found: list[Span | None] = []
    for node, within in wanted:
        at = _first_inside(printer, node, within)
        if at is None:
            holders = _holders(root) if holders is None else holders
        while at is None and holders and node is not None:
            at, node = printer.place(node), holders.get(id(node))
        found.append(None if at is None else _heading(at))
    return found


def _first_inside(printer: Printer, node: Any, within: Any) -> Span | None:
    """The first place of `node` in `within`, else that of `within`, else the last of `node`."""
    spans = printer.places.get(node, [])
    if within is None:
        return spans[0] if spans else None
    outer = printer.places.get(within)
    if outer is None:
        # The result of a SeqExpr, which is not printed itself, is behind all else.
        return spans[-1] if spans else None
    start = bisect_left(spans, (outer[0].line, outer[0].column), key=lambda s: (s.line, s.column))
    inside = start < len(spans) and outer[0].contains(spans[start])
    return spans[start] if inside else outer[0]


def _place(printer: Printer, node: Any, within: Any, occurrence: int) -> Span | None:
    outer = None if within is None else printer.place(within)
    if outer is not None:
        inside = [span for span in printer.places.get(node, ()) if outer.contains(span)]
        if inside:
            return inside[min(occurrence, len(inside) - 1)]
    return printer.place(node)


def _around(printer: Printer, root: Any, node: Any) -> Span | None:
    """The place of the nearest node that holds `node` and is shown."""
    holders = _holders(root)
    at = holders.get(id(node))
    while at is not None:
        span = printer.place(at)
        if span is not None:
            return span
        at = holders.get(id(at))
    return None


def _holders(root: Any) -> dict[int, Any]:
    """The first node that holds each node, by id."""
    holders: dict[int, Any] = {}
    stack = list(root.functions.values()) if isinstance(root, IRModule) else [root]
    seen: set[int] = set()
    while stack:
        at = stack.pop()
        if not isinstance(at, Node) or id(at) in seen:
            continue
        seen.add(id(at))
        for child in children(at):
            holders.setdefault(id(child), at)
            stack.append(child)
    return holders


def _heading(span: Span) -> Span:
    """The line that says what a long piece of a script is, for example `def main(...)`."""
    source, first = span.source, span.line
    if span.end_line - first < _MOST_LINES:
        return span
    lines = range(first, first + _MOST_LINES)
    titles = (n for n in lines if source.line(n).lstrip().startswith(("def ", "class ")))
    chosen = next(titles, first)
    text = source.line(chosen)
    return Span(source, chosen, len(text) - len(text.lstrip()) + 1, chosen, len(text) + 1)

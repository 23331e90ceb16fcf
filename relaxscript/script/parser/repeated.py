"""Annotations that were read before in the same function, found again by their text.

Most annotations of a printed script repeat one of a few texts. What such a text meant, it means
wherever the names in it mean the same; only the places of its dimensions are others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from relaxscript.ir.prim import PrimExpr, Var as PrimVar
from relaxscript.ir.struct_info import StructInfo
from relaxscript.script.annotations import Front

from .abbreviated import REPEATED, abbreviation

if TYPE_CHECKING:
    from .annotation import AnnotationParser

__all__ = ["RepeatedAnnotations"]


class _Entry:
    """What one text meant, and where: the names in it, what they meant, and the dimensions."""

    __slots__ = ("dims", "environment", "info", "words")

    def __init__(self, parser: AnnotationParser, info: StructInfo, words: Iterable[str]) -> None:
        names, dims = parser.names, parser.dims
        self.info = info
        self.environment = parser.environment
        self.words = [(word, names.get(word), dims.get(word)) for word in words]
        found = (value for _, *values in self.words for value in values)
        self.dims = list(dict.fromkeys(v for v in found if isinstance(v, PrimVar)))


class RepeatedAnnotations:
    """What the annotations of one parser meant, by their text."""

    def __init__(self, parser: AnnotationParser) -> None:
        self.parser = parser
        self._known: dict[str, _Entry] = {}
        self._once: set[str] = set()

    def find(self, node: ast.expr) -> StructInfo | None:
        """The StructInfo that the same text had, with the places of that one; None if unknown."""
        parser = self.parser
        text = _text(node, parser.source.lines)
        entry = None if text is None else self._known.get(text)
        if entry is None or entry.environment is not parser.environment:
            return None
        names, dims = parser.names, parser.dims
        for word, name, dim in entry.words:
            if names.get(word) is not name or dims.get(word) is not dim:
                return None
        for var in entry.dims:
            if not parser.is_bound(var):
                return None
        return entry.info

    def remember(self, node: ast.expr, info: StructInfo) -> None:
        """Keep what an annotation meant, if nothing but its text and its names decided that.

        That is found out when a text comes for the second time; most never do.
        """
        text = _text(node, self.parser.source.lines)
        if text is None:
            return
        if text not in self._once:
            self._once.add(text)
            return
        words: dict[str, None] = {}
        if self._is_plain(node, words):
            self._known[text] = _Entry(self.parser, info, words)

    def _is_plain(self, node: ast.expr, words: dict[str, None]) -> bool:
        """Whether an annotation is made of fronts, numbers, dimensions and data types."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id)) as func, args=args, keywords=more):
                words[id] = None
                front = self._front(func)
                texts = (
                    front is not None and front.name == "Tensor"
                )  # of anything else: annotations
                parts = [*args, *(keyword.value for keyword in more)]
                return front is not None and all(
                    (texts and isinstance(part, ast.Constant)) or self._is_plain(part, words)
                    for part in parts
                )
            case ast.Attribute(value=ast.Name(id)):
                words[id] = None
                return self._front(node) is not None
            case ast.Tuple(elts) | ast.List(elts):
                return all(self._is_plain(part, words) for part in elts)
            case ast.BinOp(left, _, right):
                return self._is_plain(left, words) and self._is_plain(right, words)
            case ast.Name(id):
                words[id] = None
                return isinstance(self.parser.dims.get(id, self.parser.names.get(id)), PrimExpr)
            case ast.Constant(int()):
                return True
        return False

    def _front(self, node: ast.Attribute) -> Front | None:
        value = self.parser.value(node)
        return value if isinstance(value, Front) and value.name in REPEATED else None


def _text(node: ast.expr, lines: Sequence[str]) -> str | None:
    """The text of an annotation that stands in one line."""
    number = node.lineno
    if node.__class__ is not ast.Call:
        return abbreviation(node, lines)
    if node.end_lineno != number:
        return None
    line = lines[number - 1]
    # Positions are in bytes, so only lines of ASCII are cut; others are rare.
    return line[node.col_offset : node.end_col_offset] if line.isascii() else None

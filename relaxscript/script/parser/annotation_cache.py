"""Annotations that were read before in the same function, known again by their source.

Most annotations of a printed script repeat one of a few sources. What such a source meant, it means
wherever the names in it mean the same; only the places of its dimensions are others.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.ir.prim import PrimExpr, Var as PrimVar
from relaxscript.ir.struct_info import StructInfo
from relaxscript.script.names.annotations import AnnotationForm

from .environment import Environment
from .expression import parse_expr
from .relax_functions.context import RelaxContext

__all__ = ["recall", "remember"]

# The annotations whose source says all of what they mean. Function types bind dimensions of their
# own, and scalars may hold any value: these are read anew each time.
REPEATED = frozenset({"Tensor", "Shape", "Tuple", "Object"})


class _Entry(NamedTuple):
    """The meaning of one source, with the names in it, what they meant, and the dimensions."""

    info: StructInfo
    environment: Environment
    words: Sequence[tuple[str, object, object]]
    dims: list[PrimVar]


def recall(cx: RelaxContext, node: ast.expr) -> StructInfo | None:
    """The StructInfo that the same source had, with the places of that one; None if unknown."""
    text = _text(node, cx.source.lines)
    entry = None if text is None else cx.annotation_memo.get(text)
    if entry.__class__ is not _Entry:
        return None
    info, environment, words, dims = entry
    if environment is not cx.environment:
        return None
    named, dimensions = cx.names.get, cx.dims.get
    for word, name, dim in words:
        if named(word) is not name or dimensions(word) is not dim:
            return None
    for var in dims:
        if not cx.is_bound(var):
            return None
    return info


def remember(cx: RelaxContext, node: ast.expr, info: StructInfo) -> None:
    """Keep what an annotation meant, if nothing but its source and its names decided that.

    That is found out when a source comes for the second time; most never do.
    """
    text = _text(node, cx.source.lines)
    if text is None:
        return
    if text not in cx.annotation_memo:
        cx.annotation_memo[text] = None
        return
    words: dict[str, None] = {}
    if _is_plain(cx, node, words):
        found = [(word, cx.names.get(word), cx.dims.get(word)) for word in words]
        values = (value for _, *both in found for value in both)
        dims = list(dict.fromkeys(v for v in values if isinstance(v, PrimVar)))
        cx.annotation_memo[text] = _Entry(info, cx.environment, found, dims)


def _is_plain(cx: RelaxContext, node: ast.expr, words: dict[str, None]) -> bool:
    """True if an annotation is made of forms, numbers, dimensions and dtypes."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id)) as func, args=args, keywords=more):
            words[id] = None
            form = _form(cx, func)
            strings = form is not None and form.name == "Tensor"  # elsewhere: annotations
            parts = [*args, *(keyword.value for keyword in more)]
            return form is not None and all(
                (strings and isinstance(part, ast.Constant)) or _is_plain(cx, part, words)
                for part in parts
            )
        case ast.Attribute(value=ast.Name(id)):
            words[id] = None
            return _form(cx, node) is not None
        case ast.Tuple(elts) | ast.List(elts):
            return all(_is_plain(cx, part, words) for part in elts)
        case ast.BinOp(left, _, right):
            return _is_plain(cx, left, words) and _is_plain(cx, right, words)
        case ast.Name(id):
            words[id] = None
            return isinstance(cx.dims.get(id, cx.names.get(id)), PrimExpr)
        case ast.Constant(int()):
            return True
    return False


def _form(cx: RelaxContext, node: ast.Attribute) -> AnnotationForm | None:
    value = parse_expr(cx, node)
    return value if isinstance(value, AnnotationForm) and value.name in REPEATED else None


def _text(node: ast.expr, lines: Sequence[str]) -> str | None:
    """The source of an annotation in one line."""
    number = node.lineno
    if node.__class__ is not ast.Call or node.end_lineno != number:
        return None
    line = lines[number - 1]
    # Positions are in bytes, so only lines of ASCII are cut; others are rare.
    return line[node.col_offset : node.end_col_offset] if line.isascii() else None

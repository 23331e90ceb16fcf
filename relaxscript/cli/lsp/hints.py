"""StructInfos of bindings without an annotation, shown behind their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lsprotocol import types

from relaxscript.errors import Source
from relaxscript.ir.relax import GlobalVar, Var
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo

from .analysis import Analysis, ReadDefinition
from .documents import Document
from .words import info_of

__all__ = ["Hint", "as_lsp_hint", "hints_in"]

# A longer annotation is cut, and whole in what is shown beside the hint.
LONG = 60


class Hint(NamedTuple):
    """A name that is bound, by its end, and its StructInfo; `alone` if it may be annotated."""

    line: int
    column: int
    info: StructInfo
    alone: bool


def hints_in(analysis: Analysis, first: int, last: int) -> Iterator[Hint]:
    """The hints of the lines from `first` to `last`."""
    for definition in analysis.definitions:
        for target, alone in targets_in([definition.node], first, last):
            info = bound_info(analysis.source, definition, target)
            if info is not None:
                yield Hint(*analysis.source.span(target).end, info, alone)


def targets_in(body: Sequence[ast.stmt], first: int, last: int) -> Iterator[tuple[ast.Name, bool]]:
    """The names that statements between two lines assign, and if each is assigned alone."""
    for node in body:
        if (node.end_lineno or node.lineno) < first or node.lineno > last:
            continue
        match node:
            case ast.Assign(targets=[ast.Name() as target]):
                yield target, True
            case ast.Assign(targets=targets):
                yield from ((n, False) for t in targets for n in ast.walk(t)
                            if isinstance(n, ast.Name))  # fmt: skip
        for inner in ("body", "orelse"):
            yield from targets_in(getattr(node, inner, ()), first, last)


def bound_info(source: Source, definition: ReadDefinition, target: ast.Name) -> StructInfo | None:
    """The StructInfo of the variable that a name is bound to, if it is always the same."""
    found = definition.bound_places.get(source.span(target).start, ())
    variables = [
        o for o in found if isinstance(o.value, Var) and not isinstance(o.value, GlobalVar)
    ]
    infos = [info for o in variables if (info := info_of(o)) is not None]
    if not infos or isinstance(infos[-1], FuncStructInfo) or len(set(map(str, infos))) > 1:
        return None
    return infos[-1]


def as_lsp_hint(document: Document, hint: Hint, *, writable: bool) -> types.InlayHint:
    """A hint as editors show it; where `writable`, to accept it writes the annotation."""
    text = f": {hint.info}"
    position = document.position((hint.line, hint.column))
    edits = [types.TextEdit(types.Range(position, position), text)]
    return types.InlayHint(
        position=position, label=text if len(text) <= LONG else f"{text[: LONG - 1]}…",
        kind=types.InlayHintKind.Type, tooltip=text[2:] if len(text) > LONG else None,
        text_edits=edits if writable and hint.alone else None, padding_left=False,
    )  # fmt: skip

"""The outline of a document: its modules and functions."""

from __future__ import annotations

import ast

from lsprotocol.types import DocumentSymbol, SymbolKind

from relaxscript.errors import Source

from .analysis import Analysis
from .documents import Document

__all__ = ["outline"]

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def outline(document: Document, analysis: Analysis) -> list[DocumentSymbol]:
    """The scripts in their order; the functions of a module are in it."""
    source = analysis.source
    nodes = [each.node for each in analysis.definitions]
    return [_symbol(document, source, n) for n in nodes if document.holds(source.span(n))]


def _symbol(document: Document, source: Source, node: Definition) -> DocumentSymbol:
    inner = [n for n in node.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))]
    decorators = [f"@{source.span(each).text}" for each in node.decorator_list]
    first = source.span(node).cover(*map(source.span, node.decorator_list))
    is_module = isinstance(node, ast.ClassDef)
    return DocumentSymbol(
        name=node.name, kind=SymbolKind.Class if is_module else SymbolKind.Function,
        range=document.range(first), selection_range=document.range(source.name_span(node)),
        detail=" ".join(decorators).splitlines()[0] if decorators else None,
        children=[_symbol(document, source, each) for each in inner] or None,
    )  # fmt: skip

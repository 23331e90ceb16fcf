"""Texts and their trees: a file or cell is read and parsed once, whoever asks for parts of it.

Every line and column is the user's own: the whole source is parsed, and nothing dedents it or adds
offsets. Which definition of a source a decorator was given is found in `lookup.py`.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from functools import cached_property
from types import CodeType
from typing import TypeAlias

from relaxscript.errors import Diagnostic, DiagnosticError, Source
from relaxscript.runtime.collector import collector_paused

from .code_match import codes_of
from .syntax_errors import syntax_error

__all__ = [
    "AnyDefinition",
    "ParsedSource",
    "first_line",
    "parse_indexed",
    "parse_once",
    "parse_text",
]

AnyDefinition: TypeAlias = "ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef"


class ParsedSource:
    """A source with its tree; indexes of what is in it are made when something is looked for."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self.source = source
        self.tree = tree
        self._codes: dict[int, dict[str, list[CodeType]]] = {}

    @cached_property
    def definitions(self) -> dict[str, list[AnyDefinition]]:
        """Every definition by its name, outer ones before inner ones."""
        return _definitions(self.tree)

    def codes(self, flags: int) -> dict[str, list[CodeType]]:
        """The codes that Python compiles the source to, by the names of functions and classes.

        `flags` are the `__future__` imports that hold beside those of the source.
        """
        found = self._codes.get(flags)
        if found is None:
            found = self._codes[flags] = {}
            for code in codes_of(self.source, flags):
                found.setdefault(code.co_name, []).append(code)
        return found

    def text_of(self, node: AnyDefinition) -> str:
        """The lines of a definition, with its decorators."""
        lines = self.source.lines[first_line(node) - 1 : node.end_lineno]
        return "\n".join(lines)


def first_line(node: AnyDefinition) -> int:
    """The line where a definition begins for Python: that of its first decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


# A notebook re-runs cells and a test file defines hundreds of functions: the last few sources stay,
# each with an index of its definitions, so that a file is read and walked once.
_PARSED: OrderedDict[tuple[str, str], ParsedSource] = OrderedDict()
_KEPT = 16


def parse_text(filename: str, text: str) -> tuple[Source, ast.Module]:
    """A source and its tree; a syntax error of it becomes a diagnostic."""
    parsed = parse_indexed(filename, text)
    return parsed.source, parsed.tree


def parse_indexed(filename: str, text: str) -> ParsedSource:
    """A source with its tree and indexes; raises RX0113 where it is not Python."""
    key = (filename, text)
    found = _PARSED.get(key)
    if found is None:
        found = _PARSED[key] = ParsedSource(*parse_once(filename, text))
        while len(_PARSED) > _KEPT:
            _PARSED.popitem(last=False)
    return found


def parse_once(filename: str, text: str) -> tuple[Source, ast.Module]:
    """`parse_text` for a source that nobody asks for again; its tree is not kept."""
    source = Source(filename, text)
    try:
        with collector_paused():
            tree = ast.parse(text, filename)
    except SyntaxError as error:
        raise DiagnosticError(syntax_error(source, error)) from None
    except ValueError as error:  # half a surrogate pair, and before Python 3.12 a null byte
        refused = SyntaxError(str(error))
        raise DiagnosticError(syntax_error(source, refused)) from None
    except (RecursionError, MemoryError):
        deep = Diagnostic("RX0113", "this is nested too deeply for Python to parse", source.whole)
        raise DiagnosticError(deep) from None
    return source, tree


def _definitions(tree: ast.Module) -> dict[str, list[AnyDefinition]]:
    index: dict[str, list[AnyDefinition]] = {}
    pending: list[ast.AST] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            index.setdefault(node.name, []).append(node)
        # Definitions hide in statements only, and expressions are most of a tree.
        pending.extend(
            child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)
        )
    return index

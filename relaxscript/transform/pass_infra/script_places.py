"""Places in the script of a module: which function and binding a line belongs to, and where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from relaxscript.errors import Source, Span

__all__ = ["ScriptPlace", "line_of", "place_at", "span_of_line"]


class ScriptPlace(NamedTuple):
    """A function of a module, and in it the binding of a variable; empty for its signature."""

    function: str
    binding: str

    def __str__(self) -> str:
        return f"`{self.function}`" + (f", at `{self.binding}`" if self.binding else "")


def place_at(text: str, line: int) -> ScriptPlace | None:
    """The function and binding of a line, None outside of all functions."""
    for function in _functions(text):
        if _first_line(function) <= line <= (function.end_lineno or 0):
            return ScriptPlace(function.name, _binding_at(function, line))
    return None


def line_of(text: str, place: ScriptPlace) -> int | None:
    """The line where a binding is, else that of its function; None where that is not there."""
    for function in _functions(text):
        if function.name == place.function:
            found = (node.lineno for node in _statements(function) if _name(node) == place.binding)
            return next(found, function.lineno)
    return None


def span_of_line(source: Source, line: int) -> Span:
    """The span of what is written in a line."""
    written = source.line(line)
    start = source.offset(line, len(written) - len(written.lstrip()) + 1)
    return source.between(start, source.offset(line, len(written) + 1))


def _functions(text: str) -> Iterator[ast.FunctionDef]:
    """The functions of a printed module, or the one that is printed alone."""
    for node in ast.parse(text).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        yield from (item for item in inner if isinstance(item, ast.FunctionDef))


def _first_line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(d.lineno for d in function.decorator_list)])


def _statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The statements in a function, in the order of the script but for what is nested."""
    return (node for node in ast.walk(function) if isinstance(node, ast.stmt))


def _binding_at(function: ast.FunctionDef, line: int) -> str:
    around = [
        node
        for node in _statements(function)
        if node is not function and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return _name(max(around, key=lambda node: node.lineno)) if around else ""


def _name(node: ast.stmt) -> str:
    """The variable that a statement defines, or `return`."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.FunctionDef(name=name):
            return name
        case ast.Return():
            return "return"
    return ""

"""Finding the text of a decorated definition, in the user's own file or notebook cell.

The whole file is read and parsed once (cached by its text), and the definition is taken out of its
tree: every line and column is the user's own, and nothing dedents text or adds offsets.
"""

from __future__ import annotations

import ast
import linecache
from collections import OrderedDict
from functools import cached_property
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple, TypeAlias

from relaxscript.errors import Diagnostic, DiagnosticError, Source, Span
from relaxscript.script.pause import collector_paused

__all__ = ["Definition", "definition_of_class", "definition_of_function", "parse_text"]

AnyDefinition: TypeAlias = "ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef"


class Definition(NamedTuple):
    """A definition as it stands in its source, among all others of the file by their names."""

    source: Source
    node: AnyDefinition
    others: dict[str, list[AnyDefinition]]


class _Parsed:
    """A text with its tree; an index of its definitions is made when one is looked for."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self.source = source
        self.tree = tree

    @cached_property
    def definitions(self) -> dict[str, list[AnyDefinition]]:
        return _definitions(self.tree)


# A notebook re-runs cells and a test file defines hundreds of functions: the last few texts stay,
# each with an index of its definitions, so that a file is read and walked once.
_PARSED: OrderedDict[tuple[str, str], _Parsed] = OrderedDict()
_KEPT = 16


def parse_text(filename: str, text: str) -> tuple[Source, ast.Module]:
    """The source and its tree; a syntax error of the text becomes a diagnostic."""
    parsed = _parsed(filename, text)
    return parsed.source, parsed.tree


def _parsed(filename: str, text: str) -> _Parsed:
    key = (filename, text)
    found = _PARSED.get(key)
    if found is None:
        found = _PARSED[key] = _read(filename, text)
        while len(_PARSED) > _KEPT:
            _PARSED.popitem(last=False)
    return found


def _read(filename: str, text: str) -> _Parsed:
    source = Source(filename, text)
    try:
        with collector_paused():
            tree = ast.parse(text, filename)
    except SyntaxError as error:
        raise DiagnosticError(_syntax_error(source, error)) from None
    except ValueError as error:  # half a surrogate pair, and before Python 3.12 a null byte
        refused = SyntaxError(str(error))
        raise DiagnosticError(_syntax_error(source, refused)) from None
    except (RecursionError, MemoryError):
        deep = Diagnostic("RX0113", "this is nested too deeply for Python to parse", source.whole)
        raise DiagnosticError(deep) from None
    return _Parsed(source, tree)


def _definitions(tree: ast.Module) -> dict[str, list[AnyDefinition]]:
    """Every definition by its name, outer ones before inner ones."""
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


def _syntax_error(source: Source, error: SyntaxError) -> Diagnostic:
    line = max(error.lineno or 1, 1)
    column = max(error.offset or 1, 1)
    end_line = max(error.end_lineno or line, line)
    end_column = error.end_offset or 0
    if end_line == line:
        end_column = max(end_column, column + 1)
    last = len(source.line(min(end_line, len(source.lines)))) + 1
    end_column = max(min(end_column, last), 1)
    if end_line == line:
        column = max(min(column, end_column - 1), 1)
    span = Span(source, line, column, end_line, end_column)
    return Diagnostic("RX0113", f"this is not Python: {error.msg}", span)


def definition_of_function(function: FunctionType) -> Definition:
    """The definition of a Python function; raises RX0111 when its source cannot be found."""
    code = function.__code__
    return _find(code.co_filename, code.co_firstlineno, function.__name__, function.__globals__)


def definition_of_class(cls: type, frame: FrameType | None) -> Definition:
    """The definition of a class that a decorator has just been given; `frame` is the caller's."""
    code = _member_code(cls)
    if code is not None:
        scope = frame.f_globals if frame is not None else {}
        return _find(code.co_filename, code.co_firstlineno, cls.__name__, scope)
    if frame is None:
        raise DiagnosticError(_not_found(cls.__name__, "<unknown>"))
    line = getattr(cls, "__firstlineno__", frame.f_lineno)
    return _find(frame.f_code.co_filename, line, cls.__name__, frame.f_globals)


def _member_code(cls: type) -> CodeType | None:
    for member in vars(cls).values():
        plain = getattr(member, "__func__", member)
        if isinstance(plain, FunctionType) and plain.__qualname__.startswith(cls.__qualname__):
            return plain.__code__
        code = getattr(member, "__relaxscript_code__", None)
        if isinstance(code, CodeType):
            return code
    return None


def _find(filename: str, line: int, name: str, scope: dict[str, Any]) -> Definition:
    # A file may have changed since Python read it last, in a notebook that reloads, say.
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, scope))
    if not text:
        raise DiagnosticError(_not_found(name, filename))
    parsed = _parsed(filename, text)
    source, definitions = parsed.source, parsed.definitions
    best: AnyDefinition | None = None
    for node in definitions.get(name, ()):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        if first <= line <= (node.end_lineno or node.lineno):
            best = node
    if best is None and len(definitions.get(name, ())) == 1:
        (best,) = definitions[name]
    if best is None:
        raise DiagnosticError(_not_found(name, filename))
    return Definition(source, best, definitions)


def _not_found(name: str, filename: str) -> Diagnostic:
    where = {
        "<stdin>": "it was typed at a prompt that does not keep its source",
        "<string>": "it was executed from a string",
    }.get(filename, f"the source of `{filename}` cannot be read")
    return Diagnostic(
        "RX0111",
        f"the source of `{name}` cannot be found: {where}",
        None,
        help="put the definition in a file, or parse its text with `relaxscript.from_source(text)`",
    )

"""The syntax at a place of a script, and its value.

Start reading at `found_at`. The parser has observed the value of nearly every expression; of names
that it binds, and of arguments that it read on a shorter way, the value is found here.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from relaxscript.errors import Source, Span
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import BaseFunc, Call, Expr
from relaxscript.script.names.members import is_namespace
from relaxscript.script.parser.diagnostics import UNKNOWN
from relaxscript.script.parser.observer import Observed
from relaxscript.script.parser.relax_functions.context import RelaxContext
from relaxscript.script.parser.script_context import ScriptContext

from .analysis import Analysis, ReadDefinition
from .documents import Place

__all__ = ["FoundSyntax", "found_at", "is_known", "path_at", "word_at"]

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class FoundSyntax:
    """A piece of syntax with its value; `path` leads to it from its definition inwards."""

    source: Source
    definition: ReadDefinition
    path: tuple[ast.AST, ...]
    observed: Observed | None

    @property
    def node(self) -> ast.AST:
        """The piece of syntax."""
        return self.path[-1]

    @property
    def span(self) -> Span:
        """Its place."""
        return self.source.name_span(self.node)

    @property
    def parent(self) -> ast.AST | None:
        """The syntax that it is a part of."""
        return self.path[-2] if len(self.path) > 1 else None


def found_at(analysis: Analysis, place: Place) -> FoundSyntax | None:
    """The innermost piece of syntax at a place that has a value; none outside of scripts."""
    definition = analysis.definition_at(place[0])
    if definition is None:
        return None
    path = path_at(analysis.source, definition.node, place)
    for end in range(len(path), 0, -1):
        if isinstance(path[end - 1], ast.stmt) and not isinstance(path[end - 1], Function):
            break
        observed = _value(analysis.source, definition, path[:end], place)
        if observed is not None and is_known(observed.value):
            return FoundSyntax(analysis.source, definition, tuple(path[:end]), observed)
    return FoundSyntax(analysis.source, definition, tuple(path), None) if path else None


def is_known(value: Any) -> bool:
    """True unless nothing is known of a value."""
    return value is not UNKNOWN and value is not None


# ---------------------------------------------------------------- syntax at a place


def path_at(source: Source, node: ast.AST, place: Place) -> list[ast.AST]:
    """From a definition to the innermost node at a place; a name reaches to just behind it."""
    line, column = place
    at = line, len(source.line(line)[: column - 1].encode("utf-8", "surrogatepass"))
    path = [node]
    while True:
        children = list(_placed_children(path[-1]))
        inside = [child for child in children if _start(child) <= at < _end(child)]
        inside = inside or [child for child in children if _start(child) <= at <= _end(child)]
        if not inside:
            return path
        path.append(inside[-1])


def _placed_children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that have a place, those of parts without one as well."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed_children(child)


def _start(node: Any) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", None) or []
    return min((each.lineno, each.col_offset) for each in [node, *decorators])


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


def word_at(source: Source, place: Place) -> str:
    """The identifier at a place or just before it, as Python takes it."""
    line, at = source.line(place[0]), place[1] - 1
    start = end = min(at, len(line))
    while start > 0 and _is_part(line[start - 1]):
        start -= 1
    while end < len(line) and _is_part(line[end]):
        end += 1
    return unicodedata.normalize("NFKC", line[start:end])


def _is_part(letter: str) -> bool:
    return f"a{letter}".isidentifier()


# ---------------------------------------------------------------- values


def _value(
    source: Source, definition: ReadDefinition, path: Sequence[ast.AST], place: Place
) -> Observed | None:
    """The value of the last node of a path."""
    node, values = path[-1], definition.observer.values
    match node:
        case ast.FunctionDef() if not _holds(source.name_span(node), place):
            return None
        case ast.arg() | ast.Name(ctx=ast.Store()) | ast.FunctionDef():
            return _bound_value(source, definition, path)
        case ast.Constant(value=str()):
            return _dimension_at(definition, path, word_at(source, place))
        case ast.Constant() | ast.Tuple() | ast.List():
            whole = values.get(node)
            return whole if whole is not None and isinstance(whole.value, Expr) else None
        case ast.Name():
            known = values.get(node) or _operand(definition, path)
            return known or _named(definition, path, node.id)
        case ast.Attribute():
            return values.get(node) or _member(definition, node)
    return values.get(node)


def _holds(span: Span, place: Place) -> bool:
    return span.start <= place <= span.end


def _bound_value(
    source: Source, definition: ReadDefinition, path: Sequence[ast.AST]
) -> Observed | None:
    """The value of a name where it is bound."""
    node: Any = path[-1]
    name: str = node.arg if isinstance(node, ast.arg) else getattr(node, "id", "") or node.name
    if isinstance(node, ast.FunctionDef):
        return _function(definition, path, name) or bound_at(source, definition, node)
    found = bound_at(source, definition, node) or _bound_by(definition, path, name)
    if found is not None:
        return found
    parent = path[-2] if len(path) > 1 else None
    if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is not None:
        assigned = definition.observer.values.get(parent.value)
        if assigned is not None and is_known(assigned.value):
            return assigned
    function = next((n for n in reversed(path) if isinstance(n, Function)), None)
    cx = context_of(definition, function)
    known = None if cx is None else _dimension(cx, name)
    return known or _used_as(definition, path, name)


def bound_at(source: Source, definition: ReadDefinition, node: ast.AST) -> Observed | None:
    """The value of a name that stands in a place: the variable that has its span."""
    found = definition.bound_places.get(source.name_span(node).start)
    return found[-1] if found else None


def _bound_by(definition: ReadDefinition, path: Sequence[ast.AST], name: str) -> Observed | None:
    """The value that the innermost statement of a path gives a name."""
    statement = next((n for n in reversed(path) if isinstance(n, ast.stmt)), None)
    for bound in definition.observer.bound[::-1]:
        if bound.statement is statement and bound.name == name:
            return bound.observed
    return None


def _used_as(definition: ReadDefinition, path: Sequence[ast.AST], name: str) -> Observed | None:
    """The value that a name has where its function first uses it."""
    function = next((n for n in reversed(path) if isinstance(n, Function)), definition.node)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name:
            found = definition.observer.values.get(node)
            if found is not None:
                return found
    return None


def _function(definition: ReadDefinition, path: Sequence[ast.AST], name: str) -> Observed | None:
    """A function by itself, or one of a module under its name."""
    function, contexts = definition.script.value, definition.observer.contexts
    if len(path) == 1 and isinstance(function, BaseFunc) and contexts:
        return Observed(function, contexts[-1])
    if len(path) != 2 or not isinstance(path[0], ast.ClassDef):
        return None
    for cx in definition.observer.contexts:
        module = getattr(cx, "module", None)
        if module is not None and name in module.global_vars:
            return Observed(module.global_vars[name], cx)
    return None


def _operand(definition: ReadDefinition, path: Sequence[ast.AST]) -> Observed | None:
    """An argument of a call whose value is known, in the place of a name."""
    call = path[-2] if len(path) > 1 else None
    observed = definition.observer.values.get(call) if isinstance(call, ast.Call) else None
    if observed is None or not isinstance(observed.value, Call) or not isinstance(call, ast.Call):
        return None
    args = observed.value.args
    if path[-1] in call.args and len(args) == len(call.args):
        return Observed(args[call.args.index(path[-1])], observed.cx)
    return None


def _named(definition: ReadDefinition, path: Sequence[ast.AST], name: str) -> Observed | None:
    """The value of a name by what was bound before, or around the definition."""
    line = path[-1].lineno  # type: ignore[attr-defined]
    function = next((n for n in reversed(path) if isinstance(n, Function)), None)
    first = 0 if function is None else function.lineno
    for bound in definition.observer.bound[::-1]:
        span = getattr(bound.observed.value, "span", None)
        if bound.name == name and span is not None and first <= span.line <= line:
            return bound.observed
    cx = context_of(definition, function)
    if cx is None:
        return None
    for names in (getattr(cx, "dims", {}), cx.names, *cx.environment.scopes):
        if name in names:
            return Observed(names[name], cx)
    return None


def context_of(definition: ReadDefinition, function: ast.AST | None) -> ScriptContext | None:
    """The context in which a function was read, the outermost one where there is none."""
    contexts = definition.observer.contexts
    own = (cx for cx in contexts if function is not None and is_of(cx, function))
    return next(own, contexts[0] if contexts else None)


def is_of(cx: ScriptContext, function: ast.AST) -> bool:
    """True if a context is that of a function, or of one around it."""
    node = getattr(cx, "definition", None)
    if not isinstance(node, Function) or not isinstance(function, Function):
        return False
    return node.lineno <= function.lineno <= (node.end_lineno or node.lineno)


def _member(definition: ReadDefinition, node: ast.Attribute) -> Observed | None:
    """`R.add`, which is looked up once for several uses."""
    owner = node.value
    if isinstance(owner, ast.Attribute):
        found = definition.observer.values.get(owner) or _member(definition, owner)
    elif isinstance(owner, ast.Name):
        contexts = definition.observer.contexts
        scopes = contexts[0].environment.scopes if contexts else ()
        known = next((scope[owner.id] for scope in scopes if owner.id in scope), None)
        found = None if known is None else Observed(known, contexts[0])
    else:
        return None
    if found is None or not is_namespace(found.value):
        return None
    value = getattr(found.value, node.attr, None) if node.attr in dir(found.value) else None
    return None if value is None else Observed(value, found.cx)


def _dimension_at(
    definition: ReadDefinition, path: Sequence[ast.AST], word: str
) -> Observed | None:
    """The dimension that a string names, `"n"` or `"n + 1"`, at a word of it."""
    function = next((n for n in reversed(path) if isinstance(n, Function)), None)
    cx = context_of(definition, function)
    return None if cx is None else _dimension(cx, word)


def _dimension(cx: ScriptContext, name: str) -> Observed | None:
    """The dimension of a name; those of PrimFuncs are names like others."""
    dims = cx.dims if isinstance(cx, RelaxContext) else cx.names
    dim = dims.get(name)
    return Observed(dim, cx) if isinstance(dim, PrimVar) else None

"""The place where a name is defined: a variable, a function of the module, a dimension, a constant.

Operators and other names of `I`, `R` and `T` are defined nowhere in a file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from relaxscript.errors import Source, Span
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import GlobalVar, Var
from relaxscript.ir.tir import Buffer

from .analysis import Analysis
from .documents import Place
from .lookup import FoundSyntax, found_at, path_at

__all__ = ["definition_of"]

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def definition_of(analysis: Analysis, place: Place) -> Span | None:
    """The place where a name is defined; None where that is in no file, or unknown."""
    source, tree = analysis.source, analysis.read.tree
    found = found_at(analysis, place)
    if found is not None and found.observed is not None:
        span = _place_of_value(found)
        if span is not None:
            return span
    if tree is None:
        return None
    path = path_at(source, tree, place)
    node = path[-1]
    if not isinstance(node, ast.Name):
        return None
    for scope in [node for node in reversed(path) if isinstance(node, Scope)]:
        inner = scope is next(n for n in reversed(path) if isinstance(n, Scope))
        if isinstance(scope, ast.ClassDef) and not inner:
            continue  # functions do not see the names of their class
        bound = [span for name, span in _bound_in(source, scope) if name == node.id]
        before = [span for span in bound if span.start <= place]
        if bound:
            return before[-1] if before else bound[0]
    return None


def _place_of_value(found: FoundSyntax) -> Span | None:
    """The place that a value carries: of functions of the module, variables and dimensions."""
    source, observed = found.source, found.observed
    value = None if observed is None else observed.value
    if isinstance(value, GlobalVar):
        functions = (n for n in ast.walk(found.definition.node) if isinstance(n, ast.FunctionDef))
        names = _names_of(found, value)
        own = next((n for n in functions if n.name in names), None)
        return None if own is None else source.name_span(own)
    if isinstance(value, (Buffer, PrimVar, Var)):
        span = getattr(value, "span", None)
        if span is not None and span.filename == source.filename:
            return _declared_name(found, Span(source, *span.start, *span.end))
    return None


def _declared_name(found: FoundSyntax, span: Span) -> Span:
    """The name before the `=` where a span is on its right, as in `n = T.int64()`."""
    path = path_at(found.source, found.definition.node, span.start)
    assigned = next((node for node in reversed(path) if isinstance(node, ast.stmt)), None)
    name = getattr(found.node, "id", None)
    if not isinstance(assigned, ast.Assign) or name is None:
        return span
    targets = (node for target in assigned.targets for node in ast.walk(target))
    named = (n for n in targets if isinstance(n, ast.Name) and n.id == name)
    target = next(named, None)
    return span if target is None else found.source.span(target)


def _names_of(found: FoundSyntax, value: GlobalVar) -> set[str]:
    """The names that a function has in its class: that of the script, that of the program."""
    module = getattr(found.observed.cx if found.observed else None, "module", None)
    known = {} if module is None else module.global_vars
    return {value.name_hint, *(name for name, var in known.items() if var is value)}


def _bound_in(source: Source, scope: Scope) -> Iterator[tuple[str, Span]]:
    """The names that a scope binds, each with its place, in the order of the text."""
    arguments = getattr(scope, "args", None)
    if arguments is not None:
        for each in ast.walk(arguments):
            if isinstance(each, ast.arg):
                yield each.arg, source.name_span(each)
    pending: list[ast.AST] = list(reversed(_body(scope)))
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, source.name_span(node)
            case ast.ClassDef(name=name):
                yield name, source.name_span(node)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name, source.span(node)
            case ast.alias(name=name, asname=asname):
                yield asname or name.split(".")[0], source.span(node)
        if not isinstance(node, _SCOPES):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def _body(scope: Scope) -> list[ast.AST]:
    return [scope.body] if isinstance(scope, ast.Lambda) else list(scope.body)

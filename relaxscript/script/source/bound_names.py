"""The names that a statement binds, read from its syntax."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, TypeAlias

__all__ = ["assigned_names", "assigned_targets", "last_targets", "names_inside"]


def assigned_targets(statement: ast.stmt) -> list[ast.Name]:
    """The names that a statement assigns, as syntax."""
    while isinstance(statement, ast.If):
        statement = (statement.orelse or statement.body)[-1]
    match statement:
        case ast.Assign(targets=targets):
            pending: list[ast.expr] = list(targets)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            pending = [target]
        case ast.With(body=body):
            return [name for inner in body for name in assigned_targets(inner)]
        case _:
            return []
    found: list[ast.Name] = []
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.Name):
            found.append(node)
        elif isinstance(node, (ast.Tuple, ast.List)):
            pending = [*node.elts, *pending]
        elif isinstance(node, ast.Starred):
            pending = [node.value, *pending]
    return found


def assigned_names(statement: ast.stmt) -> list[str]:
    """The names that a statement binds."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    return [target.id for target in assigned_targets(statement)]


def names_inside(statement: ast.stmt) -> list[str]:
    """Every name that a statement binds somewhere, of whatever form of Python it is."""
    names = [statement.name] if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else []
    if names:
        return names
    found: list[str] = []
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                found.append(name)
            case ast.alias(name=name, asname=other):
                found.append(other or name.partition(".")[0])
    return list(dict.fromkeys(found))


Targets: TypeAlias = "dict[str, tuple[ast.Name, ...]]"


def last_targets(body: Sequence[ast.stmt]) -> Targets:
    """The syntax that may bind each name for the last time: several places where ways part."""
    last: Targets = {}
    for statement in body:
        # Nearly every statement of a long block is this or the first case.
        if statement.__class__ is ast.AnnAssign:
            target: Any = statement.target
            if target.__class__ is ast.Name:
                last[target.id] = (target,)
                continue
        match statement:
            case ast.Assign(targets=[ast.Name(id=name) as target]):
                last[name] = (target,)
            case ast.If(body=inner, orelse=orelse):
                _overwrite(last, last_targets(inner), last_targets(orelse))
            case ast.For(body=inner, orelse=orelse):
                # No step at all is a way, too.
                _overwrite(last, last_targets(inner), {})
                last.update(last_targets(orelse))
            case _:
                last.update({target.id: (target,) for target in assigned_targets(statement)})
    return last


def _overwrite(last: Targets, first: Targets, second: Targets) -> None:
    """The names after one of two ways; a name that a way does not bind keeps what it had."""
    for name in {**first, **second}:
        before = last.get(name, ())
        last[name] = (*first.get(name, before), *second.get(name, before))

"""Which names a statement binds, read from its syntax."""

from __future__ import annotations

import ast

__all__ = ["assigned_names", "assigned_targets", "names_inside"]


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
    found = [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return list(dict.fromkeys(found))

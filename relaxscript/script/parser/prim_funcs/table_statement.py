"""Statements of `T` that their row in the table describes whole: read, checked and added."""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.ir import prim
from relaxscript.script.names.statement import ROWS
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.names.tir_values import builder_argument
from relaxscript.tir_builder import TIRError

from .buffer import dtype_of
from .call import Places, argument_nodes
from .context import TirContext
from .scalar import check_value

__all__ = ["add_table_statement", "arguments_of", "bind_table_statement", "places_of"]


def places_of(cx: TirContext, form: StmtForm, node: ast.expr) -> Places:
    """The syntax of the arguments of a statement; one held by Python is placed at its use."""
    return argument_nodes(form.maker, node) if isinstance(node, ast.Call) else Places(node)


def arguments_of(cx: TirContext, form: StmtForm, places: Places) -> dict[str, Any]:
    """The arguments of a statement as the builder takes them; a default dtype is left to it."""
    found: dict[str, Any] = {}
    for name, value in form.arguments.items():
        if name == "dtype" and name not in places:
            continue
        check_values(cx, value, places[name])
        if name == "dtype":
            found[name] = dtype_of(cx, value, places[name])
            continue
        try:
            found[name] = builder_argument(name, value)
        except TIRError as error:
            raise cx.refuse(error, places[name], {}) from None
    return found


def check_values(cx: TirContext, value: Any, node: ast.expr) -> None:
    """Refuse new variables where values should be, in lists as well."""
    if not isinstance(value, (list, tuple)):
        check_value(cx, value, node)
        return
    nodes = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    for item, at in zip(value, nodes if len(nodes) == len(value) else [node] * len(value)):
        check_values(cx, item, at)


def add_table_statement(cx: TirContext, form: StmtForm, node: ast.expr) -> Any:
    """A statement by itself; what it gives has no name in the script."""
    places = places_of(cx, form, node)
    arguments = arguments_of(cx, form, places)
    with cx.builder_at(node, places) as builder:
        return ROWS[form.maker].build(builder, **arguments)


def bind_table_statement(
    cx: TirContext, target: ast.Name, form: StmtForm, node: ast.expr, statement: ast.AST
) -> prim.Var:
    """The variable that a statement gives, under its name."""
    places = places_of(cx, form, node)
    arguments = arguments_of(cx, form, places)
    with cx.builder_at(statement, {**places, "name": target}) as builder:
        return ROWS[form.maker].build(builder, **arguments, name=target.id)  # type: ignore[no-any-return]

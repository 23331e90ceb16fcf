"""Statements of Relax: what each form of Python's means.

statement = binding | call | "with" "R.dataflow()" ":" block
          | branch | loop | local function | "pass" | docstring
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.unsupported_syntax import STATEMENTS, first_word

from .binding import no_name, parse_annotated, parse_assign, parse_assign_all, parse_effect
from .context import RelaxContext
from .control import leave_step, parse_for, parse_if
from .dataflow import parse_with, stray_output
from .function import parse_local_function
from .result import parse_return

__all__ = ["parse_stmt"]


def parse_stmt(cx: RelaxContext, node: ast.stmt) -> None:
    if cx.returned:
        raise cx.error(
            node, "RX0105", "nothing can follow `return`",
            help="a function returns once, at its end",
        )  # fmt: skip
    rule = _RULES.get(node.__class__)
    if rule is None:
        raise unsupported_statement(cx, node)
    rule(cx, node)


def parse_assignment(cx: RelaxContext, node: ast.Assign) -> None:
    """One name and a value, or several targets."""
    targets = node.targets
    target = targets[0]
    if len(targets) == 1 and isinstance(target, ast.Name):
        parse_assign(cx, target, node.value)
    else:
        parse_assign_all(cx, targets, node.value)


def parse_annotation_of_name(cx: RelaxContext, node: ast.AnnAssign) -> None:
    """A name with its annotation; nothing else is annotated."""
    if not isinstance(node.target, ast.Name):
        raise unsupported_statement(cx, node)
    parse_annotated(cx, node, node.target, node.annotation, node.value)


def parse_expression(cx: RelaxContext, node: ast.Expr) -> None:
    """A docstring, or a call for its effect."""
    match node.value:
        case ast.Constant(value=str()):
            return
        case ast.Call(func=ast.Attribute(attr="output" | "outputs")) as call:
            raise stray_output(cx, call)
    parse_effect(cx, node.value)


def parse_block(cx: RelaxContext, node: ast.With) -> None:
    """A dataflow block, which is opened alone."""
    if len(node.items) != 1:
        raise unsupported_statement(cx, node)
    opened = node.items[0]
    parse_with(cx, node, opened.context_expr, opened.optional_vars)


def parse_augmented(cx: RelaxContext, node: ast.AugAssign) -> None:
    """`x += y` is `x = x + y`; a correction of the left operand writes it so."""
    target = node.target
    if not isinstance(target, ast.Name):
        raise no_name(cx, target)
    left = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    with cx.state(augmented=node):
        parse_assign(cx, target, ast.copy_location(ast.BinOp(left, node.op, node.value), node))


def unsupported_statement(cx: RelaxContext, node: ast.stmt) -> Failed:
    """Record a statement of Python that Relax does not have, with what to write instead."""
    name, help = STATEMENTS.get(type(node), (f"`{type(node).__name__}`", None))
    place = first_word(cx.source, node) or node
    return cx.error(place, "RX0104", f"{name} cannot be used in a Relax function", help=help)


# What each form of the grammar above means.
_RULES: Mapping[type[ast.stmt], Callable[[RelaxContext, Any], None]] = {
    ast.AnnAssign: parse_annotation_of_name,
    ast.Assign: parse_assignment,
    ast.AugAssign: parse_augmented,
    ast.Break: leave_step,
    ast.Continue: leave_step,
    ast.Expr: parse_expression,
    ast.For: parse_for,
    ast.FunctionDef: parse_local_function,
    ast.If: parse_if,
    ast.Pass: lambda cx, node: None,
    ast.Return: lambda cx, node: parse_return(cx, node, node.value),
    ast.With: parse_block,
}

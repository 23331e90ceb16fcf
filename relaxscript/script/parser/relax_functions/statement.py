"""Statements of Relax: what each form of Python's means.

statement = binding | call | "with" "R.dataflow()" ":" block
          | branch | loop | local function | "pass" | docstring
"""

from __future__ import annotations

import ast

from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.unsupported_syntax import STATEMENTS, first_word

from .binding import no_name, parse_annotated, parse_assign, parse_assign_all, parse_effect
from .context import RelaxContext
from .control import leave_step, parse_for, parse_if
from .dataflow import parse_with, stray_output
from .function import parse_local_function
from .result import parse_return

__all__ = ["parse_stmt"]


# One case for each form of the grammar above.
def parse_stmt(cx: RelaxContext, node: ast.stmt) -> None:  # noqa: C901
    if cx.returned:
        raise cx.error(
            node, "RX0105", "nothing can follow `return`",
            help="a function returns once, at its end",
        )  # fmt: skip
    match node:
        case ast.Assign(targets=[ast.Name() as target], value=value):
            parse_assign(cx, target, value)
        case ast.Assign(targets=targets, value=value):
            parse_assign_all(cx, targets, value)
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=value):
            parse_annotated(cx, node, target, annotation, value)
        case ast.AugAssign():
            parse_augmented(cx, node)
        case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
            return
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="output" | "outputs")) as call):
            raise stray_output(cx, call)
        case ast.Expr(value=value):
            parse_effect(cx, value)
        case ast.With(items=[ast.withitem(context_expr=block, optional_vars=name)]):
            parse_with(cx, node, block, name)
        case ast.If():
            parse_if(cx, node)
        case ast.For():
            parse_for(cx, node)
        case ast.Break() | ast.Continue():
            leave_step(cx, node)
        case ast.FunctionDef():
            parse_local_function(cx, node)
        case ast.Return(value=value):
            parse_return(cx, node, value)
        case _:
            raise unsupported_statement(cx, node)


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

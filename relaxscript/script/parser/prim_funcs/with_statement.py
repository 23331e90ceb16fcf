"""`with` statements of PrimFuncs: blocks, loops, choices, and what lasts to the end of one."""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.tir import Stmt
from relaxscript.script.names import tir_statements
from relaxscript.script.names.statement import ROWS
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.expression import parse_expr
from relaxscript.tir_builder import OpenBlock, Scope, describe

from .assign import add_let, bind_target
from .block import parse_init
from .body import parse_statements, parse_suite, parse_suite_in
from .buffer import BufferSyntax
from .context import TirContext
from .effect import SCOPES, add_effect
from .loop import LOOPS, parse_if_scope, parse_loops, ranges_of_loops
from .scalar import to_scalar
from .table_statement import check_values

__all__ = ["parse_with"]


# statement = "with" scopes ":" body
def parse_with(cx: TirContext, node: ast.With) -> None:
    """Several scopes in one `with`, each inside the one before."""
    if len(node.items) > 1:
        inner = ast.copy_location(ast.With(items=node.items[1:], body=node.body), node)
        node = ast.copy_location(ast.With(items=node.items[:1], body=[inner]), node)
    try:
        parse_scope(cx, parse_expr(cx, node.items[0].context_expr), node)
    except Failed:
        parse_unknown_scope(cx, node)


def parse_unknown_scope(cx: TirContext, node: ast.With) -> None:
    """The scope is unknown; what is wrong inside it is still told."""
    if node.body[0] in cx.visited:
        return
    target, unknown = node.items[0].optional_vars, OpenBlock(cx.builder, "unknown")
    with cx.scope(), Scope(cx.builder, "unknown", lambda statements: None, block=unknown):
        if target is not None:
            cx.forget_names(target)
        parse_suite(cx, node.body)


def parse_scope(cx: TirContext, value: Any, node: ast.With) -> None:
    """A `with` of one scope, by what it opens."""
    call, target = node.items[0].context_expr, node.items[0].optional_vars
    maker = value.maker if isinstance(value, StmtForm) else None
    if maker in SCOPES:
        if target is not None:
            cx.error(target, "RX0501", f"`{value.name}` gives no value")
        _SCOPES.get(maker, parse_table_scope)(cx, value, node)
    elif maker in LOOPS:
        loops = ranges_of_loops(cx, value, call)
        parse_loops(cx, loops, value, target, node, call)
    elif isinstance(value, (StmtForm, BufferSyntax)):
        parse_open_scope(cx, value, node)
    else:
        raise cx.error(
            call, "RX0501", f"`with` cannot open {describe(value)}",
            help='it opens scopes such as `T.block("name")`, `T.init()` and `T.grid(...)`',
        )  # fmt: skip


def parse_table_scope(cx: TirContext, form: StmtForm, node: ast.With) -> None:
    """A scope that its row in the table describes whole: a block, or a loop by a condition."""
    call = node.items[0].context_expr
    for argument in form.arguments.values():
        check_values(cx, argument, call)
    with cx.builder_at(call) as builder:
        builder.span = cx.span(node)
        scope = ROWS[form.maker].build(builder, **form.arguments)
    parse_suite_in(cx, scope, node.body, call)


def parse_open_scope(cx: TirContext, value: Any, node: ast.With) -> None:
    """A statement that usually lasts to the end of its suite, with an end of its own."""
    call, target = node.items[0].context_expr, node.items[0].optional_vars
    with cx.scope(), cx.builder.scope():
        if target is not None:
            bind_target(cx, target, value, call, node)
        elif isinstance(value, StmtForm) and value.maker is tir_statements.LetStmt:
            add_declared_let(cx, value, call, node)
        else:
            add_effect(cx, value, call)
            if all(isinstance(made, Stmt) for made in cx.builder.items):
                raise cx.error(call, "RX0501", f"`{value.name}` opens no scope",
                               help=f"write `{cx.written(call)}` on its own line")  # fmt: skip
        parse_statements(cx, node.body)


def add_declared_let(cx: TirContext, form: StmtForm, node: ast.expr, statement: ast.stmt) -> None:
    """`with T.LetStmt(value, var=x):` for a variable that was declared before."""
    var = form.arguments["var"]
    if not isinstance(var, prim.Var):
        raise cx.error(node, "RX0501", "this variable has no name",
                         help="write `with T.LetStmt(value) as x:`")  # fmt: skip
    value = to_scalar(cx, form.arguments["value"], node)
    add_let(cx, var, value, statement)


# The scopes that need more than their row in the table.
_SCOPES = {tir_statements.init: parse_init, tir_statements.If: parse_if_scope}

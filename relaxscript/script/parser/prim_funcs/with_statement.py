"""`with` statements of PrimFuncs: blocks, loops, choices, and what lasts to the end of one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.tir import Stmt
from relaxscript.script.names import tir_statements
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.expression import parse_expr
from relaxscript.tir_builder import OpenBlock, Scope, describe

from .assign import bind_target, open_let
from .block import parse_block, parse_init
from .body import parse_statements, parse_suite
from .buffer import BufferSyntax
from .context import TirContext
from .effect import run_effect
from .loop import LOOPS, parse_if_scope, parse_loops, parse_while_scope, ranges_of_loops
from .scalar import to_scalar

__all__ = ["parse_with"]


# statement = "with" scopes ":" body
def parse_with(cx: TirContext, node: ast.With) -> None:
    """Several scopes in one `with`, each inside the one before."""
    parse_with_item(cx, node, node.items, node.body)


def parse_with_item(
    cx: TirContext, node: ast.With, items: Sequence[ast.withitem], body: Sequence[ast.stmt]
) -> None:
    item, rest = items[0], items[1:]
    inner: Sequence[ast.stmt] = body
    if rest:
        inner = [ast.copy_location(ast.With(items=list(rest), body=list(body)), node)]
    single = node if len(items) == 1 and items is node.items else ast.copy_location(
        ast.With(items=[item], body=list(body)), node)  # fmt: skip
    try:
        value = parse_expr(cx, item.context_expr)
        enter_scope(cx, value, single, item, inner)
    except Failed:
        read_unknown_scope(cx, item, inner)


def read_unknown_scope(cx: TirContext, item: ast.withitem, body: Sequence[ast.stmt]) -> None:
    """The scope is unknown; what is wrong inside it is still told."""
    if body[0] in cx.visited:
        return
    unknown = OpenBlock(cx.builder, "unknown")
    with cx.scope(), Scope(cx.builder, "unknown", lambda statements: None, block=unknown):
        if item.optional_vars is not None:
            cx.forget_names(item.optional_vars)
        parse_suite(cx, body)


def enter_scope(
    cx: TirContext, value: Any, node: ast.With, item: ast.withitem, body: Sequence[ast.stmt]
) -> None:
    call = item.context_expr
    maker = value.maker if isinstance(value, StmtForm) else None
    scoped = _SCOPES.get(maker)
    if scoped is not None and isinstance(value, StmtForm):
        if item.optional_vars is not None:
            cx.error(item.optional_vars, "RX0501", f"`{value.name}` gives no value")
        scoped(cx, value, node, body)
    elif maker in LOOPS or maker is tir_statements.grid:
        parse_loops(cx, ranges_of_loops(cx, value, call), value, item.optional_vars, node, body)
    elif isinstance(value, (StmtForm, BufferSyntax)):
        parse_open_scope(cx, value, node, item, body)
    else:
        raise cx.error(
            call, "RX0501", f"`with` cannot open {describe(value)}",
            help='it opens scopes such as `T.block("name")`, `T.init()` and `T.grid(...)`',
        )  # fmt: skip


def parse_open_scope(
    cx: TirContext, value: Any, node: ast.With, item: ast.withitem, body: Sequence[ast.stmt]
) -> None:
    """A statement that usually lasts to the end of its suite, with an end of its own."""
    with cx.scope(), cx.builder.scope():
        if item.optional_vars is not None:
            bind_target(cx, item.optional_vars, value, item.context_expr, node)
        elif isinstance(value, StmtForm) and value.maker is tir_statements.LetStmt:
            open_declared_let(cx, value, item.context_expr, node)
        else:
            run_effect(cx, value, item.context_expr)
            if all(isinstance(made, Stmt) for made in cx.builder.items):
                raise cx.error(
                    item.context_expr, "RX0501", f"`{value.name}` opens no scope",
                    help=f"write `{cx.written(item.context_expr)}` on its own line",
                )  # fmt: skip
        parse_statements(cx, body)


def open_declared_let(cx: TirContext, form: StmtForm, node: ast.expr, statement: ast.stmt) -> None:
    """`with T.LetStmt(value, var=x):` for a variable that was declared before."""
    var = form.arguments["var"]
    if not isinstance(var, prim.Var):
        raise cx.error(node, "RX0501", "this variable has no name",
                         help="write `with T.LetStmt(value) as x:`")  # fmt: skip
    value = to_scalar(cx, form.arguments["value"], node)
    open_let(cx, var, value, statement)


# What is done for each form that opens a scope.
_SCOPES: dict[Any, Callable[[TirContext, StmtForm, ast.With, Sequence[ast.stmt]], None]] = {
    tir_statements.block: parse_block,
    tir_statements.init: parse_init,
    tir_statements.While: parse_while_scope,
    tir_statements.If: parse_if_scope,
}

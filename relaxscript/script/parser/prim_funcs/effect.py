"""Statements of PrimFuncs that are expressions: effects, hints, assertions, attributes.

scalar | "T.evaluate(" scalar ")" | "T.buffer_store(...)" | "T.attr(...)" | "T.func_attr(...)"
| "T.Assert(...)" | "T.reads(...)" ... | "assert" scalar ["," string]
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.buffer_access import indices_of
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.tir import Buffer, Evaluate
from relaxscript.script.names import tir_statements
from relaxscript.script.names.statement import ROWS, Role, role_of
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.parser.expression import add_attributes, parse_expr
from relaxscript.tir_builder import describe

from .assign import add_store
from .block import make_attributes
from .buffer import BufferSyntax
from .call import argument_nodes, vstore
from .compute import add_realize
from .context import TirContext
from .loop import parse_condition
from .python_function import PYTHON_RANGE
from .scalar import indices_in_list, to_scalar
from .table_statement import add_table_statement

__all__ = ["add_effect", "is_effect", "parse_assert", "parse_expression_statement"]

# The forms that open a scope.
SCOPES = {tir_statements.block, tir_statements.init, tir_statements.While, tir_statements.If}


# statement = scalar | "T.evaluate(...)" | ...
def parse_expression_statement(cx: TirContext, node: ast.Expr) -> None:
    """A statement that is an expression."""
    cx.as_statement = node.value
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, type(...))):
        return
    add_effect(cx, parse_expr(cx, node.value), node.value)


def add_effect(cx: TirContext, value: Any, node: ast.expr) -> None:
    """A statement that is an expression."""
    match value:
        case None:
            return
        case StmtForm() if value.maker in EFFECTS and isinstance(node, ast.Call):
            EFFECTS[value.maker](cx, value, node)
        case bool() | int() | float() | prim.PrimExpr():
            cx.builder.add(Evaluate.make(to_scalar(cx, value, node), span=cx.span(node)))
        case StmtForm() if value.maker is PYTHON_RANGE or role_of(value) is Role.LOOPS:
            raise cx.error(node, "RX0501", f"`{value.name}` is what a loop goes over",
                             help=f"write `for i in {cx.written(node)}:`")  # fmt: skip
        case StmtForm() if value.maker in SCOPES:
            raise cx.error(node, "RX0501", f"`{value.name}` opens a scope",
                             help=f"write `with {cx.written(node)}:`")  # fmt: skip
        case StmtForm() | BufferSyntax():
            name = f"`{value.name}`" if isinstance(value, StmtForm) else "a buffer"
            raise cx.error(node, "RX0501", f"{name} needs a name here",
                             help=f"write `x = {cx.written(node)}`")  # fmt: skip
        case _:
            raise cx.error(node, "RX0501", f"{describe(value)} does nothing by itself",
                             help="a statement stores, loops, or calls something")  # fmt: skip


def is_effect(callee: Any) -> bool:
    """True if calls of a function are statements by themselves."""
    return any(callee is effect for effect in EFFECTS)


def add_func_attr(cx: TirContext, form: StmtForm, call: ast.Call) -> None:
    at = argument_nodes(form.maker, call)["attrs"]
    found = make_attributes(cx, form.arguments["attrs"], at)
    add_attributes(cx, cx.builder.attrs, found, at)


def add_launch_thread(cx: TirContext, form: StmtForm, call: ast.Call) -> None:
    """`T.launch_thread(tx, 32)` without a name of its own."""
    cx.fixed.setdefault(add_table_statement(cx, form, call), "a thread")


def add_buffer_store(cx: TirContext, form: StmtForm, call: ast.Call) -> None:
    places = argument_nodes(form.maker, call)
    if form.maker is vstore and isinstance(call.func, ast.Attribute):
        # The buffer is before the dot.
        places = argument_nodes(partial(vstore, form.arguments["buffer"]), call)
        places.update({"buffer": call.func.value, "indices": places["begin"]})
    buffer, indices = form.arguments["buffer"], form.arguments["indices"]
    if not isinstance(buffer, Buffer):
        raise cx.error(places["buffer"], "RX0501", f"this is {describe(buffer)}, not a buffer")
    found = indices_in_list(cx, buffer, indices, places["indices"])
    value = form.arguments["value"]
    if form.maker is vstore and found and isinstance(value, PrimExpr):
        # A vector is stored from the element on at which it begins.
        lanes = value.dtype.lanes if found[-1].dtype.lanes == 1 else 1
        found = indices_of(found, lanes // buffer.dtype.lanes)
    where = form.arguments["predicate"]
    if where is not None:
        where = to_scalar(cx, where, places["predicate"])
    add_store(cx, buffer, found, value, places["value"], places["buffer"], call, where)


# statement = "assert" scalar ["," string]
def parse_assert(cx: TirContext, node: ast.Assert) -> None:
    condition = parse_condition(cx, node.test)
    message: Any = "" if node.msg is None else parse_expr(cx, node.msg)
    match message:
        case ("RuntimeError", [*strings]) if all(isinstance(s, str) for s in strings):
            message = "".join(strings)  # as TVM 0.27 prints it
    if condition is not None:
        with cx.builder_at(node, {"message": node.msg or node}) as builder:
            builder.assert_holds(condition, message)


# The forms that are statements of their own; those named need more than their row in the table.
EFFECTS: dict[Any, Callable[[TirContext, StmtForm, ast.Call], Any]] = {
    **{
        maker: add_table_statement
        for maker, row in ROWS.items()
        if row.gives is None and row.role in (Role.ADDS, Role.HOLDS)
    },
    tir_statements.func_attr: add_func_attr,
    tir_statements.buffer_store: add_buffer_store,
    vstore: add_buffer_store,
    tir_statements.launch_thread: add_launch_thread,
    tir_statements.realize: add_realize,
}

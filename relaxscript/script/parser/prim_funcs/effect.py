"""Statements of PrimFuncs that are expressions: effects, hints, assertions, attributes.

scalar | "T.evaluate(" scalar ")" | "T.buffer_store(...)" | "T.attr(...)" | "T.func_attr(...)"
| "T.Assert(...)" | "T.reads(...)" ... | "assert" scalar ["," text]
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
from relaxscript.script.names import tir_compute, tir_forms
from relaxscript.script.names.tir_types import Form
from relaxscript.script.parser.expression import add_attributes, parse_expr
from relaxscript.tir_builder import counted, describe

from .assign import make_store
from .block import annotate_block, make_attributes, set_predicate, set_reads, set_writes
from .buffer import BufferSyntax
from .call import argument_nodes, vstore
from .compute import add_prefetch, make_iter_var, open_realize
from .context import TirContext
from .loop import LOOPS, parse_condition
from .scalar import to_condition, to_indices, to_scalar
from .thread import launch_thread_on

__all__ = ["parse_assert", "parse_expression_statement", "run_effect"]

# The forms that open a scope.
SCOPES = {tir_forms.block, tir_forms.init, tir_forms.While, tir_forms.If}


# statement = scalar | "T.evaluate(...)" | ...
def parse_expression_statement(cx: TirContext, node: ast.Expr) -> None:
    """A statement that is an expression."""
    cx.as_statement = node.value
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, type(...))):
        return
    run_effect(cx, parse_expr(cx, node.value), node.value)


def run_effect(cx: TirContext, value: Any, node: ast.expr) -> None:
    """A statement that is an expression."""
    match value:
        case None:
            return
        case Form() if value.maker in EFFECTS and isinstance(node, ast.Call):
            EFFECTS[value.maker](cx, value, node)
        case bool() | int() | float() | prim.PrimExpr():
            cx.builder.add(Evaluate.make(to_scalar(cx, value, node), span=cx.span(node)))
        case Form() if value.maker in LOOPS or value.maker is tir_forms.grid:
            raise cx.error(node, "RX0501", f"`{value.name}` is what a loop goes over",
                             help=f"write `for i in {cx.written(node)}:`")  # fmt: skip
        case Form() if value.maker in SCOPES:
            raise cx.error(node, "RX0501", f"`{value.name}` opens a scope",
                             help=f"write `with {cx.written(node)}:`")  # fmt: skip
        case Form() | BufferSyntax():
            name = f"`{value.name}`" if isinstance(value, Form) else "a buffer"
            raise cx.error(node, "RX0501", f"{name} needs a name here",
                             help=f"write `x = {cx.written(node)}`")  # fmt: skip
        case _:
            raise cx.error(node, "RX0501", f"{describe(value)} does nothing by itself",
                             help="a statement stores, loops, or calls something")  # fmt: skip


def add_func_attr(cx: TirContext, form: Form, call: ast.Call) -> None:
    at = argument_nodes(cx, form.maker, call)["attrs"]
    found = make_attributes(cx, form.arguments["attrs"], at)
    add_attributes(cx, cx.builder.attrs, found, at)


def launch_unnamed(cx: TirContext, form: Form, call: ast.Call) -> None:
    """`T.launch_thread(tx, 32)` without a name of its own."""
    launch_thread_on(cx, form, call)


def add_evaluate(cx: TirContext, form: Form, call: ast.Call) -> None:
    at = argument_nodes(cx, form.maker, call)["value"]
    value = to_scalar(cx, form.arguments["value"], at)
    cx.builder.add(Evaluate.make(value, span=cx.span(call)))


def add_buffer_store(cx: TirContext, form: Form, call: ast.Call) -> None:
    places = argument_nodes(cx, form.maker, call)
    if form.maker is vstore and isinstance(call.func, ast.Attribute):
        # The buffer stands before the dot.
        places = argument_nodes(cx, partial(vstore, form.arguments["buffer"]), call)
        places.update({"buffer": call.func.value, "indices": places["begin"]})
    buffer, indices = form.arguments["buffer"], form.arguments["indices"]
    if not isinstance(buffer, Buffer):
        raise cx.error(places["buffer"], "RX0501", f"this is {describe(buffer)}, not a buffer")
    given = list(indices) if isinstance(indices, (list, tuple)) else [indices]
    at = places["indices"]
    nodes = list(at.elts) if isinstance(at, (ast.List, ast.Tuple)) else [at] * len(given)
    if len(given) != buffer.ndim:
        takes = counted(buffer.ndim, "index", "indices")
        raise cx.error(at, "RX0503", f"`{buffer.name}` takes {takes}, not {len(given)}")
    found = to_indices(cx, buffer, given, nodes)
    value = form.arguments["value"]
    if form.maker is vstore and found and isinstance(value, PrimExpr):
        # A vector is stored from the element on at which it begins.
        lanes = value.dtype.lanes if found[-1].dtype.lanes == 1 else 1
        found = indices_of(found, lanes // buffer.dtype.lanes)
    made = make_store(cx, buffer, found, form.arguments["value"], places["value"], places["buffer"])
    predicate = form.arguments["predicate"]
    if predicate is not None:
        made = made.replace(predicate=to_scalar(cx, predicate, places["predicate"]))
    cx.builder.add(made.replace(span=cx.span(call)))


def open_attr(cx: TirContext, form: Form, call: ast.Call) -> None:
    """A hint about the statements after it."""
    places = argument_nodes(cx, form.maker, call)
    key, value = form.arguments["attr_key"], form.arguments["value"]
    if isinstance(key, str):
        value = to_scalar(cx, value, places["value"])
    node = form.arguments["node"]
    if isinstance(node, Form) and node.maker is tir_compute.iter_var:
        node = make_iter_var(cx, node, places["node"])
    with cx.making(call, places) as builder:
        builder.attr(node, key, value)


# statement = "assert" scalar ["," text]
def parse_assert(cx: TirContext, node: ast.Assert) -> None:
    condition = parse_condition(cx, node.test)
    message: Any = "" if node.msg is None else parse_expr(cx, node.msg)
    if condition is not None:
        with cx.making(node, {"message": node.msg or node}) as builder:
            builder.assert_holds(condition, message)


def open_assert(cx: TirContext, form: Form, call: ast.Call) -> None:
    places = argument_nodes(cx, form.maker, call)
    condition = to_condition(cx, form.arguments["condition"], places["condition"])
    with cx.making(call, places) as builder:
        builder.assert_holds(condition, form.arguments["message"])


# The forms that are statements of their own.
EFFECTS: dict[Any, Callable[[TirContext, Form, ast.Call], None]] = {
    tir_forms.reads: set_reads,
    tir_forms.writes: set_writes,
    tir_forms.where: set_predicate,
    tir_forms.block_attr: annotate_block,
    tir_forms.func_attr: add_func_attr,
    tir_forms.evaluate: add_evaluate,
    tir_forms.buffer_store: add_buffer_store,
    vstore: add_buffer_store,
    tir_forms.attr: open_attr,
    tir_forms.Assert: open_assert,
    tir_forms.launch_thread: launch_unnamed,
    tir_forms.realize: open_realize,
    tir_forms.prefetch: add_prefetch,
}

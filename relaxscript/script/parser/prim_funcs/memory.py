"""Buffers of the body of a PrimFunc and their memory.

    name "=" "T.match_buffer(" parameter | region "," shape ... ")" | name "=" "T.alloc_buffer(...)"
    | name "=" "T.decl_buffer(...)" | name "=" "T.allocate(...)" | name "=" "T.allocate_const(...)"

What is allocated by `T.alloc_buffer` belongs to the block; what the others begin lasts to the end
of the statements around them.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from relaxscript.errors import Diagnostic, Span
from relaxscript.ir import prim
from relaxscript.ir.tir import Buffer
from relaxscript.script.names import tir_statements
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.parser.expression import parse_expr
from relaxscript.tir_builder.operands import shape_of_region

from .buffer import BufferSyntax, dtype_of, make_buffer
from .context import TirContext
from .table_statement import places_of

__all__ = ["bind_buffer", "check_memory", "check_numbers", "make_buffer_of_form"]


def bind_buffer(
    cx: TirContext, target: ast.Name, syntax: BufferSyntax, statement: ast.stmt
) -> Buffer:
    """A buffer of the body: of a parameter, allocated, or over memory that exists."""
    span = cx.span(target)
    if syntax.maker is tir_statements.match_buffer:
        return bind_matched_buffer(cx, target, syntax, span)
    buffer = make_buffer(cx, target.id, syntax, span)
    if syntax.maker is tir_statements.alloc_buffer:
        return cx.builder.alloc_buffer(buffer)
    needs_memory = "data" not in syntax.nodes
    if syntax.maker is not tir_statements.decl_buffer and needs_memory:
        cx.homeless[buffer] = syntax.node
        return buffer
    with cx.builder_at(statement) as builder:
        return builder.decl_buffer(buffer, needs_memory)


def check_memory(cx: TirContext) -> None:
    """Every buffer has memory; it may be that of a `T.realize`."""
    for node in cx.homeless.values():
        help = "allocate it: `T.alloc_buffer(shape, dtype)`, or give `data=`"
        message = "this buffer has no memory"
        cx.report(Diagnostic("RX0501", message, cx.span(node), help=help))


def bind_matched_buffer(
    cx: TirContext, target: ast.Name, syntax: BufferSyntax, span: Span | None
) -> Buffer:
    """The buffer of a parameter, or of a region."""
    at = syntax.nodes["param"]
    source = parse_expr(cx, at)
    if isinstance(source, prim.Var) and "shape" not in syntax.nodes:
        name = cx.written(at)
        raise cx.error(
            syntax.node, "RX0501", f"the buffer of `{name}` needs a shape",
            help=f'write for example `T.match_buffer({name}, (n,), "float32")`',
        )  # fmt: skip
    with cx.builder_at(syntax.node, {"param": at}) as builder:
        builder.check_matched(source)
    known: dict[str, Any] = {}
    if not isinstance(source, prim.Var):
        whole = source if isinstance(source, Buffer) else source.buffer
        known = {"shape": shape_of_region(source), "dtype": whole.dtype}
    buffer = make_buffer(cx, target.id, syntax, span, known)
    with cx.builder_at(syntax.node, {"param": at}) as builder:
        return builder.match_buffer(source, buffer)


def check_numbers(cx: TirContext, form: StmtForm, node: ast.expr) -> None:
    """Refuse constants that Python cannot read as numbers."""
    places = places_of(cx, form, node)
    dtype = dtype_of(cx, form.arguments["dtype"], places["dtype"])
    if dtype.is_float or dtype.is_integer or dtype.is_bool:
        with cx.at(places["data"]):
            np.asarray(form.arguments["data"], dtype.numpy)


def make_buffer_of_form(cx: TirContext, form: StmtForm, node: ast.Attribute) -> Any:
    """The buffer that an object of Python asked for; it is made when it is first used."""
    known = cx.made_buffers.get(id(form))
    if known is None:
        values = {name: value for name, value in form.arguments.items() if value is not None}
        target = ast.copy_location(ast.Name(node.attr, ast.Store()), node)
        statement = ast.copy_location(ast.Pass(), node)
        syntax = BufferSyntax.of_values(form.maker, values, node)
        buffer = bind_buffer(cx, target, syntax, statement)
        known = cx.made_buffers[id(form)] = (form, buffer)
    return known[1]

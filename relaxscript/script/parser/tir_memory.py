"""Buffers of the body of a PrimFunc and their memory.

    name "=" "T.match_buffer(" parameter | region "," shape ... ")" | name "=" "T.alloc_buffer(...)"
    | name "=" "T.decl_buffer(...)" | name "=" "T.allocate(...)" | name "=" "T.allocate_const(...)"

What is allocated by `T.alloc_buffer` belongs to the block; what the others begin lasts to the end
of the statements around them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, Span
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import HANDLE, PointerType, PrimExpr, PrimType, const
from relaxscript.ir.tir import Buffer, BufferRegion
from relaxscript.script import tir_forms
from relaxscript.script.syntax import TIR_INT_DTYPE
from relaxscript.script.tir_types import Form
from relaxscript.tir_builder import counted, describe

from .expression import parse_expr
from .tir_block import make_attributes, match_region, region_of
from .tir_buffer import BufferSyntax, dtype_of, make_buffer
from .tir_call import Places, argument_nodes
from .tir_context import TirContext
from .tir_scalar import make_number, to_condition, to_scalar

__all__ = ["bind_buffer", "bind_memory", "check_memory", "held_buffer"]


def bind_buffer(
    cx: TirContext, target: ast.Name, syntax: BufferSyntax, statement: ast.stmt
) -> Buffer:
    """A buffer of the body: of a parameter, allocated, or over memory that exists."""
    span = cx.span(target)
    if syntax.maker is tir_forms.match_buffer:
        return match_buffer(cx, target, syntax, span)
    buffer = make_buffer(cx, target.id, syntax, span)
    if syntax.maker is tir_forms.alloc_buffer:
        cx.block.alloc_buffers.append(buffer)
        return buffer
    needs_memory = "data" not in syntax.nodes
    if syntax.maker is not tir_forms.decl_buffer and needs_memory:
        cx.homeless[buffer] = syntax.node
        return buffer
    return declare_buffer(cx, buffer, needs_memory, cx.span(statement))


def check_memory(cx: TirContext) -> None:
    """Every buffer has memory; it may be that of a `T.realize`."""
    for node in cx.homeless.values():
        help = "allocate it: `T.alloc_buffer(shape, dtype)`, or give `data=`"
        message = "this buffer has no memory"
        cx.report(Diagnostic("RX0501", message, cx.span(node), help=help))


def declare_buffer(cx: TirContext, buffer: Buffer, needs_memory: bool, span: Span | None) -> Buffer:
    """`T.decl_buffer`; without `data` the memory is allocated as well."""
    if needs_memory:
        pointer = PointerType.make(PrimType.make(buffer.dtype), buffer.scope)
        data = buffer.data
        if data is None:
            data = prim.Var.make(buffer.name, HANDLE, pointer)
        syntax = cx.made[buffer]
        buffer = buffer.replace(data=data)
        cx.made[buffer] = syntax
        true = const(1, prim.BOOL)
        cx.items.append(
            lambda body: tir.Allocate.make(data, buffer.dtype, buffer.shape, true, body, span=span)
        )
    cx.items.append(lambda body: tir.DeclBuffer.make(buffer, body, span=span))
    return buffer


def match_buffer(
    cx: TirContext, target: ast.Name, syntax: BufferSyntax, span: Span | None
) -> Buffer:
    """The buffer of a parameter, or of a region."""
    at = syntax.nodes["param"]
    source = parse_expr(cx, at)
    if isinstance(source, prim.Var):
        if "shape" not in syntax.nodes:
            name = cx.written(at)
            raise cx.error(
                syntax.node, "RX0501", f"the buffer of `{name}` needs a shape",
                help=f'write for example `T.match_buffer({name}, (n,), "float32")`',
            )  # fmt: skip
        buffer = make_buffer(cx, target.id, syntax, span)
        match_parameter(cx, source, buffer, at)
        return buffer
    if cx.block is cx.root or not isinstance(source, (Buffer, BufferRegion, prim.BufferLoad)):
        raise cx.error(
            at, "RX0501", "`T.match_buffer` takes a parameter `a: T.handle`",
            labels=[(at, f"is {describe(source)}")],
        )  # fmt: skip
    region = region_of(cx, source, at)
    if "dtype" not in syntax.nodes:
        text = ast.copy_location(ast.Constant(str(region.buffer.dtype)), syntax.node)
        syntax = BufferSyntax(syntax.maker, {**syntax.nodes, "dtype": text}, syntax.node)
    buffer = make_buffer(cx, target.id, syntax, span)
    match_region(cx, buffer, region, syntax.node)
    return buffer


def match_parameter(cx: TirContext, param: prim.Var, buffer: Buffer, node: ast.AST) -> None:
    known = cx.signature.buffers.get(param)
    if known is not None:
        raise cx.error(
            node, "RX0501", f"`{param.name}` is the buffer `{known.name}` already",
            labels=[(known.span, "matched here")],
        )  # fmt: skip
    if param not in cx.signature.params or param.dtype.kind != "handle":
        what = f"is {param.dtype}" if param in cx.signature.params else "is no parameter"
        raise cx.error(
            node, "RX0501", "`T.match_buffer` takes a parameter `a: T.handle`",
            labels=[(node, what)],
        )  # fmt: skip
    cx.signature.buffers[param] = buffer


def bind_memory(
    cx: TirContext, target: ast.Name, form: Form, node: ast.expr, statement: ast.stmt
) -> prim.Var:
    """`p = T.allocate(...)`: memory, by its address."""
    places = Places(node)
    if isinstance(node, ast.Call):
        places = argument_nodes(cx, form.maker, node)
    dtype = dtype_of(cx, form.arguments["dtype"], places["dtype"])
    extents = to_extents(cx, form.arguments["extents"], places["extents"])
    scope = form.arguments.get("scope", "global")
    if not isinstance(scope, str):
        raise cx.error(places["scope"], "RX0103", "the scope of memory is a text")
    pointer = PointerType.make(PrimType.make(dtype), scope)
    var = prim.Var.make(target.id, HANDLE, pointer, span=cx.span(target))
    notes = make_attributes(cx, form.arguments["annotations"], places["annotations"])
    span = cx.span(statement)
    cx.fixed[var] = "the address of memory"
    if form.maker is tir_forms.allocate_const:
        data = constant_data(cx, form.arguments["data"], dtype, extents, places)
        cx.items.append(lambda body: tir.AllocateConst.make(
            var, dtype, extents, data, body, notes, span=span))  # fmt: skip
        return var
    given = form.arguments["condition"]
    condition = const(1, prim.BOOL)
    if given is not None:
        condition = to_condition(cx, given, places["condition"])
    cx.items.append(lambda body: tir.Allocate.make(
        var, dtype, extents, condition, body, notes, span=span))  # fmt: skip
    return var


def constant_data(
    cx: TirContext, given: Any, dtype: DataType, extents: Sequence[PrimExpr], places: Places
) -> Any:
    """The numbers of `T.allocate_const`, as many as the extents say."""
    if not (dtype.is_float or dtype.is_integer or dtype.is_bool) or dtype.lanes != 1:
        raise cx.error(places["dtype"], "RX0108", f"constants are numbers, not of {dtype}")
    with cx.at(places["data"]):
        data = np.asarray(given, dtype.numpy)
    sizes = [e.value for e in extents if isinstance(e, prim.IntImm)]
    if len(sizes) == len(extents) and data.size != prod(sizes):
        raise cx.error(
            places["data"], "RX0108",
            f"{counted(data.size, 'value')} cannot fill {counted(prod(sizes), 'element')}",
            labels=[(places["extents"], counted(prod(sizes), "element"))],
        )  # fmt: skip
    return data


def to_extents(cx: TirContext, values: Any, node: ast.expr) -> tuple[PrimExpr, ...]:
    """The extents of memory, one for each axis."""
    given = values if isinstance(values, (tuple, list)) else (values,)
    nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
    places = nodes if len(nodes) == len(given) else [node] * len(given)
    return tuple(to_extent(cx, v, at) for v, at in zip(given, places))


def to_extent(cx: TirContext, value: Any, node: ast.AST) -> PrimExpr:
    """The extent of memory along one axis."""
    e = (
        make_number(cx, value, TIR_INT_DTYPE, node)
        if type(value) is int
        else to_scalar(cx, value, node)
    )
    if e.dtype.is_integer:
        return e
    raise cx.error(node, "RX0108", f"an extent is a whole number, this is {describe(e)}")


def held_buffer(cx: TirContext, form: Form, node: ast.Attribute) -> Any:
    """The buffer that an object of Python asked for; it is made when it is first used."""
    known = cx.held_buffers.get(id(form))
    if known is None:
        nodes: dict[str, ast.expr] = {
            name: ast.copy_location(ast.Constant(value), node)
            for name, value in form.arguments.items()
            if value is not None
        }
        target = ast.copy_location(ast.Name(node.attr, ast.Store()), node)
        statement = ast.copy_location(ast.Pass(), node)
        buffer = bind_buffer(cx, target, BufferSyntax(form.maker, nodes, node), statement)
        known = cx.held_buffers[id(form)] = (form, buffer)
    return known[1]

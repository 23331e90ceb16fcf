"""Buffers of PrimFuncs: their syntax, and the dimensions and other parts that they have.

    buffer    = "T.Buffer(" shape "," dtype ... ")" | "T.alloc_buffer(" shape "," dtype ... ")" ...
    shape     = "(" { dimension "," } ")" | dimension
    dimension = integer | scalar | string                   ("n", or arithmetic such as "n * 2")

A string that is a name introduces a shape variable; every dimension keeps its place.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any

from relaxscript import tir_builder
from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, Span
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import ShapeExpr
from relaxscript.ir.tir import Buffer
from relaxscript.script.names import tir_statements, tir_values
from relaxscript.script.names.syntax import BUFFER_DIM_DTYPE
from relaxscript.script.names.tir_values import BUFFER_PARAMETERS
from relaxscript.script.parser.argument_errors import bind_arguments
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.expression import parse_expr, parse_iterable
from relaxscript.tir_builder import BUFFER_PARTS, describe, operands

from .context import TirContext
from .name import undefined_here, with_own_variables

__all__ = [
    "BUFFER_MAKERS",
    "BufferSyntax",
    "dtype_of",
    "introduce_dimensions",
    "make_buffer",
    "parse_buffer_syntax",
    "parse_dtype",
    "parse_string_as_expr",
]


class BufferSyntax:
    """A buffer as it was written: which argument is where, before it has a name."""

    def __init__(self, maker: Any, nodes: dict[str, ast.expr], node: ast.expr) -> None:
        self.maker = maker
        self.nodes = nodes
        self.node = node

    @classmethod
    def of_values(cls, maker: Any, values: Mapping[str, Any], node: ast.expr) -> BufferSyntax:
        """A buffer that Python asked for, whose arguments are values already."""
        nodes = {name: ast.copy_location(ast.Constant(v), node) for name, v in values.items()}
        return cls(maker, dict(nodes), node)


BUFFER_MAKERS = {
    id(f)
    for f in (tir_statements.match_buffer, tir_statements.alloc_buffer, tir_statements.decl_buffer,
              tir_statements.buffer, tir_statements.buffer_decl, tir_statements.Buffer)
}  # fmt: skip


def parse_string_as_expr(cx: TirContext, node: ast.AST, text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise cx.error(node, "RX0108", f'"{text}" is not an expression') from None


def parse_buffer_syntax(cx: TirContext, callee: Any, node: ast.Call) -> BufferSyntax:
    """The syntax of each argument of a buffer, by its parameter."""
    maker = tir_statements.buffer if callee is tir_statements.buffer_decl else callee
    signature = inspect.signature(maker)
    nodes: dict[str, ast.expr] = dict(zip(signature.parameters, node.args))
    unpacked = [arg for arg in node.args if isinstance(arg, ast.Starred)]
    for extra in (*unpacked, *(k.value for k in node.keywords if k.arg is None)):
        raise cx.error(extra, "RX0104", "the arguments of a buffer are written out one by one")
    keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
    bind_arguments(cx, signature, node, node.args, keywords, brief=True)
    return BufferSyntax(maker, {**nodes, **keywords}, cx.inside_string or node)


def introduce_dimensions(cx: TirContext, syntax: BufferSyntax) -> None:
    """Make the shape variables that are alone in a buffer's dimensions."""
    for name in ("shape", "strides", "elem_offset"):
        node = syntax.nodes.get(name)
        elements = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
        for element in elements:
            text = getattr(element, "value", None) if isinstance(element, ast.Constant) else None
            if isinstance(element, ast.Name) and element.id not in cx.names:
                text = cx.environment.value_of(element.id)
            texts = text if isinstance(text, (tuple, list)) else (text,)
            for one in texts:
                if isinstance(one, str) and one.strip().isidentifier():
                    shape_variable(cx, one.strip(), element)
                elif isinstance(one, prim.Var) and one.dtype.is_integer:
                    own_variable(cx, one, element or syntax.node)


def shape_variable(cx: TirContext, name: str, node: ast.AST | None) -> PrimExpr:
    """The variable of a dimension's name; a new one is int64."""
    known = cx.names.get(name)
    if known is UNKNOWN:
        raise Failed
    if isinstance(known, PrimExpr):
        return known
    if known is not None and node is not None:
        raise cx.error(
            node, "RX0108", f"`{name}` is {describe(known)}, not a dimension",
            help="give the dimension another name",
        )  # fmt: skip
    var = prim.Var.make(name, BUFFER_DIM_DTYPE, span=None if node is None else cx.span(node))
    cx.names[name] = var
    cx.fixed[var] = "a shape variable"
    return var


def own_variable(cx: TirContext, var: prim.Var, node: ast.AST) -> None:
    """The function's own variable for a dimension that Python holds, known by its name.

    One that was made without a name, by `n = T.int64()`, has that of Python's variable.
    """
    name = var.name or cx.environment.name_of(var)
    if name is None or var in cx.own:
        return
    known = cx.names.get(name)
    if not isinstance(known, prim.Var):
        known = prim.Var.make(name, var.dtype, span=cx.span(node))
        cx.names.setdefault(name, known)
        cx.fixed[known] = "a shape variable"
    cx.own[var] = known


def make_buffer(
    cx: TirContext, name: str, syntax: BufferSyntax, span: Span | None,
    known: Mapping[str, Any] | None = None,
) -> Buffer:  # fmt: skip
    """The buffer of a name; mistakes in all its arguments are reported.

    What the arguments leave open is as `known` says.
    """
    failed: Failed | None = None
    parts: dict[str, Any] = {}
    for part in BUFFER_PARAMETERS:
        node = syntax.nodes.get(part)
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            continue
        try:
            parts[part] = parse_part(cx, part, node)
        except Failed as failure:
            failed = failure
    if failed is not None:
        raise failed
    if "elem_offset" not in parts and parts.get("offset_factor"):
        parts["elem_offset"] = shape_variable(cx, f"{name}_elem_offset", None)
    with cx.builder_at(syntax.node, syntax.nodes):
        is_view = syntax.maker in (tir_statements.decl_buffer, tir_statements.buffer)
        parts = {"shape": (), **(known or {}), **parts}
        buffer = tir_builder.make_buffer(name, **parts, span=span, is_view=is_view)
    cx.made.add(buffer)
    return buffer


def parse_part(cx: TirContext, part: str, node: ast.expr) -> Any:
    """An argument of a buffer."""
    match part:
        case "shape" | "strides":
            return parse_dims(cx, node)
        case "elem_offset":
            return parse_dim(cx, node)
        case "dtype":
            return parse_dtype(cx, node)
    value = parse_expr(cx, node)
    with cx.builder_at(node):
        return BUFFER_PARTS[part](value, part)


def parse_dims(cx: TirContext, node: ast.expr) -> tuple[PrimExpr, ...]:
    """A shape: several dimensions, or a single one."""
    if isinstance(node, (ast.Tuple, ast.List)):
        found: list[PrimExpr] = []
        failed: Failed | None = None
        for element in node.elts:
            try:
                if isinstance(element, ast.Starred):
                    items = parse_iterable(cx, element.value)
                    found.extend(to_dim(cx, v, element) for v in items)
                else:
                    found.append(parse_dim(cx, element))
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return tuple(found)
    value = parse_expr(cx, node)
    if isinstance(value, ShapeExpr):
        value = value.values
    if isinstance(value, (tuple, list)):
        return tuple(to_dim(cx, v, node) for v in value)
    return (to_dim(cx, value, node),)


def parse_dim(cx: TirContext, node: ast.expr) -> PrimExpr:
    """One dimension, with its place."""
    if (
        type(node) is ast.Constant
        and type(node.value) is int
        and 0 <= node.value < operands.LARGEST_DIMENSION
    ):
        return IntImm.make(BUFFER_DIM_DTYPE, node.value, span=cx.span(node))
    if type(node) is ast.Name and node.id not in cx.names:
        return bare_dimension(cx, node)
    return to_dim(cx, parse_expr(cx, node), node)


def bare_dimension(cx: TirContext, node: ast.Name) -> PrimExpr:
    """A name that nobody declared can only be a new shape variable, which deserves a word."""
    try:
        return to_dim(cx, cx.environment.lookup(node.id), node)
    except KeyError:
        near = cx.near(node.id, [n for n, v in cx.names.items() if isinstance(v, prim.Var)])
    if near is not None:
        raise undefined_here(cx, node)
    cx.report(Diagnostic(
        "RX0109", f"the dimension `{node.id}` is not declared; it is a new shape variable",
        cx.span(node), help=f"declare it first: `{node.id} = T.int64()`", severity="warning",
    ))  # fmt: skip
    return shape_variable(cx, node.id, node)


def to_dim(cx: TirContext, value: Any, node: ast.expr) -> PrimExpr:
    """A value as a dimension."""
    value = with_own_variables(cx, value)
    if isinstance(value, str) and not isinstance(value, DataType):
        return parse_dimension_string(cx, value, node)
    with cx.builder_at(node):
        return operands.dimension(value, "value", cx.span(node))


def parse_dimension_string(cx: TirContext, text: str, node: ast.expr) -> PrimExpr:
    """A dimension in quotes: a name introduces a variable, arithmetic uses known ones."""
    inner = parse_string_as_expr(cx, node, text)
    if isinstance(inner, ast.Name):
        return shape_variable(cx, inner.id, node)
    outer, cx.inside_string = cx.inside_string, node
    try:
        for name in ast.walk(inner):
            if isinstance(name, ast.Name) and not is_known(cx, name.id):
                raise cx.error(
                    node, "RX0109", f"the dimension `{name.id}` is not defined here",
                    help="it must be a whole dimension of some shape: "
                         f'`T.Buffer(("{name.id}",), ...)`',
                )  # fmt: skip
        return to_dim(cx, parse_expr(cx, inner), node)
    finally:
        cx.inside_string = outer


def is_known(cx: TirContext, name: str) -> bool:
    if name in cx.names:
        return True
    try:
        cx.environment.lookup(name)
    except KeyError:
        return False
    return True


def parse_dtype(cx: TirContext, node: ast.expr) -> DataType:
    """A dtype by its name."""
    return dtype_of(cx, parse_expr(cx, node), node)


def dtype_of(cx: TirContext, value: Any, node: ast.AST) -> DataType:
    """A dtype by its name, or as `T.float32` or a type of numpy."""
    if isinstance(value, type) or hasattr(value, "itemsize"):
        with cx.at(node):
            return DataType(value)
    with cx.builder_at(node):
        return tir_values.dtype_of(value)

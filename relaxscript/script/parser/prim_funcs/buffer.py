"""Buffers of PrimFuncs: their syntax, and the dimensions and other parts that they have.

    buffer    = "T.Buffer(" shape "," dtype ... ")" | "T.alloc_buffer(" shape "," dtype ... ")" ...
    shape     = "(" { dimension "," } ")" | dimension
    dimension = integer | scalar | string                   ("n", or arithmetic such as "n * 2")

A string that is a name introduces a shape variable; every dimension keeps its place.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import Diagnostic, Span, did_you_mean
from relaxscript.ir import prim
from relaxscript.ir.buffer_access import StorageScope
from relaxscript.ir.prim import HANDLE, IntImm, PointerType, PrimExpr, PrimType
from relaxscript.ir.relax import ShapeExpr
from relaxscript.ir.tir import Buffer
from relaxscript.ir.walk import walk
from relaxscript.opdef.aliases import nearest_dtype
from relaxscript.script.names import tir_statements
from relaxscript.script.names.syntax import BUFFER_DIM_DTYPE
from relaxscript.script.names.tir_types import ScalarType
from relaxscript.script.parser.argument_errors import bind_arguments
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.expression import parse_expr, parse_iterable
from relaxscript.tir_builder import counted, describe

from .context import TirContext
from .name import undefined_here, with_own_variables

__all__ = [
    "BUFFER_MAKERS",
    "BUFFER_PARAMETERS",
    "BufferSyntax",
    "dtype_of",
    "introduce_dimensions",
    "make_buffer",
    "parse_buffer_syntax",
    "parse_dtype",
    "parse_string_as_expr",
]

BUFFER_PARAMETERS = tuple(inspect.signature(tir_statements.buffer).parameters)
COMMON_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                 "float16", "float32", "float64", "bfloat16", "handle")  # fmt: skip


# What a dimension lies below.
LARGEST = 1 << 63


class BufferSyntax:
    """A buffer as it was written: which argument stands where, before it has a name."""

    def __init__(self, maker: Any, nodes: dict[str, ast.expr], node: ast.expr) -> None:
        self.maker = maker
        self.nodes = nodes
        self.node = node


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
    """Which argument of a buffer stands where."""
    maker = tir_statements.buffer if callee is tir_statements.buffer_decl else callee
    signature = inspect.signature(maker)
    nodes: dict[str, ast.expr] = dict(zip(signature.parameters, node.args))
    for extra in (*node.args, *(k.value for k in node.keywords if k.arg is None)):
        if isinstance(extra, ast.Starred) or any(
            k.value is extra and k.arg is None for k in node.keywords
        ):
            raise cx.error(extra, "RX0104", "the arguments of a buffer are written out one by one")
    keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
    bind_arguments(cx, signature, node, node.args, keywords, brief=True)
    return BufferSyntax(maker, {**nodes, **keywords}, cx.inside_string or node)


def introduce_dimensions(cx: TirContext, syntax: BufferSyntax) -> None:
    """Make the shape variables that stand alone in a buffer's dimensions."""
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


def make_buffer(cx: TirContext, name: str, syntax: BufferSyntax, span: Span | None) -> Buffer:
    """The buffer of a name; mistakes in all its arguments are reported."""
    nodes = syntax.nodes
    failed: Failed | None = None
    parts: dict[str, Any] = {}
    for part, rule in _PARTS.items():
        node = nodes.get(part)
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            continue
        try:
            parts[part] = rule(cx, node)
        except Failed as failure:
            failed = failure
    if failed is not None:
        raise failed
    return buffer_of_parts(cx, name, parts, syntax, span)


def buffer_of_parts(
    cx: TirContext, name: str, parts: dict[str, Any], syntax: BufferSyntax, span: Span | None
) -> Buffer:
    shape, strides = parts.get("shape", ()), parts.get("strides", ())
    dtype = parts.get("dtype", prim.FLOAT32)
    if dtype.is_void:
        raise cx.error(
            syntax.nodes["dtype"], "RX0108",
            f'the elements of the buffer `{name}` have no dtype: "void" has no values',
            help='name the dtype of an element, such as "float32"',
        )  # fmt: skip
    if strides and len(strides) != len(shape):
        raise cx.error(
            syntax.nodes["strides"], "RX0108",
            f"{counted(len(shape), 'dimension')} {'needs' if len(shape) == 1 else 'need'} "
            f"{counted(len(shape), 'stride')}, not {len(strides)}",
        )  # fmt: skip
    if syntax.maker not in (tir_statements.decl_buffer, tir_statements.buffer):
        check_dimensions(cx, shape, syntax)
    scope = StorageScope(parts.get("scope", "global"))
    data = parts.get("data")
    if data is None and syntax.node in cx.addressed:
        pointer = PointerType.make(PrimType.make(dtype), scope)
        data = prim.Var.make(name, HANDLE, pointer)
    offset, factor = parts.get("elem_offset"), parts.get("offset_factor", 0)
    if offset is None and factor:
        offset = shape_variable(cx, f"{name}_elem_offset", None)
    kind = parts.get("buffer_type") or "default"
    buffer = Buffer.make(
        name, tuple(shape), dtype, data, tuple(strides), offset, scope,
        parts["align"] if parts.get("align", 0) > 0 else 64, factor or 1,
        "auto_broadcast" if kind == "auto" else kind,
        tuple(parts.get("axis_separators", ())), span=span,
    )  # fmt: skip
    cx.made[buffer] = syntax.node
    return buffer


def check_dimensions(cx: TirContext, shape: Sequence[PrimExpr], syntax: BufferSyntax) -> None:
    """Dimensions of memory are known before any element of a buffer is read."""
    for dim in shape:
        load = next((n for n in walk(dim) if isinstance(n, prim.BufferLoad)), None)
        if load is not None:
            raise cx.error(
                syntax.nodes["shape"], "RX0108", "a dimension cannot be read from a buffer",
                labels=[(load.span, f"an element of `{load.buffer.name}`")],
                help="pass it as a parameter: `n: T.int64`",
            )  # fmt: skip


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
    if type(node) is ast.Constant and type(node.value) is int and 0 <= node.value < LARGEST:
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
    """A value that stands as a dimension."""
    value = with_own_variables(cx, value)
    if isinstance(value, str) and not isinstance(value, DataType):
        return parse_dimension_string(cx, value, node)
    if isinstance(value, IntImm):
        value = value if value.value >= 0 else value.value
    if not isinstance(value, (bool, type, PrimExpr)) and hasattr(value, "__index__"):
        value = value.__index__()
    if type(value) is int and value < 0:
        raise cx.error(node, "RX0108", f"a dimension cannot be negative, this is {value}")
    if type(value) is int and value >= LARGEST:
        raise cx.error(node, "RX0108", f"a dimension is an {BUFFER_DIM_DTYPE}, this is {value}")
    if type(value) is int:
        return IntImm.make(BUFFER_DIM_DTYPE, value, span=cx.span(node))
    if isinstance(value, PrimExpr) and value.dtype.is_integer:
        return value
    raise cx.error(
        node, "RX0108", f"a dimension is a whole number, this is {describe(value)}",
        help='write a number, a name such as "n", or arithmetic of these',
    )  # fmt: skip


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
                    help=f'it must stand alone in some shape: `T.Buffer(("{name.id}",), ...)`',
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
    """A data type by its name."""
    return dtype_of(cx, parse_expr(cx, node), node)


def dtype_of(cx: TirContext, value: Any, node: ast.AST) -> DataType:
    """A data type by its name, or as `T.float32` or a type of numpy."""
    if isinstance(value, ScalarType):
        return value.dtype
    if isinstance(value, str) and is_dtype(value):
        return DataType(value)
    if isinstance(value, type) or hasattr(value, "itemsize"):
        with cx.at(node):
            return DataType(value)
    if not isinstance(value, str):
        raise cx.error(
            node,
            "RX0108",
            f'a dtype is a string such as "float32", this is {describe(value)}',
        )
    near = nearest_dtype(value, COMMON_DTYPES)
    raise cx.error(
        node, "RX0108", f'"{value}" is not a dtype',
        help=did_you_mean(near, "known are " + ", ".join(COMMON_DTYPES), '"'),
        fix=f'"{near}"' if near else None,
    )  # fmt: skip


def parse_pointer(cx: TirContext, node: ast.expr) -> prim.Var:
    value = parse_expr(cx, node)
    if isinstance(value, prim.Var) and value.dtype.kind == "handle":
        return value
    raise cx.error(
        node, "RX0501", f"`data` is the address of memory, this is {describe(value)}",
        help="it comes from `T.allocate(...)` or is `A.data` of another buffer",
    )  # fmt: skip


def parse_string(cx: TirContext, node: ast.expr) -> str:
    value = parse_expr(cx, node)
    if isinstance(value, str):
        return value
    raise cx.error(node, "RX0103", f"a text is needed here, this is {describe(value)}")


def parse_number(cx: TirContext, node: ast.expr) -> int:
    value = parse_expr(cx, node)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise cx.error(node, "RX0103", f"a whole number is needed here, this is {describe(value)}")


def parse_numbers(cx: TirContext, node: ast.expr) -> tuple[int, ...]:
    value = parse_expr(cx, node)
    if isinstance(value, (tuple, list)) and all(isinstance(v, int) for v in value):
        return tuple(value)
    raise cx.error(node, "RX0103", f"whole numbers are needed here, this is {describe(value)}")


# How each part of a buffer is read.
_PARTS: dict[str, Callable[[TirContext, ast.expr], Any]] = {
    "shape": parse_dims, "dtype": parse_dtype, "strides": parse_dims, "elem_offset": parse_dim,
    "data": parse_pointer, "scope": parse_string, "align": parse_number,
    "offset_factor": parse_number, "buffer_type": parse_string, "axis_separators": parse_numbers,
}  # fmt: skip

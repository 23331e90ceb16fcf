"""Dimensions of annotations: numbers, names, names in quotes, and arithmetic of these."""

from __future__ import annotations

import ast
from keyword import iskeyword
from typing import Any, TypeVar

from relaxscript.dtypes import DataType
from relaxscript.errors import did_you_mean
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, IntImm, PrimExpr, Var as PrimVar, as_dimension as converted
from relaxscript.ir.relax import BaseFunc, Constant, Expr, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import free_vars, substitute
from relaxscript.script.parser.annotation_help import (
    no_extent,
    other_than_int64,
    unknown_extent,
    unquote_dimension,
)
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed, Failures
from relaxscript.script.parser.dimensions import dimension_names
from relaxscript.script.parser.expression import parse_expr, parse_iterable

from .context import RelaxContext

__all__ = [
    "as_dimension", "captured_dimension", "captured_node", "check_bound_here", "is_undefined",
    "named_dimension", "parse_dimension", "parse_dimensions", "parse_name", "parsed_string",
    "string_dimension",
]  # fmt: skip

N = TypeVar("N", bound=Node)


def parse_name(cx: RelaxContext, node: ast.Name) -> Any:
    # The commonest expression: what other languages do is here once more.
    found = cx.names.get(node.id, cx)
    if cx.inside_string is not None:
        found = cx.dims.get(node.id, found)
    if found is cx:
        found = cx.language.find_name(cx, node)
    if found is UNKNOWN:
        raise Failed
    if isinstance(found, PrimVar):
        check_bound_here(cx, found, node)
    return found


def check_bound_here(cx: RelaxContext, var: PrimVar, node: ast.expr) -> None:
    """Criterion 5: a dimension is used only after it was bound."""
    if cx.binding or cx.is_bound(var) or not cx.check_well_formed:
        return
    raise cx.error(
        node, cx.unbound_code, f"the dimension `{var.name}` is used before it is bound",
        help="bind it first: make it a whole dimension of a parameter or `R.match_cast`",
    )  # fmt: skip


def parsed_string(cx: RelaxContext, node: ast.Constant) -> ast.expr:
    try:
        inner = ast.parse(str(node.value).strip(), mode="eval").body
    except (SyntaxError, ValueError):
        text = str(node.value).strip()
        if iskeyword(text):
            message, written = f'"{text}" is a word of Python, and no name', f'"{text}_"'
            raise cx.error(
                node, "RX0108", message, help=f"write `{written}`", fix=written
            ) from None
        help = unknown_extent if "?" in text else None
        message = f'"{node.value!s}" is not an expression'
        raise cx.error(node, "RX0108", message, help=help) from None
    except (RecursionError, MemoryError):
        raise cx.error(node, "RX0108", "this is nested too deeply") from None
    # What is in a string has no place of its own: the whole string is blamed.
    for part in ast.walk(inner):
        ast.copy_location(part, node)
    return inner


def parse_dimensions(cx: RelaxContext, nodes: list[ast.expr]) -> list[PrimExpr]:
    """Several dimensions; mistakes in all of them are reported."""
    found: list[PrimExpr] = []
    failures = Failures()
    for node in nodes:
        with failures:
            if isinstance(node, ast.Starred):
                found.extend(as_dimension(cx, v, node) for v in parse_iterable(cx, node.value))
            else:
                found.append(parse_dimension(cx, node))
    failures.settle()
    return found


def parse_dimension(cx: RelaxContext, node: ast.expr) -> PrimExpr:
    """One dimension, with its place."""
    if type(node) is ast.Constant and type(node.value) is int and 0 <= node.value < 1 << 63:
        return IntImm.make(INT64, node.value, span=cx.span(node))
    if type(node) is ast.Name:
        known = cx.dims.get(node.id)
        if known is not None:
            check_bound_here(cx, known, node)
            return known if known.dtype is INT64 else as_dimension(cx, known, node)
        if is_undefined(cx, node.id):
            if cx.in_function_type or (cx.names_dims and cx.introduces):
                return named_dimension(cx, node.id, node)
            raise undefined_dimension(cx, node.id, node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return string_dimension(cx, node)
    whole = unquote_dimension(node)
    if whole is not None:
        raise cx.error(
            node, "RX0108", "a dimension that is computed is quoted as a whole",
            help=f'write `"{whole}"`', fix=f'"{whole}"',
        )  # fmt: skip
    return as_dimension(cx, parse_expr(cx, node), node)


def string_dimension(cx: RelaxContext, node: ast.Constant, whole: bool = True) -> PrimExpr:
    """A dimension in quotes; the value of a scalar may be something else than `whole`."""
    inner = parsed_string(cx, node)
    with cx.state(inside_string=node):
        if isinstance(inner, ast.Name):
            named = named_dimension(cx, inner.id, node)
            return as_dimension(cx, named, node) if whole else named
        for name in dimension_names(inner):
            if name not in cx.dims:
                named_dimension(cx, name, node)
        value = parse_expr(cx, inner)
        if isinstance(value, PrimExpr) and not whole:
            return value
        return as_dimension(cx, value, node)


def named_dimension(cx: RelaxContext, name: str, node: ast.expr) -> PrimExpr:
    """The shape variable of a name; parameters and match_cast may introduce it."""
    known = cx.dims.get(name)
    if known is not None:
        check_bound_here(cx, known, node)
        return known
    bound = cx.names.get(name)
    if isinstance(bound, PrimExpr):
        return bound
    if not cx.introduces:
        raise undefined_dimension(cx, name, node)
    var = PrimVar.make(name, INT64, span=cx.span(node))
    cx.dims[name] = var
    return var


def is_undefined(cx: RelaxContext, name: str) -> bool:
    """True if a name means nothing at all, neither in the script nor in Python around it."""
    return name not in cx.names and name != cx.module.name and not cx.environment.has(name)


def undefined_dimension(cx: RelaxContext, name: str, node: ast.expr) -> Failed:
    near = None if cx.introduces and len(name) < 3 else cx.near(name, cx.dims)
    cx.names.setdefault(name, UNKNOWN)  # said once
    fix = near
    if near is not None:
        help = did_you_mean(near)
    elif not cx.introduces:
        help = f"name it in a parameter, or write `{name} = T.int64()` before an `R.match_cast`"
    elif name == "_":
        help = unknown_extent
    else:
        help = f'write `"{name}"`, or declare it in the body: `{name} = T.int64()`'
        fix = f'"{name}"'
    message = f"the dimension `{name}` is not defined here"
    return cx.error(node, "RX0109", message, help=help, fix=fix)


def as_dimension(cx: RelaxContext, value: Any, node: ast.expr) -> PrimExpr:
    """A value as a dimension."""
    if isinstance(value, bool) or not isinstance(value, (PrimExpr, int)):
        if isinstance(value, str) and not isinstance(value, DataType):
            return named_dimension(cx, value, node)
        if not hasattr(value, "__index__") or isinstance(value, bool):
            raise not_a_dimension(cx, value, node)
        value = value.__index__()
    if isinstance(value, int):
        if 0 <= value < 1 << 63:
            return IntImm.make(INT64, int(value), span=cx.span(node))
        help = unknown_extent if value < 0 else None
        raise cx.error(node, "RX0108", no_extent(value), help=help)
    if isinstance(value, IntImm) and value.value < 0:
        raise cx.error(node, "RX0108", f"a dimension cannot be negative, this is {value.value}")
    if isinstance(value, PrimVar) and value.dtype is not INT64:
        if value in cx.other_dtypes:
            raise Failed  # said where it came first
        cx.other_dtypes.add(value)
        raise cx.report(other_than_int64(value, cx.span(node)))
    if not value.dtype.is_integer:
        raise cx.error(node, "RX0108", f"a dimension is a whole number, this is {value.dtype}")
    return converted(value)


def _is_tensor(cx: RelaxContext, name: str) -> bool:
    info = getattr(cx.names.get(name), "struct_info", None)
    return isinstance(info, TensorStructInfo) and info.ndim != 0


def not_a_dimension(cx: RelaxContext, value: Any, node: ast.expr) -> Failed:
    if isinstance(value, Expr):
        names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        name = next((name for name in names if _is_tensor(cx, name)), "x")
        dim = "m" if name == "n" else "n"
        cast = f"R.match_cast({name}, R.Tensor(({dim},)))"
        help = f"bind its extent first: `{dim} = T.int64()` and `{cast}`"
        message = "a value known only at run time is not a dimension"
        return cx.error(node, "RX0108", message, help=help)
    whole = 'a dimension is a whole number, a name such as "n", or arithmetic of these'
    return cx.error(
        node, "RX0108", f"`{ast.unparse(node)}` is not a dimension",
        help=unknown_extent if value is None else whole,
    )  # fmt: skip


def captured_dimension(cx: RelaxContext, var: PrimVar) -> PrimVar:
    """A shape variable that Python captured: each function has its own of that name.

    One that was made without a name, by `n = T.int64()`, has that of Python's variable.
    """
    own = cx.own_dims.get(var)
    if own is None:
        name = var.name or cx.environment.name_of(var) or "n"
        own = cx.dims.get(name)
        if own is None:
            own = cx.dims[name] = PrimVar.make(name, DataType(var.dtype))
        cx.own_dims[var] = own
    return own


def captured_node(cx: RelaxContext, node: N) -> N:
    """An annotation or value that Python captured, with the function's own shape variables."""
    if isinstance(node, (BaseFunc, Constant, Var)):
        return node
    found = [v for v in free_vars(node) if isinstance(v, PrimVar) and not _is_own(cx, v)]
    if not found:
        return node
    return substitute(node, {var: captured_dimension(cx, var) for var in found})


def _is_own(cx: RelaxContext, var: PrimVar) -> bool:
    return any(var is own for own in cx.dims.values())

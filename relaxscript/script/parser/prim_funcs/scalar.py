"""Scalars of PrimFuncs, and the elements and regions of buffers that give them.

    element = buffer "[" index { "," index } "]"
    region  = buffer "[" (index | [index] ":" [index]) { "," ... } "]"

A region used as a value is the vector of its elements. Plain numbers are int32 (int64 where they do
not fit) and float32, as TIR reads them, unless something beside them says more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.tir import Buffer, BufferRegion
from relaxscript.script.names import tir_nodes
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.expression import parse_expr, python_item
from relaxscript.tir_builder import TIRBuilder, TIRError, describe, indices_of, operands, region_of

from .context import TirContext

__all__ = [
    "check_brackets",
    "check_number_of_indices",
    "check_rank",
    "check_value",
    "index_nodes",
    "indices_in_list",
    "item_of",
    "make_number",
    "not_indexable",
    "parse_subscript",
    "to_condition",
    "to_indices",
    "to_scalar",
]


def to_scalar(cx: TirContext, value: Any, node: ast.AST) -> PrimExpr:
    """A value as a scalar: plain numbers are int32 (int64 where they do not fit) or float32."""
    if isinstance(value, PrimExpr):
        check_value(cx, value, node)
        return value
    return operand(cx, operands.scalar, value, node)


def operand(
    cx: TirContext, rule: Callable[..., PrimExpr], value: Any, node: ast.AST, *more: Any
) -> PrimExpr:
    """A value made an operand by a rule of the builder; what that refuses is told at the value."""
    try:
        return rule(value, *more, "value", cx.span(node) if type(value) is int else None)
    except TIRError as error:
        raise cx.refuse(error, node, {"value": node}) from None


def check_value(cx: TirContext, value: Any, node: ast.AST) -> None:
    """Refuse a new variable where a value should be."""
    if isinstance(value, prim.Var) and not value.name:
        raise no_value(cx, value, node)


def no_value(cx: TirContext, var: prim.Var, node: ast.AST) -> Failed:
    """Record that a new variable is in the place of a value."""
    return cx.error(
        node, "RX0109", f"this is a new variable of {var.dtype}, which has no value",
        help=f"`T.{var.dtype}(0)` is a number; name a variable: `n = T.{var.dtype}()`",
    )  # fmt: skip


def make_number(cx: TirContext, value: int, dtype: DataType, node: ast.AST) -> PrimExpr:
    """A number of a dtype, with its place."""
    return operand(cx, operands.integer, value, node, dtype)


def to_condition(cx: TirContext, value: Any, node: ast.AST) -> PrimExpr:
    """A scalar that is true or false."""
    check_value(cx, value, node)
    return operand(cx, operands.condition, value, node)


def parse_subscript(cx: TirContext, node: ast.Subscript) -> Any:
    """`A[i]`; `A[i][j]` is how Python's lists are indexed."""
    if isinstance(node.value, ast.Subscript):
        check_brackets(cx, node)
    owner = parse_expr(cx, node.value)
    try:
        index = parse_expr(cx, node.slice)
    except Failed:
        check_number_of_indices(cx, owner, node)
        raise
    return item_of(cx, owner, index, node)


def check_brackets(cx: TirContext, node: ast.Subscript) -> None:
    indices: list[ast.expr] = []
    base: ast.expr = node
    while isinstance(base, ast.Subscript):
        indices.insert(0, base.slice)
        base = base.value
    owner = cx.names.get(base.id) if isinstance(base, ast.Name) else None
    if not isinstance(owner, Buffer) or any(isinstance(i, ast.Tuple) for i in indices):
        return
    instead = f"{cx.written(base)}[{', '.join(ast.unparse(i) for i in indices)}]"
    fits = len(indices) == owner.ndim
    raise cx.error(
        node, "RX0503", f"the indices of `{owner.name}` are written in one pair of brackets",
        help=f"write `{instead}`" if fits else None, fix=instead if fits else None,
    )  # fmt: skip


def item_of(cx: TirContext, owner: Any, index: Any, node: ast.Subscript) -> Any:
    if isinstance(owner, Buffer):
        return load_element(cx, owner, index if isinstance(index, tuple) else (index,), node)
    if isinstance(owner, PrimExpr):
        raise not_indexable(cx, owner, node)
    if owner is tir_nodes.let:
        return index  # `x: T.let[T.int32] = value`
    if isinstance(index, PrimExpr) and isinstance(owner, (tuple, list)):
        if not isinstance(index, IntImm):
            raise cx.error(
                node.slice, "RX0503", "this index is known only when the program runs",
                help="a Python sequence is indexed while the program is parsed; use a buffer",
            )  # fmt: skip
        index = index.value
    return python_item(cx, owner, index, node)


def not_indexable(cx: TirContext, owner: PrimExpr, node: ast.Subscript) -> Failed:
    name = cx.written(node.value)
    help = None
    if owner.dtype.kind == "handle":
        help = f'give it a shape: `X = T.match_buffer({name}, (n,), "float32")`'
    return cx.error(
        node.value, "RX0503", f"`{name}` is {describe(owner)} and has no elements", help=help
    )


def index_nodes(node: ast.Subscript) -> Sequence[ast.AST]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def load_element(
    cx: TirContext, buffer: Buffer, index: Sequence[Any], node: ast.Subscript
) -> PrimExpr | BufferRegion:
    """A load; a region where some indices are slices, all without a step."""
    check_rank(cx, buffer, len(index), node)
    places = index_nodes(node)
    steps = [i.step for i in index if isinstance(i, slice)]
    if steps and all(step is None for step in steps):
        with at_indices(cx, index, places, node) as (builder, values):
            return region_of(builder, buffer, values)
    indices = to_indices(cx, buffer, index, places)
    return prim.BufferLoad.make(buffer, indices, span=cx.span(node))


def check_number_of_indices(cx: TirContext, owner: Any, node: ast.Subscript) -> None:
    indices = index_nodes(node)
    if isinstance(owner, Buffer) and not any(isinstance(i, ast.Starred) for i in indices):
        check_rank(cx, owner, len(indices), node)


def check_rank(cx: TirContext, buffer: Buffer, given: int, node: ast.Subscript) -> None:
    if given == buffer.ndim:
        return
    takes = quantity(buffer.ndim, "index", "indices")
    raise cx.error(
        node.slice, "RX0503", f"`{buffer.name}` takes {takes}, not {given}",
        labels=[(buffer.span, f"`{buffer.name}` has {buffer.ndim} dimension"
                 + ("" if buffer.ndim == 1 else "s"))],
    )  # fmt: skip


def to_indices(
    cx: TirContext, buffer: Buffer, index: Sequence[Any], places: Sequence[ast.AST]
) -> tuple[PrimExpr, ...]:
    """Indices as integers; a slice is the vector of its elements."""
    if all(_is_plain_index(value) for value in index):
        indices = (*index,)
    else:
        with at_indices(cx, index, places) as (builder, values):
            indices = indices_of(builder, buffer, values)
    if len(places) != len(index):
        places = [places[0] if places else ast.Constant(None)] * len(index)
    cx.index_places[id(indices)] = indices, [cx.span(place) for place in places]
    return indices


def indices_in_list(
    cx: TirContext, buffer: Buffer, given: Any, node: ast.expr
) -> tuple[PrimExpr, ...]:
    """The indices that a call takes as one argument, as many as there are dimensions."""
    values = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(values) != buffer.ndim:
        takes = quantity(buffer.ndim, "index", "indices")
        raise cx.error(node, "RX0503", f"`{buffer.name}` takes {takes}, not {len(values)}")
    places = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node] * len(values)
    return to_indices(cx, buffer, values, places)


def _is_plain_index(value: Any) -> bool:
    """True if a value is an index as it is."""
    if not isinstance(value, PrimExpr) or (isinstance(value, prim.Var) and not value.name):
        return False
    return value.dtype.is_integer and value.dtype.lanes == 1


@contextmanager
def at_indices(
    cx: TirContext, index: Sequence[Any], places: Sequence[ast.AST], node: ast.AST | None = None
) -> Iterator[tuple[TIRBuilder, list[Any]]]:
    """The builder, for indices at some places, and what they are to it."""
    if len(places) != len(index):
        places = [places[0] if places else ast.Constant(None)] * len(index)
    values = [part_of_index(cx, value, at) for value, at in zip(index, places)]
    where = {f"indices[{axis}]": at for axis, at in enumerate(places)}
    with cx.builder_at(places[0] if node is None else node, where) as builder:
        yield builder, values


def part_of_index(cx: TirContext, value: Any, node: ast.AST) -> Any:
    """An index, or a slice of indices; plain numbers are left to the builder."""
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        return slice(*(e if e is None else part_of_index(cx, e, node) for e in ends))
    return value if type(value) is int else to_scalar(cx, value, node)

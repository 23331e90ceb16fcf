"""Scalars of PrimFuncs, and the elements and regions of buffers that give them.

    element = buffer "[" index { "," index } "]"
    region  = buffer "[" (index | [index] ":" [index]) { "," ... } "]"

A region used as a value is the vector of its elements. Plain numbers are int32 (int64 where they do
not fit) and float32, as TIR reads them, unless something beside them says more.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.arith import Facts, simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, alike, const, match_dtypes, plain_dtype
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.same import structural_equal
from relaxscript.ir.tir import Buffer, BufferRegion, Range, plain_extent
from relaxscript.script.tir_types import Form, ScalarType
from relaxscript.tir_builder import counted, describe

from .blame import Failed
from .expression import parse_expr, python_item
from .tir_context import TirContext

__all__ = [
    "check_brackets",
    "check_number_of_indices",
    "check_rank",
    "extent_between",
    "index_nodes",
    "item_of",
    "make_number",
    "not_indexable",
    "parse_subscript",
    "to_condition",
    "to_indices",
    "to_scalar",
]


def extent_between(low: PrimExpr, high: PrimExpr) -> PrimExpr:
    """`high - low`; where `high` was written `low + e`, just `e`, and a number where it is one."""
    if isinstance(low, IntImm) and isinstance(high, IntImm):
        return const(high.value - low.value, high.dtype)
    if isinstance(low, IntImm) and low.value == 0:
        return high
    if isinstance(high, prim.Add) and same_scalar(high.a, low):
        return high.b
    extent = prim.Sub.make(high, low)
    known = simplify(extent, Facts(nonnegative=False))
    return known if isinstance(known, IntImm) else extent


def same_scalar(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two scalars are written alike."""
    return a is b or structural_equal(a, b, map_free_vars=False)


def to_scalar(cx: TirContext, value: Any, node: ast.AST) -> PrimExpr:
    """A value as a scalar: plain numbers are int32 (int64 where they do not fit) or float32."""
    match value:
        case prim.Var(name=""):
            raise no_value(cx, value, node)
        case PrimExpr():
            return value
        case bool() | float():
            return const(value)
        case int():
            return make_number(cx, value, plain_dtype(value), node)
        case np.generic():
            return const(value.item(), DataType(value.dtype))
        case BufferRegion():
            return vector_of(cx, value, node)
        case str():
            return prim.StringImm(value)
        case Buffer():
            raise whole_buffer(cx, value, node)
    raise cx.error(
        node, "RX0501", f"a scalar is needed here, this is {describe(value)}",
        help=advice_for(cx, value),
    )  # fmt: skip


def no_value(cx: TirContext, var: prim.Var, node: ast.AST) -> Failed:
    """Record that a new variable stands where a value should."""
    return cx.error(
        node, "RX0109", f"this is a new variable of {var.dtype}, which has no value",
        help=f"`T.{var.dtype}(0)` is a number; name a variable: `n = T.{var.dtype}()`",
    )  # fmt: skip


def advice_for(cx: TirContext, value: Any) -> str | None:
    """What to write in the place of a value that is no scalar."""
    if isinstance(value, ScalarType):
        return f"`{value}(x)` is `x` as {value.dtype}"
    if isinstance(value, Form):
        return "it is a statement of its own"
    return None


def make_number(cx: TirContext, value: int, dtype: DataType, node: ast.AST) -> IntImm:
    """A number of a data type, with its place."""
    try:
        return IntImm(dtype, value).replace(span=cx.span(node))
    except ValueError as error:
        raise cx.error(node, "RX0502", reason(error)) from None


def whole_buffer(cx: TirContext, buffer: Buffer, node: ast.AST) -> Failed:
    """Record that a buffer stands where one of its elements should."""
    indices = ", ".join("ijklmn"[axis % 6] for axis in range(buffer.ndim)) or "()"
    return cx.error(
        node, "RX0501", f"`{buffer.name}` is a whole buffer, and a scalar is needed here",
        help=f"take an element: `{buffer.name}[{indices}]`",
    )  # fmt: skip


def to_condition(cx: TirContext, value: Any, node: ast.AST) -> PrimExpr:
    """A scalar that is true or false."""
    e = to_scalar(cx, value, node)
    if e.dtype.is_bool:
        return e
    compared = f"{in_parentheses(cx, node)} != 0"
    raise cx.error(
        node, "RX0502", f"a condition is a bool, this is {e.dtype}",
        help=f"compare it: `{compared}`", fix=compared,
    )  # fmt: skip


def in_parentheses(cx: TirContext, node: ast.AST) -> str:
    """The text of an expression, ready to be an operand of a comparison."""
    loose = isinstance(node, (ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr))
    return f"({cx.written(node)})" if loose else cx.written(node)


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
        node, "RX0503", f"the indices of `{owner.name}` stand in one pair of brackets",
        help=f"write `{instead}`" if fits else None, fix=instead if fits else None,
    )  # fmt: skip


def item_of(cx: TirContext, owner: Any, index: Any, node: ast.Subscript) -> Any:
    if isinstance(owner, Buffer):
        places = index_nodes(cx, node)
        return load_element(
            cx, owner, index if isinstance(index, tuple) else (index,), places, node
        )
    if isinstance(owner, PrimExpr):
        raise not_indexable(cx, owner, node)
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


def index_nodes(cx: TirContext, node: ast.Subscript) -> Sequence[ast.AST]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def load_element(
    cx: TirContext,
    buffer: Buffer,
    index: Sequence[Any],
    places: Sequence[ast.AST],
    node: ast.Subscript,
) -> PrimExpr | BufferRegion:
    """A load; a region where some index is a slice without a step."""
    check_rank(cx, buffer, len(index), node)
    if any(isinstance(i, slice) for i in index):
        steps = [i.step for i in index if isinstance(i, slice)]
        if all(step is None for step in steps):
            return make_region(cx, buffer, index, places, node)
    indices = to_indices(cx, buffer, index, places)
    return prim.BufferLoad.make(buffer, indices, span=cx.span(node))


def check_number_of_indices(cx: TirContext, owner: Any, node: ast.Subscript) -> None:
    indices = index_nodes(cx, node)
    if isinstance(owner, Buffer) and not any(isinstance(i, ast.Starred) for i in indices):
        check_rank(cx, owner, len(indices), node)


def check_rank(cx: TirContext, buffer: Buffer, given: int, node: ast.Subscript) -> None:
    if given == buffer.ndim:
        return
    takes = counted(buffer.ndim, "index", "indices")
    raise cx.error(
        node.slice, "RX0503", f"`{buffer.name}` takes {takes}, not {given}",
        labels=[(buffer.span, f"`{buffer.name}` has {buffer.ndim} dimension"
                 + ("" if buffer.ndim == 1 else "s"))],
    )  # fmt: skip


def to_indices(
    cx: TirContext, buffer: Buffer, index: Sequence[Any], places: Sequence[ast.AST]
) -> tuple[PrimExpr, ...]:
    """Indices as integers; a slice is the vector of its elements."""
    if len(places) != len(index):
        places = [places[0] if places else ast.Constant(None)] * len(index)
    found: list[PrimExpr] = []
    for axis, (value, place) in enumerate(zip(index, places)):
        if isinstance(value, slice):
            low, high = slice_bounds(cx, buffer, axis, value, place)
            found.append(make_ramp(cx, low, extent_between(low, high), value.step, place))
            continue
        found.append(to_index(cx, value, place, buffer, axis))
    for e, place in list(zip(found, places))[:-1]:
        if e.dtype.lanes != 1:
            raise cx.error(
                place, "RX0503", "only the last index can be a vector",
                help="loop over this axis: `for i in range(...)`",
            )  # fmt: skip
    indices = tuple(found)
    cx.index_places[id(indices)] = indices, [cx.span(place) for place in places]
    return indices


def to_index(cx: TirContext, value: Any, place: ast.AST, buffer: Buffer, axis: int) -> PrimExpr:
    """One index: an integer."""
    if type(value) is int:
        check_bounds(cx, value, place, buffer, axis)
        return make_number(cx, value, plain_dtype(value), place)
    e = to_scalar(cx, value, place)
    if e.dtype.is_integer:
        return e
    kind = f"is {e.dtype}" if not isinstance(e, prim.StringImm) else "is a string"
    cast = f'T.cast({cx.written(place)}, "int32")' if e.dtype.is_float else None
    raise cx.error(
        place, "RX0503", "an index is an integer", labels=[(place, kind)],
        help=f"convert it: `{cast}`" if cast else None, fix=cast,
    )  # fmt: skip


def check_bounds(cx: TirContext, value: int, place: ast.AST, buffer: Buffer, axis: int) -> None:
    """Warn of an element that cannot exist; code that never runs may name it."""
    extent = buffer.shape[axis]
    if value >= 0 and not (isinstance(extent, IntImm) and value >= extent.value):
        return
    size = f"has extent {extent.value}" if isinstance(extent, IntImm) else "begins at 0"
    help = "indices do not count from the end" if value < 0 else None
    cx.report(Diagnostic(
        "RX0503", f"`{buffer.name}` has no element {value} here: axis {axis} {size}",
        cx.span(place), help=help, severity="warning",
    ))  # fmt: skip


def slice_bounds(
    cx: TirContext, buffer: Buffer, axis: int, value: slice, place: ast.AST
) -> tuple[PrimExpr, PrimExpr]:
    """Where a slice begins and ends, in one data type."""
    extent = buffer.shape[axis]
    low = 0 if value.start is None else value.start
    high = plain_extent(extent) if value.stop is None else value.stop
    if type(low) is int and type(high) is int:
        a, b = alike(low, high)
        return a.replace(span=cx.span(place)), b.replace(span=cx.span(place))
    parts = [v if type(v) is int else to_index(cx, v, place, buffer, axis) for v in (low, high)]
    return match_dtypes(*parts)


def make_region(
    cx: TirContext, buffer: Buffer, index: Sequence[Any], places: Sequence[ast.AST], node: ast.AST
) -> BufferRegion:
    """Part of a buffer: a range along each axis."""
    ranges: list[Range] = []
    for axis, (value, place) in enumerate(zip(index, places)):
        if isinstance(value, slice):
            low, high = slice_bounds(cx, buffer, axis, value, place)
            ranges.append(Range.make(low, extent_between(low, high)))
        else:
            e = to_index(cx, value, place, buffer, axis)
            ranges.append(Range.make(e, const(1, e.dtype)))
    return BufferRegion.make(buffer, tuple(ranges), span=cx.span(node))


def make_ramp(
    cx: TirContext, low: PrimExpr, extent: PrimExpr, step: Any, place: ast.AST
) -> PrimExpr:
    """The vector of the indices of a slice."""
    stride = to_scalar(cx, 1 if step is None else step, place)
    if not isinstance(stride, IntImm) or stride.value < 1:
        raise cx.error(place, "RX0503", "the step of a slice is a positive number")
    if not isinstance(extent, IntImm):
        raise cx.error(
            place, "RX0503", "the number of elements of this slice is not a constant",
            help="loop over the elements: `for i in range(...)`",
        )  # fmt: skip
    lanes = -(-extent.value // stride.value)
    if lanes < 1:
        raise cx.error(place, "RX0503", "this slice has no elements")
    return low if lanes == 1 else prim.Ramp.make(low, const(stride.value, low.dtype), lanes)


def vector_of(cx: TirContext, region: BufferRegion, node: ast.AST) -> PrimExpr:
    """A region used as a value: the vector of its elements."""
    indices = []
    for place, part in zip(region_places(cx, region, node), region.region):
        indices.append(make_ramp(cx, part.min, part.extent, None, place))
    for e in indices[:-1]:
        if e.dtype.lanes != 1:
            raise cx.error(
                node, "RX0503", "only the last index can be a vector",
                help="loop over the other axes: `for i in range(...)`",
            )  # fmt: skip
    return prim.BufferLoad.make(region.buffer, tuple(indices), span=region.span)


def region_places(cx: TirContext, region: BufferRegion, node: ast.AST) -> Sequence[ast.AST]:
    count = len(region.region)
    places = index_nodes(cx, node) if isinstance(node, ast.Subscript) else []
    return places if len(places) == count else [node] * count

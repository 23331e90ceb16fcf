"""Indices of tensors: `x[i]`, `x[a:b, ...]`, `x[:, None]`, `x[rows]`, as numpy reads them.

    index = integer | [integer] ":" [integer] [":" integer] | "..." | "None" | integer tensor

Slices become `R.strided_slice`, whole numbers `R.strided_slice` and `R.squeeze`, a tensor of whole
numbers `R.take`, and `None` `R.expand_dims`. Whole numbers are numbers or dimensions.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Constant, Expr
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo
from relaxscript.op import Operator
from relaxscript.op.manipulate import expand_dims, squeeze
from relaxscript.op.search import take
from relaxscript.op.slicing import strided_slice
from relaxscript.script.parser.diagnostics import Failed

from .context import RelaxContext
from .expression import as_leaf, build

__all__ = ["tensor_index"]

_END = int(np.iinfo(np.int64).max)


@dataclass
class _Plan:
    """The steps of an index, axis by axis of the tensor, and then of the result."""

    slices: list[tuple[int, Any, Any, int]] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    taken: tuple[int, Expr, ast.expr] | None = None
    new: list[int] = field(default_factory=list)


def tensor_index(
    cx: RelaxContext, owner: Expr, info: TensorStructInfo, index: Any, node: ast.Subscript
) -> Expr:
    """`x[index]` of a tensor of known rank."""
    if info.ndim < 0:
        written = ast.unparse(node.value)
        raise cx.error(
            node, "RX0208", f"the rank of `{written}` is not known, so it cannot be indexed",
            help=f"check it first: `R.match_cast({written}, R.Tensor((n, m)))`",
        )  # fmt: skip
    items = list(index) if isinstance(index, tuple) else [index]
    nodes = [node.slice] * len(items)
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == len(items):
        nodes = list(node.slice.elts)
    plan = _plan(cx, owner, info, list(zip(items, nodes)), node)
    return _carried_out(cx, owner, plan, node)


def _plan(
    cx: RelaxContext, owner: Expr, info: TensorStructInfo, items: list[tuple[Any, ast.expr]],
    node: ast.Subscript,
) -> _Plan:  # fmt: skip
    placed = _without_ellipsis(cx, items, info.ndim, node)
    _require_together(cx, placed)
    dims = info.dims
    plan = _Plan()
    axis = 0
    for item, at in placed:
        if item is None:
            plan.new.append(_width(cx, plan, axis))
            continue
        dim = None if dims is None else dims[axis]
        _plan_axis(cx, plan, axis, dim, item, at)
        axis += 1
    return plan


def _without_ellipsis(
    cx: RelaxContext, items: list[tuple[Any, ast.expr]], rank: int, node: ast.Subscript
) -> list[tuple[Any, ast.expr]]:
    """One item for each axis that is named; `...` stands for as many as are left."""
    used = sum(1 for item, _ in items if item is not None and item is not Ellipsis)
    dots = [i for i, (item, _) in enumerate(items) if item is Ellipsis]
    if used > rank:
        written = ast.unparse(node.value)
        raise cx.error(
            node.slice, "RX0208", f"there are {used} indices",
            labels=[(node.value, f"`{written}` has rank {rank}")],
        )  # fmt: skip
    if len(dots) > 1:
        raise cx.error(items[dots[1]][1], "RX0208", "an index has one `...` only")
    if not dots:
        return items
    at = dots[0]
    whole = (slice(None), items[at][1])
    return [*items[:at], *[whole] * (rank - used), *items[at + 1 :]]


def _require_together(cx: RelaxContext, placed: list[tuple[Any, ast.expr]]) -> None:
    """Refuse `x[0, :, rows]`, whose axes numpy would reorder."""
    chosen = [i for i, (item, _) in enumerate(placed) if not _keeps_axes(item)]
    tensors = [i for i in chosen if isinstance(placed[i][0], (Expr, list, np.ndarray))]
    if tensors and chosen[-1] - chosen[0] >= len(chosen):
        raise cx.error(
            placed[tensors[0]][1], "RX0208",
            "a tensor in an index is beside the integers in it",
            help="index in two steps",
        )  # fmt: skip


def _width(cx: RelaxContext, plan: _Plan, axis: int) -> int:
    """The number of axes of the result before the place that an index has reached."""
    before = axis - len(plan.removed) + len(plan.new)
    if plan.taken is not None:
        info = cx.builder.struct_info(plan.taken[1])
        before += info.ndim - 1 if isinstance(info, TensorStructInfo) else -1
    return before


def _plan_axis(
    cx: RelaxContext, plan: _Plan, axis: int, dim: PrimExpr | None, item: Any, at: ast.expr
) -> None:
    match item:
        case slice():
            bounds = _slice_bounds(cx, item, dim, at)
            if bounds is not None:
                plan.slices.append((axis, *bounds))
        case bool() | np.bool_():
            raise _no_mask(cx, at)
        case int() | np.integer() | PrimExpr():
            begin, end = _one(cx, item, dim, at)
            plan.slices.append((axis, begin, end, 1))
            plan.removed.append(axis)
        case Expr() | list() | np.ndarray():
            if plan.taken is not None:
                raise cx.error(
                    at, "RX0208", "only one tensor is allowed in an index",
                    labels=[(plan.taken[2], "the first one")],
                    help="take along one axis after the other: `R.take(x, index, axis)`",
                )  # fmt: skip
            plan.taken = (axis, _index_tensor(cx, item, at), at)
        case _:
            raise cx.error(
                at, "RX0208", f"`{ast.unparse(at)}` is no index",
                help="an index is a whole number, a slice, `...`, `None` or a tensor of these",
            )  # fmt: skip


def _no_mask(cx: RelaxContext, at: ast.expr) -> Failed:
    return cx.error(
        at, "RX0208", "a mask is no index: how much it keeps is known at run time only",
        help="keep the shape: `R.where(mask, x, 0)`",
    )  # fmt: skip


def _index_tensor(cx: RelaxContext, item: Any, at: ast.expr) -> Expr:
    """A tensor or scalar of whole numbers; lists of numbers are constants."""
    if isinstance(item, Expr):
        leaf = as_leaf(cx, item, at)
        _require_whole(cx, cx.builder.struct_info(leaf), at)
        return leaf
    with cx.at(at):
        array = np.asarray(item)
    if array.dtype.kind == "b":
        raise _no_mask(cx, at)
    if array.dtype.kind not in "iu":
        raise cx.error(at, "RX0208", "an index is made of whole numbers")
    return Constant.make(array.astype("int64"), span=cx.span(at))


def _require_whole(cx: RelaxContext, info: StructInfo, at: ast.expr) -> None:
    dtype = info.dtype if isinstance(info, (TensorStructInfo, PrimStructInfo)) else None
    if dtype == "bool":
        raise _no_mask(cx, at)
    if dtype is None or not (dtype.is_integer or dtype.is_void):
        raise cx.error(
            at, "RX0208", "an index is a tensor of whole numbers",
            labels=[(at, f"is `{info!r}`")],
        )  # fmt: skip


def _one(cx: RelaxContext, item: Any, dim: PrimExpr | None, at: ast.expr) -> tuple[Any, Any]:
    """The bounds of the slice that holds one element."""
    known = item.value if isinstance(item, IntImm) else item
    if isinstance(known, PrimExpr):
        if not known.dtype.is_integer:
            raise cx.error(at, "RX0208", "an index is a whole number")
        return known, known + 1
    place = int(known)
    size = dim.value if isinstance(dim, IntImm) else None
    if size is not None and not -size <= place < size:
        raise cx.error(
            at, "RX0208", f"the index {place} is outside, there are {size} elements here"
        )
    if place < 0 and dim is not None:
        return dim + place, dim + place + 1
    return place, _END if place == -1 else place + 1


def _slice_bounds(
    cx: RelaxContext, item: slice, dim: PrimExpr | None, at: ast.expr
) -> tuple[Any, Any, int] | None:
    """Begin, end and stride; None for all elements."""
    parts = [p.value if isinstance(p, IntImm) else p for p in (item.start, item.stop, item.step)]
    places = [at, at, at]
    if isinstance(at, ast.Slice):
        places = [at.lower or at, at.upper or at, at.step or at]
    for part, place in zip(parts, places):
        whole = isinstance(part, (int, np.integer)) and not isinstance(part, bool)
        if not (part is None or whole or (isinstance(part, PrimExpr) and part is not parts[2])):
            raise cx.error(
                place, "RX0208", "a slice is made of whole numbers and dimensions",
                help="where they are known at run time only: `R.dynamic_strided_slice`",
            )  # fmt: skip
    start, stop, step = parts
    step = 1 if step is None else int(step)
    if step == 0:
        raise cx.error(places[2], "RX0208", "a slice cannot go in steps of 0")
    if start is None and stop is None and step == 1:
        return None
    if start is None:
        start = 0 if step > 0 else -1
    if stop is None:
        stop = _far_end(cx, dim, step)
    return start, stop, step


def _far_end(cx: RelaxContext, dim: PrimExpr | None, step: int) -> Any:
    """The end of a slice that goes all the way."""
    if step > 0:
        return _END if dim is None else dim
    if isinstance(dim, IntImm):
        return -dim.value - 1
    return -_END if dim is None else dim * -1 - 1


def _carried_out(cx: RelaxContext, owner: Expr, plan: _Plan, node: ast.Subscript) -> Expr:
    steps: list[tuple[Operator, list[Any]]] = []
    if plan.slices:
        *bounds, strides = (list(column) for column in zip(*plan.slices))
        steps.append((strided_slice, [*bounds, strides] if set(strides) != {1} else bounds))
    if plan.removed:
        steps.append((squeeze, [plan.removed]))
    if plan.taken is not None:
        axis, index, _ = plan.taken
        axis -= sum(1 for gone in plan.removed if gone < axis)
        steps.append((take, [index, axis]))
    if plan.new:
        steps.append((expand_dims, [plan.new]))
    result = owner
    for operator, given in steps:  # each on what came before, which is bound first
        result = build(cx, operator, [as_leaf(cx, result, node), *given], node)
    return result


def _keeps_axes(item: Any) -> bool:
    """True if a part of an index keeps an axis, or makes one."""
    return item is None or isinstance(item, slice)

"""Indices of tensors, `x[i]`, `x[a:b, ...]`, `x[:, None]`, `x[rows]`, as the operators they mean.

    index = integer | [integer] ":" [integer] [":" integer] | "..." | "None" | integer tensor

Slices become `R.strided_slice`, whole numbers `R.strided_slice` and `R.squeeze`, a tensor of whole
numbers `R.take`, and `None` `R.expand_dims`. Whole numbers are numbers or dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Constant, Expr
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo
from relaxscript.op import Operator
from relaxscript.op.manipulate import expand_dims, squeeze
from relaxscript.op.search import take
from relaxscript.op.slicing import strided_slice

__all__ = ["IndexMistake", "IndexSteps", "index_steps"]

_END = int(np.iinfo(np.int64).max)

IndexSteps = list[tuple[Operator, list[Any]]]
Part = Literal["start", "stop", "step"]
Item = tuple[Any, int]  # with its place in what was written


class IndexMistake(Exception):
    """A mistake in an index. `item` is the place of the culprit in it, None the whole.

    `part` is the culprit in a slice, and `facts` are told of items by their places, None the
    tensor. Callers that know places turn it into a diagnostic.
    """

    def __init__(
        self, message: str, item: int | None, *, part: Part | None = None,
        help: str | None = None, facts: Sequence[tuple[int | None, str]] = (),
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.message = message
        self.item = item
        self.part: Part | None = part
        self.help = help
        self.facts = tuple(facts)


@dataclass
class _Plan:
    """The steps of an index, axis by axis of the tensor, and then of the result.

    `names` is where users find functions of tensors, and `info_of` gives a tensor's StructInfo.
    """

    names: str
    info_of: Callable[[Expr], StructInfo]
    slices: list[tuple[int, Any, Any, int]] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    taken: tuple[int, Expr, int] | None = None
    new: list[int] = field(default_factory=list)


def index_steps(
    info: TensorStructInfo,
    index: Sequence[Any],
    info_of: Callable[[Expr], StructInfo],
    written: Callable[[int], str],
    names: str = "R",
) -> IndexSteps:
    """The operators that an index of a tensor of known rank means, in their order.

    Each is called with what came before and these arguments. Lists in `index` are arrays already;
    `written` is an item as messages show it. Raises `IndexMistake`.
    """
    placed = _without_ellipsis([(item, place) for place, item in enumerate(index)], info.ndim)
    _require_together(placed)
    dims = info.dims
    plan = _Plan(names, info_of)
    axis = 0
    for item, place in placed:
        if item is None:
            plan.new.append(_width(plan, axis))
            continue
        dim = None if dims is None else dims[axis]
        if not _plan_axis(plan, axis, dim, item, place):
            raise IndexMistake(
                f"{written(place)} is no index", place,
                help="an index is a whole number, a slice, `...`, `None` or a tensor of these",
            )  # fmt: skip
        axis += 1
    return _steps(plan)


def _without_ellipsis(items: list[Item], rank: int) -> list[Item]:
    """One item for each axis that is named; `...` is as many as are left."""
    used = sum(1 for item, _ in items if item is not None and item is not Ellipsis)
    dots = [i for i, (item, _) in enumerate(items) if item is Ellipsis]
    if used > rank:
        raise IndexMistake(f"there are {used} indices", None, facts=[(None, f"has rank {rank}")])
    if len(dots) > 1:
        raise IndexMistake("an index has one `...` only", items[dots[1]][1])
    if not dots:
        return items
    at = dots[0]
    whole = (slice(None), items[at][1])
    return [*items[:at], *[whole] * (rank - used), *items[at + 1 :]]


def _require_together(placed: list[Item]) -> None:
    """Refuse `x[0, :, rows]`, whose axes numpy would reorder."""
    chosen = [i for i, (item, _) in enumerate(placed) if not _keeps_axes(item)]
    tensors = [i for i in chosen if isinstance(placed[i][0], (Expr, np.ndarray))]
    if tensors and chosen[-1] - chosen[0] >= len(chosen):
        raise IndexMistake(
            "a tensor in an index is beside the integers in it", placed[tensors[0]][1],
            help="index in two steps",
        )  # fmt: skip


def _keeps_axes(item: Any) -> bool:
    """True if a part of an index keeps an axis, or makes one."""
    return item is None or isinstance(item, slice)


def _width(plan: _Plan, axis: int) -> int:
    """The number of axes of the result before the place that an index has reached."""
    before = axis - len(plan.removed) + len(plan.new)
    if plan.taken is not None:
        info = plan.info_of(plan.taken[1])
        before += info.ndim - 1 if isinstance(info, TensorStructInfo) else -1
    return before


def _plan_axis(plan: _Plan, axis: int, dim: PrimExpr | None, item: Any, place: int) -> bool:
    """Plan what an item does with an axis; false where it is no index."""
    match item:
        case slice():
            bounds = _slice_bounds(item, dim, place)
            if bounds is not None:
                plan.slices.append((axis, *bounds))
        case bool() | np.bool_():
            raise _no_mask(plan, place)
        case int() | np.integer() | PrimExpr():
            begin, end = _one(item, dim, place)
            plan.slices.append((axis, begin, end, 1))
            plan.removed.append(axis)
        case Expr() | np.ndarray():
            if plan.taken is not None:
                raise IndexMistake(
                    "only one tensor is allowed in an index", place,
                    facts=[(plan.taken[2], "the first one")],
                    help=f"take along one axis after another: `{plan.names}.take(x, index, axis)`",
                )  # fmt: skip
            plan.taken = (axis, _index_tensor(plan, item, place), place)
        case _:
            return False
    return True


def _no_mask(plan: _Plan, place: int) -> IndexMistake:
    return IndexMistake(
        "a mask is no index: how much it keeps is known at run time only", place,
        help=f"keep the shape: `{plan.names}.where(mask, x, 0)`",
    )  # fmt: skip


def _index_tensor(plan: _Plan, item: Any, place: int) -> Expr:
    """A tensor or scalar of whole numbers; arrays of them are constants."""
    if isinstance(item, Expr):
        info = plan.info_of(item)
        dtype = info.dtype if isinstance(info, (TensorStructInfo, PrimStructInfo)) else None
        if dtype == "bool":
            raise _no_mask(plan, place)
        if dtype is None or not (dtype.is_integer or dtype.is_void):
            raise IndexMistake(
                "an index is a tensor of whole numbers", place, facts=[(place, f"is `{info!r}`")]
            )
        return item
    if item.dtype.kind == "b":
        raise _no_mask(plan, place)
    if item.dtype.kind not in "iu":
        raise IndexMistake("an index is made of whole numbers", place)
    return Constant(item.astype("int64"))


def _one(item: Any, dim: PrimExpr | None, place: int) -> tuple[Any, Any]:
    """The bounds of the slice that holds one element."""
    known = item.value if isinstance(item, IntImm) else item
    if isinstance(known, PrimExpr):
        if not known.dtype.is_integer:
            raise IndexMistake("an index is a whole number", place)
        return known, known + 1
    at = int(known)
    size = dim.value if isinstance(dim, IntImm) else None
    if size is not None and not -size <= at < size:
        message = f"the index {at} is outside, there are {size} elements here"
        raise IndexMistake(message, place)
    if at < 0 and dim is not None:
        return dim + at, dim + at + 1
    return at, _END if at == -1 else at + 1


def _slice_bounds(item: slice, dim: PrimExpr | None, place: int) -> tuple[Any, Any, int] | None:
    """Begin, end and stride; None for all elements."""
    given: dict[Part, Any] = {"start": item.start, "stop": item.stop, "step": item.step}
    bounds = {name: b.value if isinstance(b, IntImm) else b for name, b in given.items()}
    for name, bound in bounds.items():
        whole = isinstance(bound, (int, np.integer)) and not isinstance(bound, bool)
        if not (bound is None or whole or (isinstance(bound, PrimExpr) and name != "step")):
            raise IndexMistake(
                "a slice is made of whole numbers and dimensions", place, part=name,
                help="where they are known at run time only: `R.dynamic_strided_slice`",
            )  # fmt: skip
    start, stop = bounds["start"], bounds["stop"]
    step = 1 if bounds["step"] is None else int(bounds["step"])
    if step == 0:
        raise IndexMistake("a slice cannot go in steps of 0", place, part="step")
    if start is None and stop is None and step == 1:
        return None
    if start is None:
        start = 0 if step > 0 else -1
    if stop is None:
        stop = _far_end(dim, step)
    return start, stop, step


def _far_end(dim: PrimExpr | None, step: int) -> Any:
    """The end of a slice that goes all the way."""
    if step > 0:
        return _END if dim is None else dim
    if isinstance(dim, IntImm):
        return -dim.value - 1
    return -_END if dim is None else dim * -1 - 1


def _steps(plan: _Plan) -> IndexSteps:
    steps: IndexSteps = []
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
    return steps

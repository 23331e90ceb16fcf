"""Layouts such as "NHWC" and "NCHW16c": the order of the axes of a tensor, and which are packed.

A capital is an axis. A number with a small letter is the inner part of an axis: in "NCHW16c" the
last axis holds 16 neighbouring channels, and C counts these groups. Source: TVM `tir.Layout`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.arith import simplify
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op.gradients import R, known_dims
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.layout import (
    AnyOrder,
    InferLayoutOutput,
    LayoutContext,
    declined,
    is_packable,
    order_to,
    spelled,
    takes_packed,
)
from relaxscript.opdef.shapes import ZERO, Dims, dims_of, number, product, require_equal
from relaxscript.sinfo.axis_order import AxisOrder, LayoutAxis, axes_of

__all__ = [
    "Layout",
    "convolution_layouts",
    "from_plain",
    "permuted",
    "pooling_layouts",
    "read_layout",
    "to_plain",
]


class Layout(AxisOrder):
    """A layout as it is written, and its axes.

    Dimensions and arrays are plain where they are in the order of the letters, unpacked.
    """

    __slots__ = ()

    # ------------------------------------------------------------ arrays

    def unpack(self, array: Any) -> Any:
        """An array of this layout as a plain one."""
        axes = range(len(self.letters))
        ordered = array.transpose([place for axis in axes for place in self.parts(axis)])
        if self.rank == len(self.letters):
            return ordered
        sizes = [math.prod(array.shape[i] for i in self.parts(axis)) for axis in axes]
        return ordered.reshape(sizes)

    def pack(self, array: Any) -> Any:
        """A plain array as one of this layout."""
        axes = range(len(self.letters))
        order = [place for axis in axes for place in self.parts(axis)]
        if self.rank > len(self.letters):
            sizes: list[int] = []
            for axis in axes:
                inner = [self.places[i].factor for i in self.parts(axis)[1:]]
                outer = array.shape[axis] // self.factor(axis)
                sizes += [outer, *(factor for factor in inner if factor is not None)]
            array = array.reshape(sizes)
        return array.transpose([order.index(place) for place in range(self.rank)])

    # ------------------------------------------------------------ dimensions

    def dims(self, context: InferContext, operand: str, info: TensorStructInfo) -> Dims | None:
        """The plain dimensions of an operand of this layout; raises `OperandError` (RX0203)."""
        dims = dims_of(info)
        rank = info.ndim if dims is None else len(dims)
        if rank not in (-1, self.rank):
            raise OperandError(
                operand,
                shape_fact(info, dims),
                message=f'the layout "{self.text}" has {quantity(self.rank, "axis")}',
            )
        if dims is None:
            return None
        for dim, place in zip(dims, self.places):
            if place.factor is not None:
                self._require_factor(context, operand, dim, place)
        return tuple(self.sizes(dims))

    def _require_factor(
        self, context: InferContext, operand: str, dim: PrimExpr, place: LayoutAxis
    ) -> None:
        part = f"{place.factor}{self.letters[place.axis].lower()}"
        error = OperandError(
            operand,
            f"has {dim_text(dim)} elements along the inner part of {self.letters[place.axis]}",
            message=f'the layout "{self.text}" packs {place.factor} of them, as `{part}` says',
        )
        text = f"`{operand}` is packed by {place.factor}, and its inner part is {dim_text(dim)}"
        require_equal(context, dim, number(place.factor or 1), error, text)

    def arrange(
        self, context: InferContext, operand: str, dims: Sequence[PrimExpr]
    ) -> list[PrimExpr]:
        """Plain dimensions in this layout; `operand` is to blame where one cannot be packed."""
        if not self.is_packed:
            return [dims[place.axis] for place in self.places]
        found = []
        for axis, factor in self.places:
            if factor is not None:
                found.append(number(factor))
                continue
            whole, by = dims[axis], self.factor(axis)
            if by > 1:
                self._require_whole(context, operand, whole, axis, by)
            outer = simplify(prim.FloorDiv.make(whole, number(by))) if by > 1 else whole
            found.append(outer)
        return found

    def _require_whole(
        self, context: InferContext, operand: str, dim: PrimExpr, axis: int, by: int
    ) -> None:
        letter = self.letters[axis]
        error = OperandError(
            operand,
            f"gives the result {dim_text(dim)} elements along {letter}",
            message=f'the layout "{self.text}" of the result packs {by} of them at a time',
        )
        rest = simplify(prim.FloorMod.make(dim, number(by)))
        text = f"the result has {dim_text(dim)} elements along {letter}, packed by {by}"
        require_equal(context, rest, ZERO, error, text)


def read_layout(name: str, text: str, letters: str) -> Layout:
    """The layout that an attribute says; raises `OperandError` (RX0204) for none of `letters`."""
    found = axes_of(text, letters)
    if found is None:
        message = f"it {_names(letters)}"
        raise OperandError(name, f'is "{text}"', message=message, code="RX0204")
    return Layout(text, letters, found)


def _names(letters: str) -> str:
    """The words that say how a layout of some letters is written."""
    packed = f"{letters}16{letters[1].lower()}"
    return (
        f"names the axes {', '.join(letters)} in some order, "
        f'as "{letters}" does, and inner parts of them, as "{packed}"'
    )


# ---------------------------------------------------------------- expressions


def permuted(x: Expr, order: Sequence[int]) -> Expr:
    """A tensor with its axes in another order; itself where that is its own."""
    made: Expr = x if list(order) == sorted(order) else R.permute_dims(x, order)
    return made


def to_plain(x: Expr, layout: Layout) -> Expr:
    """A tensor of a layout as a plain one."""
    parts = [layout.parts(axis) for axis in range(len(layout.letters))]
    moved = permuted(x, [place for own in parts for place in own])
    if layout.rank == len(parts):
        return moved
    dims = known_dims("data", x)
    made: Expr = R.reshape(moved, [product([dims[i] for i in own]) for own in parts])
    return made


def from_plain(x: Expr, layout: Layout) -> Expr:
    """A plain tensor as one of a layout."""
    parts = [layout.parts(axis) for axis in range(len(layout.letters))]
    order = [place for own in parts for place in own]
    if layout.rank > len(parts):
        sizes: list[Any] = []
        for axis, (dim, own) in enumerate(zip(known_dims("data", x), parts)):
            by = layout.factor(axis)
            outer = dim if by == 1 else simplify(prim.FloorDiv.make(dim, number(by)))
            sizes += [outer, *(layout.places[place].factor for place in own[1:])]
        x = R.reshape(x, sizes)
    return permuted(x, [order.index(place) for place in range(layout.rank)])


# ---------------------------------------------------------------- axes in another order


@takes_packed
def convolution_layouts(
    context: LayoutContext, data: AnyOrder, weight: AnyOrder, data_layout: str, kernel_layout: str,
    out_layout: str | None, **others: Any,
) -> InferLayoutOutput:  # fmt: skip
    """The rule of convolutions: their layouts say the order of axes."""
    layouts = {"data_layout": data_layout, "kernel_layout": kernel_layout}
    return _layouts(context, (data, weight), layouts, out_layout or data_layout)


@takes_packed
def pooling_layouts(
    context: LayoutContext, data: AnyOrder, layout: str, out_layout: str | None, **others: Any
) -> InferLayoutOutput:
    """The rule of what combines windows: its layout says the order of axes."""
    return _layouts(context, (data,), {"layout": layout}, out_layout or layout)


def _layouts(
    context: LayoutContext, orders: Sequence[AnyOrder], layouts: Mapping[str, str], out: str
) -> InferLayoutOutput:
    """The call with other layouts by letters, one for each operand, where those now are `layouts`.

    `out` is that of the result, which comes in the order of the first operand. Operands are taken
    as they come, unless layouts are asked for that their sizes admit. Who packs axes by itself is
    left as it is.
    """
    asked = _asked(context, layouts, out)
    if not all(map(str.isalpha, (*layouts.values(), out))):
        return declined(context, orders)
    return (
        (_made(context, *asked, layouts, out) if asked is not None else None)
        or _made(context, orders, None, layouts, out)
        or declined(context, orders)
    )


def _asked(
    context: LayoutContext, layouts: Mapping[str, str], out: str
) -> tuple[Sequence[AnyOrder], str | None] | None:
    """The orders of the operands that are asked for, and the layout of the result, if it is.

    Raises `OperandError` (RX0204) for a layout of other axes.
    """
    if not context.desired_layouts:
        return None
    names = [*layouts, "out_layout"]
    for name, text, own in zip(names, context.desired_layouts, (*layouts.values(), out)):
        letters = "".join(filter(str.isupper, own))
        if axes_of(text, letters) is None:
            message = f"the `{name}` of {{callee}} {_names(letters)}"
            raise OperandError(name, f'is asked to be "{text}"', message=message, code="RX0204")
    *texts, last = (*context.desired_layouts, None)[: len(layouts) + 1]
    orders = [order_to(own, text or own) for own, text in zip(layouts.values(), texts)]
    taken = [order for order in orders if order is not None]
    return (taken, last) if len(taken) == len(layouts) else None


def _made(
    context: LayoutContext, orders: Sequence[AnyOrder], result: str | None,
    layouts: Mapping[str, str], out: str,
) -> InferLayoutOutput | None:  # fmt: skip
    """The call with operands in some orders; None where something cannot be packed so."""
    names = {name: spelled(order, own) for (name, own), order in zip(layouts.items(), orders)}
    order = order_to(out, result or next(iter(names.values())))
    if order is None:
        return None
    infos = [*context.operands[: len(orders)], context.out]
    fits = all(
        isinstance(info, TensorStructInfo) and is_packable(own, dims_of(info))
        for info, own in zip(infos, (*orders, order))
    )
    changed = {**names, "out_layout": spelled(order, out)}
    return InferLayoutOutput(tuple(orders), order, changed) if fits else None

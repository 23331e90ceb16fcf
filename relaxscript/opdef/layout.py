"""Layouts of operands: what a call becomes where the axes of a tensor are in another order.

    @flip.layout_rule
    def _(context, data, axis):                # the order of each operand, and the attributes
        return InferLayoutOutput((data,), data, {"axis": place_of(axis, data)})

An order names for each axis the one that it was: a tensor `x` in the order `(0, 2, 3, 1)` is
`R.permute_dims(x, (0, 2, 3, 1))`. A rule gets an order for each operand, and gives those in which
it takes them, which may be others. It says the order of the result, and what attributes change. The
call on the operands in these orders is then the result in its own. Source: TVM `FRelaxInferLayout`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from relaxscript.errors import InternalError
from relaxscript.ir.relax import Attrs, Call, Expr, Op
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo

from .context import InferContext
from .operator import REGISTRY, Operator
from .shapes import dims_of

__all__ = [
    "ConvertedCall", "InferLayoutOutput", "LayoutContext", "NLayout", "Order", "along_axis",
    "convert_layout", "declined", "follow", "order_to", "place_of", "places_of", "plain", "reduced",
    "with_axes", "without_axes",
]  # fmt: skip

Order = tuple[int, ...]
# Nested as the value is: the order of a tensor, those of the fields of a tuple, None for others.
NLayout = Order | tuple[Any, ...] | None


class LayoutContext(NamedTuple):
    """A call, the StructInfo of its operands and its result, and the layouts that are asked for.

    `desired_layouts` are layouts by letters, "NHWC", of the operands of a convolution and its like,
    and of their result.
    """

    call: Call
    operands: tuple[Any, ...]
    out: StructInfo
    desired_layouts: tuple[str, ...] = ()


class InferLayoutOutput(NamedTuple):
    """The answer of a rule: orders of the operands and of the result, and changed arguments.

    `new_args` are operands that are no tensors, by name, such as the axes of a slice. Source: TVM
    `InferLayoutOutput`.
    """

    input_layouts: tuple[NLayout, ...]
    output_layouts: NLayout
    new_attrs: Mapping[str, Any] = MappingProxyType({})
    new_args: Mapping[str, Expr] = MappingProxyType({})


class ConvertedCall(NamedTuple):
    """A call with other attributes, the orders of its arguments, and that of its result."""

    call: Call
    input_layouts: tuple[NLayout, ...]
    output_layouts: NLayout


# ---------------------------------------------------------------- orders


def plain(ndim: int) -> Order:
    """The order of axes that are where they were."""
    return tuple(range(ndim))


def place_of(axis: int, order: Order) -> int:
    """The place of an axis in an order."""
    return order.index(axis % len(order))


def places_of(axes: Sequence[int], order: Order) -> Order:
    """The places of some axes in an order."""
    return tuple(place_of(axis, order) for axis in axes)


def without_axes(order: Order, gone: Collection[int]) -> Order:
    """The order of the axes that are left without some, counted anew."""
    left = [axis for axis in range(len(order)) if axis not in gone]
    return tuple(left.index(axis) for axis in order if axis not in gone)


def with_axes(order: Order, new: Collection[int]) -> Order:
    """The order of the axes of a result of which those at some places are new."""
    rank = len(order) + len(new)
    others = [place for place in range(rank) if place not in new]
    old = iter(order)
    return tuple(place if place in new else others[next(old)] for place in range(rank))


def order_to(old: str, new: str) -> Order | None:
    """The order that brings a layout to another; None where these have not the same axes each."""
    if sorted(old) != sorted(new) or len(set(old)) < len(old):
        return None
    return tuple(old.index(letter) for letter in new)


def rank_of(info: StructInfo) -> int:
    """The number of axes of a tensor, -1 where it is not known."""
    if not isinstance(info, TensorStructInfo):
        raise InternalError(f"a rule of layouts asks for the axes of {info}")
    dims = dims_of(info)
    return info.ndim if dims is None else len(dims)


def _plain_of(info: Any) -> NLayout:
    """The orders of a value whose axes are where they were."""
    if isinstance(info, TupleStructInfo):
        info = info.fields
    if isinstance(info, (tuple, list)):
        return tuple(map(_plain_of, info))
    return plain(rank_of(info)) if isinstance(info, TensorStructInfo) else None


def _filled(orders: Any, others: Any) -> Any:
    """Some orders, and others where they are None."""
    if orders is None or others is None:
        return others
    if any(isinstance(order, tuple) or order is None for order in orders):
        return tuple(map(_filled, orders, others))
    return orders


def _is_known(info: Any) -> bool:
    if isinstance(info, TupleStructInfo):
        info = info.fields
    if isinstance(info, (tuple, list)):
        return all(map(_is_known, info))
    return not isinstance(info, TensorStructInfo) or rank_of(info) >= 0


def follow(context: LayoutContext, *orders: Order, **attributes: Any) -> InferLayoutOutput:
    """The rule of an operator on elements, which broadcast: the first order of full rank is taken.

    Operands of less axes take its last part, where that has no others than their own.
    """
    ndim = max(map(len, orders))
    chosen = next((o for o in orders if len(o) == ndim and o != plain(ndim)), plain(ndim))
    parts = []
    for order in orders:
        skip = ndim - len(order)
        part = tuple(axis - skip for axis in chosen[skip:])
        if min(part, default=0) < 0:
            return InferLayoutOutput(tuple(plain(len(o)) for o in orders), plain(ndim))
        parts.append(part)
    return InferLayoutOutput(tuple(parts), chosen)


def declined(context: LayoutContext, operands: Sequence[NLayout]) -> InferLayoutOutput:
    """The call as it was: every operand is wanted with its axes where they were."""
    return InferLayoutOutput(tuple(map(_plain_like, operands)), _plain_of(context.out))


def _plain_like(orders: NLayout) -> NLayout:
    if orders is None:
        return None
    if all(isinstance(axis, int) for axis in orders):
        return plain(len(orders))
    return tuple(map(_plain_like, orders))


def reduced(
    context: LayoutContext, x: Order, axis: tuple[int, ...] | None, keepdims: bool
) -> InferLayoutOutput:
    """The rule of an operator that combines all elements along some axes."""
    gone = range(len(x)) if axis is None else [a % len(x) for a in axis]
    result = x if keepdims else without_axes(x, gone)
    return InferLayoutOutput((x,), result, {"axis": None if axis is None else places_of(axis, x)})


def along_axis(
    context: LayoutContext, x: Order, axis: int | None, **attributes: Any
) -> InferLayoutOutput:
    """The rule of an operator on rows along an axis, which are as many in each of its results."""
    if axis is None:  # along all, in the order in which they are
        return declined(context, (x,))
    fields = len(context.out.fields) if isinstance(context.out, TupleStructInfo) else 0
    return InferLayoutOutput((x,), (x,) * fields if fields else x, {"axis": place_of(axis, x)})


# ---------------------------------------------------------------- asking


def convert_layout(
    call: Call,
    orders: Sequence[NLayout],
    context: InferContext,
    desired_layouts: tuple[str, ...] = (),
) -> ConvertedCall | None:
    """The call that a call becomes whose arguments come in some orders.

    None where the operator has no rule, or the number of axes of something is not known. Then
    everything has to be as it was. Raises `OperandError` for operands that do not go together.
    """
    operator = REGISTRY.get(call.op.name) if isinstance(call.op, Op) else None
    if operator is None or "layout" not in operator.rules:
        return None
    infos, out = operator.operand_infos(call, context), operator.infer(call, context)
    if not _is_known(infos) or not _is_known(out):
        return None
    names = [p.name for p in operator.parameters if p.is_operand]
    given = list(map(_plain_of, infos))
    for name, place in operator.operand_places(len(call.args)):
        index = names.index(name)
        given[index] = _filled(orders[place], given[index])
    asked = LayoutContext(call, tuple(infos), out, desired_layouts)
    made = operator.rules["layout"](asked, *given, **operator.attributes(call))
    return _as_call(operator, call, names, made)


def _as_call(
    operator: Operator, call: Call, names: Sequence[str], made: InferLayoutOutput
) -> ConvertedCall:
    args: list[Expr] = list(call.args)
    orders: list[NLayout] = [None] * len(args)
    by_name = dict(zip(names, made.input_layouts, strict=True))
    for name, place in operator.operand_places(len(args)):
        if isinstance(place, slice):
            raise InternalError(f"the operands `{name}` have no layouts of their own")
        orders[place] = by_name[name]
        args[place] = made.new_args.get(name, args[place])
    attrs = Attrs({**operator.attributes(call), **made.new_attrs}) if call.attrs else call.attrs
    return ConvertedCall(
        call.replace(args=tuple(args), attrs=attrs), tuple(orders), made.output_layouts
    )

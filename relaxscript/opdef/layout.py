"""Layouts of operands: what a call becomes where the axes of a tensor are in another order.

    @flip.layout_rule
    def _(context, data, axis):                # the order of each operand, and the attributes
        return InferLayoutOutput((data,), data, {"axis": place_of(axis, data)})

An order names for each axis the one that it was: a tensor `x` in the order `(0, 2, 3, 1)` is
`R.permute_dims(x, (0, 2, 3, 1))`. A rule gets an order for each operand, and gives those in which
it takes them, which may be others. It says the order of the result, and what attributes change. The
call on the operands in these orders is then the result in its own. Source: TVM `FRelaxInferLayout`.

Where axes are packed, the order is an `AxisOrder`, "NCHW4c" over the letters of plain axes. Rules
under `takes_packed` are given such; for others the operands are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from string import ascii_uppercase
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from relaxscript.arith import YES, prove, prove_equal, simplify
from relaxscript.errors import InternalError
from relaxscript.ir import prim
from relaxscript.ir.prim import INT64, PrimExpr, Var
from relaxscript.ir.relax import Attrs, Call, Expr, Op
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.sinfo.axis_order import AxisOrder, LayoutAxis, axes_of

from .context import InferContext
from .operator import REGISTRY, Operator
from .shapes import ONE, ZERO, Dims, dims_of, number

__all__ = [
    "AnyOrder", "ConvertedCall", "InferLayoutOutput", "LayoutContext", "NLayout", "Order",
    "along_axis", "convert_layout", "declined", "follow", "followed", "index_map_between",
    "is_order", "is_packable", "order_to", "place_of", "places_of", "plain", "reduced", "spelled",
    "takes_packed", "with_axes", "without_axes",
]  # fmt: skip

_Rule = TypeVar("_Rule", bound=Callable[..., Any])

Order = tuple[int, ...]
# Of axes some of which may be packed.
AnyOrder = Order | AxisOrder
# Nested as the value is: the order of a tensor, those of the fields of a tuple, None for others.
NLayout = AnyOrder | tuple[Any, ...] | None
# The rules that are asked about packed axes.
_TAKE_PACKED: set[Callable[..., Any]] = set()


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


def place_of(axis: int, order: AnyOrder) -> int:
    """The place of an axis in an order, of its outermost part where it is packed."""
    return _places_of(order).index(LayoutAxis(axis % _rank(order), None))


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


def order_to(old: str, new: str) -> AnyOrder | None:
    """The order that brings a layout to another; None where these have not the same axes each.

    The new one may pack axes, the old one does not.
    """
    places = axes_of(new, old) if old.isalpha() and len(set(old)) == len(old) else None
    return None if places is None else _order_of(places)


def spelled(order: AnyOrder, letters: str) -> str:
    """The layout of an order, by the letters of the axes that it is of."""
    return "".join(
        letters[axis] if factor is None else f"{factor}{letters[axis].lower()}"
        for axis, factor in _places_of(order)
    )


def is_order(orders: NLayout) -> bool:
    """True for the order of one tensor, False for those of a tuple."""
    return isinstance(orders, AxisOrder) or (
        orders is not None and all(isinstance(axis, int) for axis in orders)
    )


# ---------------------------------------------------------------- orders with packed axes


def takes_packed(rule: _Rule) -> _Rule:
    """Decorator: a rule is asked about packed axes too; for others operands are unpacked."""
    _TAKE_PACKED.add(rule)
    return rule


def is_packable(order: AnyOrder, dims: Dims | None) -> bool:
    """True if the sizes of the axes that an order packs are multiples of what it packs, not 0.

    Of nothing at all an index map makes no pack, which would be of a size.
    """
    if not isinstance(order, AxisOrder):
        return True
    factors = [order.factor(axis) for axis in range(len(order.letters))]
    return dims is not None and all(
        by == 1 or _is_multiple(dim, by) for dim, by in zip(dims, factors)
    )


def _is_multiple(dim: PrimExpr, by: int) -> bool:
    rest = simplify(prim.FloorMod.make(dim, number(by)))
    return prove_equal(rest, ZERO) is YES and prove(prim.LT.make(ZERO, dim)) is YES


def index_map_between(old: AnyOrder, new: AnyOrder) -> IndexMap:
    """The places in a tensor of one order of the elements of one of another."""
    there, here = _axis_order(old), _axis_order(new)
    indices = [Var.make(f"i{place}", INT64) for place in range(there.rank)]
    return IndexMap(tuple(indices), tuple(map(simplify, here.spread(there.gather(indices)))))


def _axis_order(order: AnyOrder) -> AxisOrder:
    if isinstance(order, AxisOrder):
        return order
    letters = ascii_uppercase[: len(order)]
    return AxisOrder(spelled(order, letters), letters, _places_of(order))


def _places_of(order: AnyOrder) -> tuple[LayoutAxis, ...]:
    if isinstance(order, AxisOrder):
        return order.places
    return tuple([LayoutAxis(axis, None) for axis in order])


def _order_of(places: Sequence[LayoutAxis]) -> AnyOrder:
    """The order of some places, which are parts of as many axes as it needs."""
    if all(place.factor is None for place in places):
        return tuple([place.axis for place in places])
    letters = ascii_uppercase[: 1 + max(place.axis for place in places)]
    text = "".join(
        letters[axis] if factor is None else f"{factor}{letters[axis].lower()}"
        for axis, factor in places
    )
    return AxisOrder(text, letters, tuple(places))


def _rank(order: AnyOrder) -> int:
    """The number of axes that an order is of."""
    return len(order.letters) if isinstance(order, AxisOrder) else len(order)


def _unpacked(orders: NLayout) -> NLayout:
    """Some orders, plain ones in the place of those with packed axes."""
    if orders is None or isinstance(orders, AxisOrder):
        return None if orders is None else plain(len(orders.letters))
    return orders if is_order(orders) else tuple(map(_unpacked, orders))


def _trailing(order: AnyOrder, info: Any, rank: int) -> AnyOrder | None:
    """The order of an operand that broadcasts with a tensor of an order.

    None where it would have to be spread over more axes. An axis of one element is packed by one.
    """
    skip = _rank(order) - rank
    places = _places_of(order)
    own = [LayoutAxis(axis - skip, factor) for axis, factor in places if axis >= skip]
    if any(axis < skip for axis, _ in places[len(places) - len(own) :]):
        return None
    if all(factor is None for _, factor in own):
        return _order_of(own)
    dims = dims_of(info) if isinstance(info, TensorStructInfo) else None
    if dims is None:
        return None
    single = {axis for axis, dim in enumerate(dims) if prove_equal(dim, ONE) is YES}
    made = _order_of([
        LayoutAxis(axis, 1 if factor and axis in single else factor) for axis, factor in own
    ])  # fmt: skip
    return made if is_packable(made, dims) else None


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
    return orders if is_order(orders) else tuple(map(_filled, orders, others))


def _is_distributed(info: Any) -> bool:
    if isinstance(info, TupleStructInfo):
        return any(map(_is_distributed, info.fields))
    return isinstance(info, DTensorStructInfo)


def _is_known(info: Any) -> bool:
    if isinstance(info, TupleStructInfo):
        info = info.fields
    if isinstance(info, (tuple, list)):
        return all(map(_is_known, info))
    return not isinstance(info, TensorStructInfo) or rank_of(info) >= 0


@takes_packed
def follow(context: LayoutContext, *orders: AnyOrder, **attributes: Any) -> InferLayoutOutput:
    """The rule of an operator on elements, which broadcast: the first order of full rank is taken.

    Operands of less axes take its last part, where that has no others than their own.
    """
    return followed(orders, context.operands)


def followed(orders: Sequence[AnyOrder], infos: Sequence[Any]) -> InferLayoutOutput:
    """The answer of `follow` for operands in some orders, whose StructInfo is `infos`."""
    ranks = list(map(_rank, orders))
    ndim = max(ranks)
    chosen = next((o for o in orders if _rank(o) == ndim and o != plain(ndim)), plain(ndim))
    parts = [_trailing(chosen, info, rank) for info, rank in zip(infos, ranks)]
    if None in parts:
        return InferLayoutOutput(tuple(map(plain, ranks)), plain(ndim))
    return InferLayoutOutput(tuple(parts), chosen)


def declined(context: LayoutContext, operands: Sequence[NLayout]) -> InferLayoutOutput:
    """The call as it was: every operand is wanted with its axes where they were."""
    return InferLayoutOutput(tuple(map(_plain_like, operands)), _plain_of(context.out))


def _plain_like(orders: NLayout) -> NLayout:
    if orders is None:
        return None
    if isinstance(orders, AxisOrder) or is_order(orders):
        return plain(_rank(orders))
    return tuple(map(_plain_like, orders))


@takes_packed
def reduced(
    context: LayoutContext, x: AnyOrder, axis: tuple[int, ...] | None, keepdims: bool
) -> InferLayoutOutput:
    """The rule of an operator that combines all elements along some axes."""
    gone = range(_rank(x)) if axis is None else [a % _rank(x) for a in axis]
    places = _places_of(x)
    along = [k for k, place in enumerate(places) if place.axis in gone]
    left: list[LayoutAxis] = []
    for a, factor in places:
        if a not in gone:
            left.append(LayoutAxis(a if keepdims else a - sum(g < a for g in gone), factor))
        elif keepdims:
            left.append(LayoutAxis(a, factor and 1))
    changed = {"axis": None if axis is None else tuple(along)}
    return InferLayoutOutput((x,), _order_of(left), changed)


@takes_packed
def along_axis(
    context: LayoutContext, x: AnyOrder, axis: int | None, **attributes: Any
) -> InferLayoutOutput:
    """The rule of an operator on rows along an axis, which are as many in each of its results."""
    # Along all, elements are taken in the order in which they are; rows are in one piece.
    places = None if axis is None else _whole_place(axis, x)
    if places is None:
        return declined(context, (x,))
    fields = len(context.out.fields) if isinstance(context.out, TupleStructInfo) else 0
    return InferLayoutOutput((x,), (x,) * fields if fields else x, {"axis": places})


def _whole_place(axis: int, order: AnyOrder) -> int | None:
    """The place of an axis in an order; None where it is packed."""
    parts = sum(place.axis == axis % _rank(order) for place in _places_of(order))
    return place_of(axis, order) if parts == 1 else None


# ---------------------------------------------------------------- asking


def convert_layout(
    call: Call,
    orders: Sequence[NLayout],
    context: InferContext,
    desired_layouts: tuple[str, ...] = (),
) -> ConvertedCall | None:
    """The call that a call becomes whose arguments come in some orders.

    None where the operator has no rule, or the number of axes of something is not known. It is
    None for distributed tensors, too. Then everything has to be as it was. Raises `OperandError`
    for operands that do not go together.
    """
    operator = REGISTRY.get(call.op.name) if isinstance(call.op, Op) else None
    if operator is None or "layout" not in operator.rules:
        return None
    if any(_is_distributed(context.struct_info(arg)) for arg in call.args):
        return None
    infos, out = operator.operand_infos(call, context), call.known_info
    if out is None:
        out = operator.infer(call, context)
    if not _is_known(infos) or not _is_known(out):
        return None
    names = [p.name for p in operator.parameters if p.is_operand]
    given = list(map(_plain_of, infos))
    for name, place in operator.operand_places(len(call.args)):
        index = names.index(name)
        given[index] = _filled(orders[place], given[index])
    rule = operator.rules["layout"]
    if rule not in _TAKE_PACKED:
        given = list(map(_unpacked, given))
    asked = LayoutContext(call, tuple(infos), out, desired_layouts)
    made = rule(asked, *given, **operator.attributes(call))
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

"""Tensors joined along an axis, and a tensor split along one.

Results are new arrays, never views. Source: numpy's functions of the same names; `split` into
sections as TVM.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.arith import NO, YES, prove_equal, simplify
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Expr, Tuple, TupleGetItem
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op.gradients import R, fields_of, known_dims, known_rank
from relaxscript.opdef.compute import ComputeContext, shape_of_result
from relaxscript.opdef.context import DeferredCheck, InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import (
    AnyOrder,
    InferLayoutOutput,
    LayoutContext,
    Order,
    along_axis,
    declined,
    followed,
    place_of,
    takes_packed,
    with_axes,
)
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor, Tensors
from relaxscript.opdef.shapes import (
    ZERO,
    axis_in,
    common_dtype,
    common_vdevice,
    dims_of,
    number,
    require_equal,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.opdef.traits import Trait

__all__ = ["concat", "split", "stack"]

_FAR = (1 << 63) - 1  # a bound that no dimension reaches: the end, wherever that is
_MOST_SECTIONS = 1 << 16  # each is a field of the result, which somebody must name


# ---------------------------------------------------------------- joining


@op(traits={Trait.MIXED_FOLLOW})
def concat(tensors: Tensors, axis: int | None = 0) -> Tensor:
    """The tensors one after the other along `axis`; their other dimensions are equal.

    `axis=None` joins tensors of rank 1.
    """
    joined: Tensor = np.concatenate(tensors, axis=0 if axis is None else axis)
    return joined


@concat.infer_rule
def _(
    context: InferContext, tensors: tuple[TensorStructInfo, ...], axis: int | None = 0
) -> StructInfo:
    if not tensors:
        raise OperandError("tensors", "is empty", help="give at least one tensor to join")
    named = {f"tensors[{index}]": info for index, info in enumerate(tensors)}
    dtype = common_dtype(named)
    vdevice = common_vdevice(named)
    rank = _joint_rank(named, axis)
    place = axis_in(0 if axis is None else axis, rank, "axis", "tensors")
    shapes = [dims_of(info) for info in tensors]
    for (name, info), dims in zip(named.items(), shapes):
        if dims is not None and shapes[0] is not None:
            _require_aligned(context, name, info, dims, tensors[0], shapes[0], place)
    if len(tensors) == 1:
        return tensors[0]
    known = [dims for dims in shapes if dims is not None]
    if len(known) < len(shapes):
        return tensor_of(None, dtype, vdevice, rank)
    total = _sum([dims[place] for dims in known])
    others = [_best(dims[index] for dims in known) for index in range(rank)]
    return tensor_of([*others[:place], total, *others[place + 1 :]], dtype, vdevice)


@concat.compute()
def _(context: ComputeContext, tensors: Any, axis: int | None = 0) -> Any:
    return topi.concatenate(tensors, 0 if axis is None else axis)


@concat.layout_rule
@takes_packed
def _(context: LayoutContext, tensors: tuple[AnyOrder, ...], axis: int | None) -> InferLayoutOutput:
    infos = context.operands[0]
    made = followed(tensors, getattr(infos, "fields", infos))
    order: Any = made.output_layouts
    # Without an axis all are vectors. One that has no whole packs is in an order of its own.
    if axis is None or any(own != order for own in made.input_layouts):
        return declined(context, (tensors,))
    return InferLayoutOutput((made.input_layouts,), order, {"axis": place_of(axis, order)})


def _sum(dims: Sequence[PrimExpr]) -> PrimExpr:
    if all(isinstance(dim, IntImm) for dim in dims):
        return number(sum(dim.value for dim in dims if isinstance(dim, IntImm)))
    total = dims[0]
    for dim in dims[1:]:
        total = prim.Add.make(total, dim)
    return simplify(total)


def _best(dims: Any) -> PrimExpr:
    """Of dimensions that must be equal, a number where there is one, else the first."""
    found: list[PrimExpr] = list(dims)
    return next((dim for dim in found if isinstance(dim, IntImm)), found[0])


def _joint_rank(named: dict[str, TensorStructInfo], axis: int | None) -> int:
    first, rank = "", -1
    for name, info in named.items():
        dims = dims_of(info)
        own = info.ndim if dims is None else len(dims)
        if own == 0:
            raise OperandError(
                name, "has rank 0", help="give it an axis first: `R.expand_dims(x, 0)`"
            )
        if axis is None and own > 1:
            raise OperandError(
                name, shape_fact(info, dims), help="flatten it first: `R.flatten(x)`"
            )
        if rank not in (-1, own) and own != -1:
            also = {first: shape_fact(named[first])}
            raise OperandError(name, shape_fact(info), also=also, help="all must have one rank")
        if rank == -1 and own != -1:
            first, rank = name, own
    return rank


def _require_aligned(
    context: InferContext,
    name: str,
    info: TensorStructInfo,
    dims: tuple[PrimExpr, ...],
    first: TensorStructInfo,
    wanted: tuple[PrimExpr, ...],
    place: int,
) -> None:
    for index, (a, b) in enumerate(zip(wanted, dims)):
        if index == place or same_dim(a, b):
            continue
        error = OperandError(
            name,
            shape_fact(info, dims),
            also={"tensors[0]": shape_fact(first, wanted)},
            help=f"all dimensions but that of axis {place} must be equal",
        )
        text = f"`{name}` has {dim_text(b)} elements along axis {index}, not {dim_text(a)}"
        require_equal(context, a, b, error, text)


@concat.gradient
def _(context: GradientContext, tensors: Expr, axis: int | None) -> Gradients:
    grad, given = context.grad, fields_of(tensors)
    place = (axis or 0) % known_rank("tensors", given[0])
    lengths = [known_dims(f"tensors[{k}]", x)[place] for k, x in enumerate(given)]
    if len(given) == 1:
        return (Tuple.make((grad,)),)
    if all(isinstance(length, IntImm) for length in lengths):
        sizes = [length.value for length in lengths if isinstance(length, IntImm)]
        pieces = R.split(grad, list(itertools.accumulate(sizes[:-1])), place)
        return (Tuple.make(tuple(TupleGetItem.make(pieces, k) for k in range(len(given)))),)
    ends = [_sum(lengths[: k + 1]) for k in range(len(given))]
    bounds = zip([ZERO, *ends[:-1]], ends)
    parts = [R.strided_slice(grad, [place], [a], [b], assume_inbound=True) for a, b in bounds]
    return (Tuple.make(tuple(parts)),)


@op(traits={Trait.MIXED_FOLLOW})
def stack(tensors: Tensors, axis: int = 0) -> Tensor:
    """The tensors, all of one shape, one after the other along a new axis."""
    return np.stack(tensors, axis)


@stack.infer_rule
def _(context: InferContext, tensors: tuple[TensorStructInfo, ...], axis: int = 0) -> StructInfo:
    if not tensors:
        raise OperandError("tensors", "is empty", help="give at least one tensor to stack")
    named = {f"tensors[{index}]": info for index, info in enumerate(tensors)}
    dtype, vdevice = common_dtype(named), common_vdevice(named)
    first, shape = "", None
    rank = -1
    for name, info in named.items():
        dims = dims_of(info)
        own = info.ndim if dims is None else len(dims)
        if rank not in (-1, own) and own != -1:
            also = {first: shape_fact(named[first])}
            raise OperandError(name, shape_fact(info), also=also, help="all must have one shape")
        if rank == -1 and own != -1:
            first, rank = name, own
        if shape is None and dims is not None:
            first, shape = name, dims
        for index, (a, b) in enumerate(zip(shape or (), dims or ())):
            if not same_dim(a, b):
                also = {first: shape_fact(named[first], shape)}
                fact = shape_fact(info, dims)
                error = OperandError(name, fact, also=also, help="all must have one shape")
                text = f"`{name}` has {dim_text(b)} elements along axis {index}, not {dim_text(a)}"
                require_equal(context, a, b, error, text)
    place = axis_in(axis, rank, "axis", "tensors", extra=1)
    if shape is None or any(dims_of(info) is None for info in tensors):
        return tensor_of(None, dtype, vdevice, rank if rank < 0 else rank + 1)
    return tensor_of((*shape[:place], number(len(tensors)), *shape[place:]), dtype, vdevice)


@stack.compute()
def _(context: ComputeContext, tensors: Any, axis: int = 0) -> Any:
    return topi.stack(tensors, axis)


@stack.layout_rule
def _(context: LayoutContext, tensors: tuple[Order, ...], axis: int) -> InferLayoutOutput:
    infos = context.operands[0]
    made = followed(tensors, getattr(infos, "fields", infos))
    order: Any = made.output_layouts
    return InferLayoutOutput((made.input_layouts,), with_axes(order, (axis % (len(order) + 1),)))


@stack.gradient
def _(context: GradientContext, tensors: Expr, axis: int) -> Gradients:
    count = len(fields_of(tensors))
    place = axis % known_rank("out", context.out)
    parts = R.split(context.grad, count, place)
    each = [parts] if count == 1 else [TupleGetItem.make(parts, k) for k in range(count)]
    return (Tuple.make(tuple(R.squeeze(part, [place]) for part in each)),)


# ---------------------------------------------------------------- splitting


@op(traits={Trait.MIXED_FOLLOW})
def split(x: Tensor, indices_or_sections: int | Axes, axis: int = 0) -> Tensors:
    """A tuple of consecutive sections of `x` along `axis`.

    A list of indices says where each section but the first begins. One below 0 counts from the end;
    a section that would end before it begins is empty. A number says how many sections there are.
    All have the same length, rounded up, so the last may be shorter. One section is no tuple: it is
    the tensor.
    """
    if indices_or_sections == 1:
        return x.copy()  # type: ignore[return-value]
    size = x.shape[axis]
    if isinstance(indices_or_sections, tuple):
        starts = list(indices_or_sections)
        outside = next((start for start in starts if not -size <= start <= size), None)
        if outside is not None:
            raise IndexError(f"a section begins at {outside}, but axis {axis} has {size} elements")
    else:
        length = -(-size // indices_or_sections)
        starts = [min(index * length, size) for index in range(1, indices_or_sections)]
    return tuple(np.split(x, starts, axis=axis))


@split.infer_rule
def _(
    context: InferContext,
    x: TensorStructInfo,
    indices_or_sections: int | tuple[int, ...],
    axis: int = 0,
) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    place = axis_in(axis, rank)
    if indices_or_sections == 1:
        return x
    if dims is None:
        section = tensor_of(None, x.dtype, x.vdevice, rank)
        return TupleStructInfo.make((section,) * _section_count(indices_or_sections))
    size = dims[place]
    if isinstance(indices_or_sections, tuple):
        lengths = _between(context, size, indices_or_sections, place)
    else:
        lengths = _sections(context, size, indices_or_sections)
    shapes = [(*dims[:place], length, *dims[place + 1 :]) for length in lengths]
    return TupleStructInfo.make(tuple(tensor_of(s, x.dtype, x.vdevice) for s in shapes))


@split.compute()
def _(
    context: ComputeContext, x: Any, indices_or_sections: int | tuple[int, ...], axis: int = 0
) -> Any:
    if not isinstance(context.out, TupleStructInfo):
        return x
    place = axis_in(axis, x.ndim)
    lengths = [shape_of_result(field)[place] for field in context.out.fields]
    if isinstance(indices_or_sections, tuple):
        starts = [ZERO, *(_from_start(x.shape[place], start) for start in indices_or_sections)]
    else:
        # A section that has elements begins before the end.
        starts = [simplify(prim.Mul.make(lengths[0], number(k))) for k in range(len(lengths))]
    return topi.joining.parts_of(x, place, starts, lengths)


split.layout_rule(along_axis)


@split.attribute_rule
def _(indices_or_sections: int | tuple[int, ...], axis: int) -> None:
    _section_count(indices_or_sections)


def _section_count(indices_or_sections: int | tuple[int, ...]) -> int:
    name = "indices_or_sections"
    if isinstance(indices_or_sections, int):
        if not 1 <= indices_or_sections <= _MOST_SECTIONS:
            raise OperandError(
                name,
                f"is {indices_or_sections}",
                message=f"a tensor is split into 1 to {_MOST_SECTIONS} sections",
                code="RX0204",
            )
        return indices_or_sections
    return len(indices_or_sections) + 1


def _between(
    context: InferContext, size: PrimExpr, starts: tuple[int, ...], axis: int
) -> list[PrimExpr]:
    """The lengths of the sections that begin at these indices, all inside of the tensor."""
    if not starts:
        return [size]
    _require_index(context, size, max(starts, key=abs), axis)
    begins = [_from_start(size, start) for start in starts]
    # That the indices lie in the tensor makes the first and the last length no less than 0.
    between = [
        simplify(prim.Max.make(prim.Sub.make(end, begin), ZERO), context.facts)
        for begin, end in itertools.pairwise(begins)
    ]
    return [begins[0], *between, simplify(prim.Sub.make(size, begins[-1]))]


def _from_start(size: PrimExpr, place: int) -> PrimExpr:
    return number(place) if place >= 0 else simplify(prim.Add.make(size, number(place)))


def _require_index(context: InferContext, size: PrimExpr, place: int, axis: int) -> None:
    """Refuse an index outside of the tensor; defer the check where that is not known."""
    reach = number(abs(place))
    shorter = simplify(prim.Min.make(size, reach))
    inside = prove_equal(shorter, reach, context.facts)
    if inside is NO:
        raise OperandError(
            "indices_or_sections",
            f"splits at {place}",
            also={"x": f"has {dim_text(size)} elements along axis {axis}"},
            message="an index at which to split lies outside of the tensor",
            code="RX0204",
        )
    if inside is not YES:
        text = f"`x` has {dim_text(size)} elements along axis {axis}, and is split at {place}"
        context.require(DeferredCheck("x", shorter, reach, "equal", text))


def _sections(context: InferContext, size: PrimExpr, sections: int) -> list[PrimExpr]:
    whole = number(sections)
    remainder = simplify(prim.FloorMod.make(size, whole))
    if prove_equal(remainder, ZERO, context.facts) is YES:
        return [simplify(prim.FloorDiv.make(size, whole))] * sections
    # The length rounded up; every section gets as much of it as is left.
    length = simplify(prim.FloorDiv.make(prim.Add.make(size, number(sections - 1)), whole))
    lengths: list[PrimExpr] = [length]
    for index in range(1, sections):
        left: PrimExpr = prim.Sub.make(size, prim.Mul.make(length, number(index)))
        if sections > 2:
            left = prim.Max.make(prim.Min.make(left, length), ZERO)
        lengths.append(simplify(left, context.facts))
    return lengths


@split.gradient
def _(context: GradientContext, x: Expr, indices_or_sections: Any, axis: int) -> Gradients:
    if indices_or_sections == 1:
        return (context.grad,)
    count = _section_count(indices_or_sections)
    parts = [context.field(k) for k in range(count)]
    if isinstance(indices_or_sections, int):
        return (R.concat(parts, axis),)
    # Sections may overlap, where a later one begins before an earlier one.
    starts = (0, *indices_or_sections)
    if all(a <= b for a, b in itertools.pairwise((0, *starts))):
        return (R.concat(parts, axis),)
    found = R.zeros_like(x)
    for part, begin, end in zip(parts, starts, (*starts[1:], _FAR)):
        placed = R.slice_scatter(R.zeros_like(x), part, begin, end, 1, axis)
        found = found + placed
    return (found,)

"""Operators that move elements about without computing: axes, joining and splitting.

Results are new arrays, never views. What changes the shape as a whole stands in `reshaping.py`.
Source: numpy's functions of the same names; `split` into sections as TVM.
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
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.opdef.context import InferContext, Obligation
from relaxscript.opdef.format import count, dim_text, shape_fact
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor, Tensors
from relaxscript.opdef.shapes import (
    ONE,
    ZERO,
    axes_in,
    axis_in,
    common_dtype,
    common_vdevice,
    dims_of,
    number,
    require_equal,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.traits import Trait

__all__ = ["concat", "expand_dims", "permute_dims", "split", "squeeze"]

_MOST_PIECES = 1 << 16  # every piece is a field of the result, which somebody must name


@op()
def permute_dims(x: Tensor, axes: Axes | None = None) -> Tensor:
    """`x` with its axes in another order: axis `i` of the result is axis `axes[i]` of `x`.

    Without `axes` the order is reversed.
    """
    return np.transpose(x, axes)


@permute_dims.infer_rule
def _(
    context: InferContext, x: TensorStructInfo, axes: tuple[int, ...] | None = None
) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    if axes is None:
        order = tuple(range(rank - 1, -1, -1))
    else:
        if rank not in (-1, len(axes)):
            raise OperandError(
                "axes",
                f"names {count(len(axes), 'axis')}",
                also={"x": f"has rank {rank}"},
                message="the permutation must name every axis once",
                code="RX0204",
            )
        order = axes_in(axes, len(axes), "axes", "x")
    if order == tuple(range(rank)):
        return x
    if dims is None:
        return tensor_of(None, x.dtype, x.vdevice, rank if axes is None else len(axes))
    return tensor_of([dims[axis] for axis in order], x.dtype, x.vdevice)


@op(traits={Trait.VIEW})
def expand_dims(x: Tensor, axis: Axes) -> Tensor:
    """`x` with new axes of one element, which are the axes `axis` of the result."""
    return np.expand_dims(x, axis)


@expand_dims.infer_rule
def _(context: InferContext, x: TensorStructInfo, axis: tuple[int, ...]) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    axes = axes_in(axis, rank, "axis", "x", extra=len(axis))
    if not axes:
        return x
    if dims is None:
        return tensor_of(None, x.dtype, x.vdevice, rank if rank < 0 else rank + len(axes))
    old = iter(dims)
    new = [ONE if index in axes else next(old) for index in range(rank + len(axes))]
    return tensor_of(new, x.dtype, x.vdevice)


@op(traits={Trait.VIEW})
def squeeze(x: Tensor, axis: Axes | None = None) -> Tensor:
    """`x` without the axes `axis`, each of which has one element; all such axes where None."""
    return np.squeeze(x, axis)


@squeeze.infer_rule
def _(
    context: InferContext, x: TensorStructInfo, axis: tuple[int, ...] | None = None
) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    if axis is None:
        return _squeezed_all(context, x, dims)
    axes = axes_in(axis, rank)
    if not axes:
        return x
    if dims is None:
        left = -1 if rank < 0 else rank - len(axes)
        return tensor_of(None, x.dtype, x.vdevice, left)
    for index in axes:
        error = OperandError(
            "axis",
            f"names axis {index}",
            also={"x": f"has {dim_text(dims[index])} elements along axis {index}"},
            message="only an axis of one element can be removed",
            code="RX0204",
        )
        text = f"axis {index} of `x` has {dim_text(dims[index])} elements, not 1"
        require_equal(context, dims[index], ONE, error, text)
    return tensor_of([d for i, d in enumerate(dims) if i not in axes], x.dtype, x.vdevice)


def _squeezed_all(
    context: InferContext, x: TensorStructInfo, dims: tuple[PrimExpr, ...] | None
) -> StructInfo:
    if dims is None:
        return x if x.ndim == 0 else tensor_of(None, x.dtype, x.vdevice)
    is_one = [prove_equal(dim, ONE, context.facts) for dim in dims]
    if all(answer is NO for answer in is_one):
        return x
    if any(answer is not YES and answer is not NO for answer in is_one):
        # Whether such an axis stays depends on its size, and with it the rank.
        return tensor_of(None, x.dtype, x.vdevice)
    return tensor_of([d for d, a in zip(dims, is_one) if a is NO], x.dtype, x.vdevice)


# ---------------------------------------------------------------- joining


@op()
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


# ---------------------------------------------------------------- splitting


@op()
def split(x: Tensor, indices_or_sections: int | Axes, axis: int = 0) -> Tensors:
    """A tuple of consecutive pieces of `x` along `axis`.

    A list of indices says where each piece but the first begins; one below 0 counts from the end,
    and a piece that would end before it begins is empty. A number says how many pieces there are:
    all have the same length, rounded up, as far as the elements go, so the last may be shorter. One
    piece is no tuple: it is the tensor.
    """
    if indices_or_sections == 1:
        return x.copy()  # type: ignore[return-value]
    size = x.shape[axis]
    if isinstance(indices_or_sections, tuple):
        starts = list(indices_or_sections)
        outside = next((start for start in starts if not -size <= start <= size), None)
        if outside is not None:
            raise IndexError(f"a piece begins at {outside}, but axis {axis} has {size} elements")
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
        piece = tensor_of(None, x.dtype, x.vdevice, rank)
        return TupleStructInfo.make((piece,) * _pieces(indices_or_sections))
    size = dims[place]
    if isinstance(indices_or_sections, tuple):
        lengths = _between(context, size, indices_or_sections, place)
    else:
        lengths = _sections(context, size, indices_or_sections)
    shapes = [(*dims[:place], length, *dims[place + 1 :]) for length in lengths]
    return TupleStructInfo.make(tuple(tensor_of(s, x.dtype, x.vdevice) for s in shapes))


@split.attribute_rule
def _(indices_or_sections: int | tuple[int, ...], axis: int) -> None:
    _pieces(indices_or_sections)


def _pieces(indices_or_sections: int | tuple[int, ...]) -> int:
    name = "indices_or_sections"
    if isinstance(indices_or_sections, int):
        if not 1 <= indices_or_sections <= _MOST_PIECES:
            raise OperandError(
                name,
                f"is {indices_or_sections}",
                message=f"a tensor is split into 1 to {_MOST_PIECES} pieces",
                code="RX0204",
            )
        return indices_or_sections
    return len(indices_or_sections) + 1


def _between(
    context: InferContext, size: PrimExpr, starts: tuple[int, ...], axis: int
) -> list[PrimExpr]:
    """The lengths of the pieces that begin at these places, each of which lies in the tensor."""
    if not starts:
        return [size]
    _require_place(context, size, max(starts, key=abs), axis)
    begins = [_from_start(size, start) for start in starts]
    # That the places lie in the tensor makes the first and the last length no less than 0.
    between = [
        simplify(prim.Max.make(prim.Sub.make(end, begin), ZERO), context.facts)
        for begin, end in itertools.pairwise(begins)
    ]
    return [begins[0], *between, simplify(prim.Sub.make(size, begins[-1]))]


def _from_start(size: PrimExpr, place: int) -> PrimExpr:
    return number(place) if place >= 0 else simplify(prim.Add.make(size, number(place)))


def _require_place(context: InferContext, size: PrimExpr, place: int, axis: int) -> None:
    """Refuse a place that lies outside of the tensor, or oblige the program that it does not."""
    reach = number(abs(place))
    shorter = simplify(prim.Min.make(size, reach))
    inside = prove_equal(shorter, reach, context.facts)
    if inside is NO:
        raise OperandError(
            "indices_or_sections",
            f"splits at {place}",
            also={"x": f"has {dim_text(size)} elements along axis {axis}"},
            message="a place at which to split lies outside of the tensor",
            code="RX0204",
        )
    if inside is not YES:
        text = f"`x` has {dim_text(size)} elements along axis {axis}, and is split at {place}"
        context.require(Obligation("x", shorter, reach, "equal", text))


def _sections(context: InferContext, size: PrimExpr, sections: int) -> list[PrimExpr]:
    whole = number(sections)
    remainder = simplify(prim.FloorMod.make(size, whole))
    if prove_equal(remainder, ZERO, context.facts) is YES:
        return [simplify(prim.FloorDiv.make(size, whole))] * sections
    # The length rounded up; every piece gets as much of it as is left.
    length = simplify(prim.FloorDiv.make(prim.Add.make(size, number(sections - 1)), whole))
    lengths: list[PrimExpr] = [length]
    for index in range(1, sections):
        left: PrimExpr = prim.Sub.make(size, prim.Mul.make(length, number(index)))
        if sections > 2:
            left = prim.Max.make(prim.Min.make(left, length), ZERO)
        lengths.append(simplify(left, context.facts))
    return lengths

"""Functions that give a tensor other axes: their order, new ones, another shape.

Results are computed element by element, each from one element of an operand.

Source: TVM `topi.transform`, numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.arith import NO, format_expr, prove_equal, simplify
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.sinfo.axis_order import AxisOrder, axes_of
from relaxscript.te.compute import compute, dtype_of, shape_of
from relaxscript.te.element import equal, not_equal
from relaxscript.te.tensor import Tensor

from .broadcast import elementwise, is_one
from .operands import IndexTensor, topi_function

__all__ = [
    "expand_dims", "expand_like", "flip", "layout_transform", "ndarray_size", "repeat", "reshape",
    "reverse_sequence", "sequence_mask",
    "shape", "squeeze", "tile", "transpose", "where",
]  # fmt: skip

INJECTIVE = "injective"


def injective(dims: Sequence[Any], element: Callable[..., Any], name: str) -> Tensor:
    """The tensor of a shape whose elements are those of operands, at other places."""
    names = [f"ax{axis}" for axis in range(len(dims))]
    made: Tensor = compute(tuple(dims), element, name=name, tag=INJECTIVE, varargs_names=names)
    return made


def number(value: int) -> PrimExpr:
    """A dimension, or an index, that is a number."""
    return prim.const(value, prim.INT64)


def axis_in(callee: str, axis: int, ndim: int, parameter: str = "axis") -> int:
    """An axis counted from 0; raises `OperandError` for one that is not there."""
    if not -ndim <= axis < ndim:
        raise OperandError(
            parameter, f"is {axis}", code="RX0204",
            message=f"`{callee}` finds no axis {axis} among {quantity(ndim, 'axis')}",
        )  # fmt: skip
    return axis % ndim


def is_empty(dims: Sequence[PrimExpr]) -> bool:
    """True if a shape is known to have no elements."""
    return any(isinstance(dim, IntImm) and dim.value == 0 for dim in dims)


def size_of(dims: Sequence[PrimExpr]) -> PrimExpr:
    """The number of elements of a shape."""
    total: PrimExpr = number(1)
    for dim in dims:
        total = dim if is_one(total) else total * dim
    return simplify(total)


def ravel(indices: Sequence[PrimExpr], dims: Sequence[PrimExpr]) -> PrimExpr:
    """The number of an element in row-major order, by its indices."""
    flat: PrimExpr | None = None
    for index, dim in zip(indices, dims, strict=True):
        if not is_one(dim):
            flat = index if flat is None else flat * dim + index
    return number(0) if flat is None else flat


def unravel(flat: PrimExpr, dims: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
    """The indices of an element, by its number in row-major order."""
    found: list[PrimExpr] = []
    wide = [axis for axis, dim in enumerate(dims) if not is_one(dim)]
    for axis in reversed(range(len(dims))):
        if axis not in wide:
            found.append(prim.const(0, dims[axis].dtype))
            continue
        # What is left for the first axis is in it: the number is that of an element.
        first = axis == wide[0]
        found.append(simplify(flat if first else flat % dims[axis]))
        flat = flat if first else flat // dims[axis]
    return tuple(reversed(found))


# ---------------------------------------------------------------- axes


def with_new_axes(a: Tensor, places: Sequence[int]) -> Tensor:
    """A tensor with axes of one element, which are at some places of the result."""
    old = iter(a.shape)
    one = number(1)
    ndim = a.ndim + len(places)
    dims = [one if axis in places else next(old) for axis in range(ndim)]

    def element(*i: Any) -> Any:
        return a[tuple(index for axis, index in enumerate(i) if axis not in places)]

    return injective(dims, element, "T_expand_dims")


@topi_function
def expand_dims(a: Tensor, axis: int, num_newaxis: int = 1) -> Tensor:
    """A tensor with `num_newaxis` axes of one element, the first of them at `axis`."""
    place = axis_in("topi.expand_dims", axis, a.ndim + 1)
    return with_new_axes(a, range(place, place + num_newaxis))


@topi_function
def expand_like(a: Tensor, shape_like: Tensor, axis: Sequence[int]) -> Tensor:
    """A tensor repeated along the axes of another that it has not, which `axis` names."""
    gone = {axis_in("topi.expand_like", k, shape_like.ndim) for k in axis}
    if a.ndim + len(gone) != shape_like.ndim:
        raise OperandError(
            "axis", f"names {quantity(len(gone), 'axis')}", code="RX0204",
            also={"a": f"has {a.ndim}", "shape_like": f"has {shape_like.ndim}"},
            message="`topi.expand_like` adds the axes that a tensor has not",
        )  # fmt: skip

    def element(*i: Any) -> Any:
        return a[tuple(index for k, index in enumerate(i) if k not in gone)]

    return injective(shape_like.shape, element, "T_expand_like")


@topi_function
def transpose(a: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """A tensor with its axes in another order, the reverse one where it is not given."""
    order = list(reversed(range(a.ndim))) if axes is None else list(axes)
    places = [axis_in("topi.transpose", axis, a.ndim, "axes") for axis in order]
    if sorted(places) != list(range(a.ndim)):
        raise OperandError(
            "axes", f"is {tuple(order)}", code="RX0204",
            message="`topi.transpose` takes every axis once",
        )  # fmt: skip
    return permuted(a, places)


def permuted(a: Tensor, order: Sequence[int]) -> Tensor:
    """The tensor whose axis `i` is axis `order[i]` of another."""

    def element(*i: Any) -> Any:
        return a[tuple(i[order.index(axis)] for axis in range(a.ndim))]

    return injective([a.shape[axis] for axis in order], element, "T_transpose")


@topi_function
def squeeze(a: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """A tensor without some axes of one element; without all such where none is named."""
    if axis is None:
        gone = [k for k, size in enumerate(a.shape) if is_one(size)]
    else:
        named = (axis,) if isinstance(axis, int) else axis
        gone = [axis_in("topi.squeeze", k, a.ndim) for k in named]
        for k in gone:
            if prove_equal(a.shape[k], prim.const(1, a.shape[k].dtype)) is NO:
                raise OperandError(
                    "axis", f"names axis {k}", also={"a": f"has {format_expr(a.shape[k])} there"},
                    message="only an axis of one element can be removed", code="RX0204",
                )  # fmt: skip
    return without_axes(a, gone)


def without_axes(a: Tensor, gone: Sequence[int]) -> Tensor:
    """A tensor without some of its axes, which have one element."""

    def element(*i: Any) -> Any:
        rest = iter(i)
        return a[
            tuple(
                prim.const(0, size.dtype) if axis in gone else next(rest)
                for axis, size in enumerate(a.shape)
            )
        ]

    dims = [size for axis, size in enumerate(a.shape) if axis not in gone]
    return injective(dims, element, "T_squeeze")


@topi_function
def flip(a: Tensor, axis: int = 0) -> Tensor:
    """A tensor with the elements along an axis in reverse order."""
    place = axis_in("topi.flip", axis, a.ndim)

    def element(*i: Any) -> Any:
        return a[(*i[:place], a.shape[place] - 1 - i[place], *i[place + 1 :])]

    return injective(a.shape, element, "T_flip")


@topi_function
def reverse_sequence(
    a: Tensor, seq_lengths: IndexTensor | None, seq_axis: int = 1, batch_axis: int = 0
) -> Tensor:
    """A tensor whose sequences, along `seq_axis`, are reversed as far as each is long.

    `seq_lengths` has a length for each index of `batch_axis`; without it whole ones are reversed.
    """
    along = axis_in("topi.reverse_sequence", seq_axis, a.ndim, "seq_axis")
    batch = axis_in("topi.reverse_sequence", batch_axis, a.ndim, "batch_axis")
    if seq_lengths is None:
        return flip(a, along)

    def element(*i: Any) -> Any:
        length = prim.cast(seq_lengths[i[batch]], i[along].dtype)
        there = prim.Select.make(i[along] < length, length - 1 - i[along], i[along])
        return a[(*i[:along], there, *i[along + 1 :])]

    return injective(a.shape, element, "T_reverse_sequence")


# ---------------------------------------------------------------- other shapes


@topi_function
def reshape(a: Tensor, newshape: Any) -> Tensor:
    """The elements of a tensor, in row-major order, in another shape of as many elements."""
    dims = shape_of(newshape)
    before, after = size_of(a.shape), size_of(dims)
    if prove_equal(before, after) is NO:
        raise OperandError(
            "newshape", f"has {format_expr(after)} elements", code="RX0203",
            also={"a": f"has {format_expr(before)}"},
            message="`topi.reshape` keeps the number of elements",
        )  # fmt: skip
    return reshaped(a, dims)


def reshaped(a: Tensor, dims: Sequence[PrimExpr], name: str = "T_reshape") -> Tensor:
    """The elements of a tensor in another shape, which is known to have as many."""
    if is_empty(dims) or is_empty(a.shape):
        return injective(dims, lambda *i: prim.const(0, a.dtype), name)
    start = _common(a.shape, dims)
    end = _common(a.shape[:start:-1], dims[:start:-1])
    old, new = slice(start, a.ndim - end), slice(start, len(dims) - end)

    def element(*i: Any) -> Any:
        inner = unravel(ravel(i[new], dims[new]), a.shape[old])
        return a[(*i[:start], *inner, *i[len(dims) - end :])]

    return injective(dims, element, name)


def _common(a: Sequence[PrimExpr], b: Sequence[PrimExpr]) -> int:
    """The number of dimensions, from the first, that two shapes share."""
    for axis, (x, y) in enumerate(zip(a, b)):
        if not (x is y or (isinstance(x, IntImm) and isinstance(y, IntImm) and x.value == y.value)):
            return axis
    return min(len(a), len(b))


@topi_function
def repeat(a: Tensor, repeats: int, axis: int | None = None) -> Tensor:
    """A tensor with each element along an axis several times; of all elements where None."""
    _require_count("topi.repeat", "repeats", repeats)
    if axis is None:
        flat = [simplify(size_of(a.shape) * repeats)]
        if repeats == 0 or is_empty(a.shape):
            return _nothing(a, flat, "T_repeat")
        return injective(flat, lambda *i: a[unravel(i[0] // repeats, a.shape)], "T_repeat")
    place = axis_in("topi.repeat", axis, a.ndim)
    dims = [*a.shape[:place], simplify(a.shape[place] * repeats), *a.shape[place + 1 :]]
    if repeats == 0:
        return _nothing(a, dims, "T_repeat")

    def element(*i: Any) -> Any:
        return a[(*i[:place], simplify(i[place] // repeats), *i[place + 1 :])]

    return injective(dims, element, "T_repeat")


@topi_function
def tile(a: Tensor, reps: int | Sequence[int]) -> Tensor:
    """A tensor beside itself, as often along each of its last axes as `reps` says."""
    counts = [reps] if isinstance(reps, int) else list(reps)
    for count in counts:
        _require_count("topi.tile", "reps", count)
    ndim = max(a.ndim, len(counts))
    counts = [1] * (ndim - len(counts)) + counts
    front = ndim - a.ndim
    own = [number(1)] * front + list(a.shape)
    dims = [size if count == 1 else simplify(size * count) for size, count in zip(own, counts)]
    if is_empty(dims):
        return _nothing(a, dims, "T_tile")

    def element(*i: Any) -> Any:
        parts = zip(i[front:], a.shape, counts[front:])
        return a[tuple(_tiled(index, size, count) for index, size, count in parts)]

    return injective(dims, element, "T_tile")


def _tiled(index: PrimExpr, size: PrimExpr, count: int) -> PrimExpr:
    if is_one(size):
        return prim.const(0, size.dtype)
    return index if count == 1 else index % size


def _nothing(a: Tensor, dims: Sequence[PrimExpr], name: str) -> Tensor:
    """A tensor of no elements, as `a`."""
    return injective(dims, lambda *i: prim.const(0, a.dtype), name)


def _require_count(callee: str, parameter: str, count: int) -> None:
    if count < 0:
        raise OperandError(
            parameter, f"is {count}", code="RX0204",
            message=f"`{callee}` repeats nothing less than 0 times",
        )  # fmt: skip


@topi_function
def layout_transform(
    array: Tensor, src_layout: str, dst_layout: str, schedule_rule: str = "None"
) -> Tensor:
    """A tensor of one layout, "NCHW", in another one, "NCHW16c", which may pack axes.

    A packed axis is a multiple of its inner part. `schedule_rule` is an attribute of the result.
    """
    letters = "".join(filter(str.isupper, src_layout))
    found = []
    for name, text in (("src_layout", src_layout), ("dst_layout", dst_layout)):
        axes = axes_of(text, letters)
        if axes is None:
            raise OperandError(
                name, f'is "{text}"', code="RX0204",
                message="a layout names each axis by a capital, and inner parts as `16c`",
            )  # fmt: skip
        found.append(AxisOrder(text, letters, axes))
    source, target = found
    if source.rank != array.ndim:
        raise OperandError(
            "src_layout", f"has {quantity(source.rank, 'axis')}", code="RX0203",
            also={"array": f"has {array.ndim}"},
            message=f'`topi.layout_transform` finds no tensor of the layout "{src_layout}"',
        )  # fmt: skip
    sizes = source.sizes(array.shape)
    dims = [
        simplify(sizes[axis] // target.factor(axis)) if factor is None else number(factor)
        for axis, factor in target.places
    ]
    names = [f"ax{axis}" for axis in range(len(dims))]
    made: Tensor = compute(
        dims, lambda *i: array[tuple(source.spread(target.gather(i)))], name="T_layout_trans",
        tag=INJECTIVE, attrs={"schedule_rule": schedule_rule}, varargs_names=names,
    )  # fmt: skip
    return made


# ---------------------------------------------------------------- conditions, and what a shape is


@topi_function
def where(condition: Any, x: Any, y: Any) -> Any:
    """The elements of `x` where a condition holds, else those of `y`; all three broadcast."""

    def choose(c: PrimExpr, a: Any, b: Any) -> PrimExpr:
        a, b = prim.alike(a, b)
        return prim.Select.make(c if c.dtype.is_bool else not_equal(c, 0), a, b)

    return elementwise("topi.where", choose, (condition, x, y), "T_where")


@topi_function
def sequence_mask(
    data: Tensor, valid_length: IndexTensor, mask_value: float = 0, axis: int = 0
) -> Tensor:
    """A tensor of sequences along axis 0 or 1, of which all behind each length is `mask_value`.

    The other one of the two axes is the batch, along which `valid_length` has the lengths.
    """
    if axis not in (0, 1) or data.ndim < 2:
        raise OperandError(
            "axis", f"is {axis}", also={"data": f"has {quantity(data.ndim, 'axis')}"},
            message="`topi.sequence_mask` takes sequences along axis 0 or 1", code="RX0204",
        )  # fmt: skip

    def element(*i: Any) -> Any:
        length = prim.cast(valid_length[i[1 - axis]], i[axis].dtype)
        return prim.Select.make(i[axis] < length, data[i], prim.const(mask_value, data.dtype))

    return injective(data.shape, element, "T_sequence_mask")


@topi_function
def shape(array: Tensor, dtype: str = "int32") -> Tensor:
    """The dimensions of a tensor, as a row of numbers."""
    sizes = [prim.cast(size, dtype_of(dtype)) for size in array.shape]

    def element(i: Any) -> Any:
        found = sizes[0]
        for axis, size in enumerate(sizes[1:], 1):
            found = prim.Select.make(equal(i, axis), size, found)
        return found

    if not sizes:
        return injective([number(0)], lambda i: prim.const(0, dtype), "T_shape")
    return injective([number(len(sizes))], element, "T_shape")


@topi_function
def ndarray_size(array: Tensor, dtype: str = "int32") -> Tensor:
    """The number of elements of a tensor, as a tensor of rank 0."""
    total = prim.cast(size_of(array.shape), dtype_of(dtype))
    return injective([], lambda: total, "ndarray_size")

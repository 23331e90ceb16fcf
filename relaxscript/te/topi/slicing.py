"""Functions of parts of tensors: ranges along axes, and what they are replaced by.

Bounds are those of Python's slices: a negative one counts from the end, and one that is too large
stops at the end.

Source: TVM `topi.transform` (`strided_slice`, `dynamic_strided_slice`, `strided_set`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from relaxscript.arith import simplify
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.scalar_functions import if_then_else
from relaxscript.te.compute import shape_of
from relaxscript.te.element import equal, maximum, minimum
from relaxscript.te.tensor import Tensor, as_element

from .operands import topi_function
from .transform import axis_in, injective, number

__all__ = [
    "dynamic_strided_slice", "slice_scatter", "sliding_window", "strided_set", "strided_slice",
]  # fmt: skip

_FAR = (1 << 63) - 1  # a bound that no dimension reaches


class Slice(NamedTuple):
    """A range along an axis: its first element, and the step to the next."""

    start: PrimExpr
    step: int

    def at(self, index: PrimExpr) -> PrimExpr:
        """The place of an element of the slice."""
        return simplify(self.start + index * self.step)


def _plain(value: Any) -> PrimExpr:
    e = as_element(value)
    return prim.cast(e, prim.INT64)


def first_of(size: PrimExpr, begin: Any, step: int, inbound: bool = False) -> PrimExpr:
    """The place of the first element of a slice that has one."""
    low = _plain(begin)
    size = prim.cast(size, prim.INT64)
    if not isinstance(low, IntImm):
        return _clamped(size, low, step)
    if low.value < 0:
        start = size + low
        return simplify(start if inbound or step < 0 else maximum(start, 0))
    # A slice that has an element begins before the end.
    return low if inbound or step > 0 else simplify(minimum(low, size - 1))


def _clamped(size: PrimExpr, bound: PrimExpr, step: int) -> PrimExpr:
    """A bound counted from the start, and limited to where elements are."""
    low, high = (0, size) if step > 0 else (-1, size - 1)
    if isinstance(bound, IntImm):
        there = bound if bound.value >= 0 else size + bound
    else:
        there = simplify(bound + prim.Select.make(bound < 0, size, number(0)))
    return simplify(maximum(minimum(there, high), low))


def _length(size: PrimExpr, begin: Any, end: Any, step: int, inbound: bool) -> PrimExpr:
    """The number of elements of a slice."""
    size = prim.cast(size, prim.INT64)
    low, high = _plain(begin), _plain(end)
    if all(isinstance(e, IntImm) for e in (size, low, high)):
        bounds = slice(int(low), int(high), step)  # type: ignore[call-overload]
        return number(len(range(*bounds.indices(int(size)))))  # type: ignore[call-overload]
    if inbound:
        first, last = (_from_start(size, e) for e in (low, high))
    else:
        first, last = _clamped(size, low, step), _clamped(size, high, step)
    distance = last - first if step > 0 else first - last
    steps = (maximum(distance, 0) + (abs(step) - 1)) // abs(step)
    return simplify(steps)


def _from_start(size: PrimExpr, bound: PrimExpr) -> PrimExpr:
    return size + bound if isinstance(bound, IntImm) and bound.value < 0 else bound


@topi_function
def strided_slice(
    a: Tensor, begin: Sequence[Any], end: Sequence[Any], strides: Sequence[int] | None = None,
    axes: Sequence[int] | None = None, slice_mode: str = "end", assume_inbound: bool = True,
) -> Tensor:  # fmt: skip
    """`a[begin:end:strides]` along each of `axes`, or along the first ones; whole along others.

    With `slice_mode` "size", `end` says how many elements there are, -1 for all that follow. With
    `assume_inbound` a dimension that is a variable does not limit the bounds.
    """
    steps, places = _read(a, begin, end, strides, axes)
    if slice_mode not in ("end", "size"):
        raise OperandError(
            "slice_mode", f"is {slice_mode!r}", code="RX0204",
            message='the mode of a slice is "end" or "size"',
        )  # fmt: skip
    dims, parts = list(a.shape), {}
    for place, low, high, step in zip(places, begin, end, steps):
        size, last = a.shape[place], high
        if slice_mode == "size":
            step = 1
            goes_on = isinstance(high, (int, IntImm)) and int(high) < 0
            last = _FAR if goes_on else _plain(low) + _plain(high)
        inbound = assume_inbound and not isinstance(size, IntImm) and last is high
        dims[place] = _length(size, low, last, step, inbound)
        parts[place] = Slice(first_of(size, low, step, inbound), step)
    return sliced(a, dims, parts)


def _read(
    a: Tensor, begin: Sequence[Any], end: Sequence[Any], strides: Sequence[int] | None,
    axes: Sequence[int] | None,
) -> tuple[list[int], list[int]]:  # fmt: skip
    """The steps of slices and their axes; raises `OperandError` where they are not as many."""
    steps = [int(s) for s in strides] if strides else []
    steps += [1] * (len(begin) - len(steps))
    places = range(len(begin)) if axes is None else axes
    if not len(begin) == len(end) == len(steps) == len(places):
        raise OperandError(
            "begin", f"has {len(begin)} bounds", also={"end": f"has {len(end)}"}, code="RX0204",
            message="each axis has a bound of each kind",
        )  # fmt: skip
    if 0 in steps:
        raise OperandError(
            "strides", "has the stride 0", message="a stride of 0 leads nowhere", code="RX0204"
        )
    return steps, [axis_in("topi.strided_slice", axis, a.ndim, "axes") for axis in places]


def sliced(a: Tensor, dims: Sequence[PrimExpr], parts: dict[int, Slice]) -> Tensor:
    """The tensor of a shape that has slices of another along some axes."""

    def element(*i: Any) -> Any:
        return a[tuple(parts[k].at(index) if k in parts else index for k, index in enumerate(i))]

    return injective(dims, element, "T_strided_slice")


@topi_function
def dynamic_strided_slice(
    a: Tensor, begin: Tensor, end: Tensor, strides: Tensor, output_shape: Any
) -> Tensor:
    """The elements from the places in `begin` on, by the steps in `strides`.

    How many there are says `output_shape`; further axes are whole.
    """
    dims = shape_of(output_shape)
    sliced_axes = begin.shape[0]
    if not isinstance(sliced_axes, IntImm):
        raise OperandError(
            "begin", "has an unknown number of bounds", code="RX0203",
            message="`topi.dynamic_strided_slice` needs the number of axes that are sliced",
        )  # fmt: skip

    def element(*i: Any) -> Any:
        at = [_dynamic(a, begin, strides, axis, i[axis]) for axis in range(sliced_axes.value)]
        return a[(*at, *i[len(at) :])]

    return injective(dims, element, "T_strided_slice_dynamic")


def _dynamic(a: Tensor, begin: Tensor, strides: Tensor, axis: int, index: PrimExpr) -> PrimExpr:
    size = a.shape[axis]
    low, step = (prim.cast(t[axis], size.dtype) for t in (begin, strides))
    start = minimum(prim.Select.make(low < 0, low + size, low), size - 1)
    return maximum(start, 0) + index * step


@topi_function
def sliding_window(
    data: Tensor, axis: int, window_shape: Sequence[int], strides: Sequence[int]
) -> Tensor:
    """The windows of a tensor along `axis` and all axes behind it.

    The result has the number of windows along each of these, then the axes of a window.
    """
    place = axis_in("topi.sliding_window", axis, data.ndim)
    count = data.ndim - place
    if not len(window_shape) == len(strides) == count or min(*window_shape, *strides) < 1:
        raise OperandError(
            "window_shape", f"is {tuple(window_shape)}", code="RX0204",
            also={"strides": f"is {tuple(strides)}"},
            message=f"a window has a size and a stride for each of the last {count} axes",
        )  # fmt: skip
    parts = zip(data.shape[place:], window_shape, strides)
    numbers = [simplify((size - window) // step + 1) for size, window, step in parts]

    def element(*i: Any) -> Any:
        windows, inner = i[place : place + count], i[place + count :]
        at = [w * step + k for w, step, k in zip(windows, strides, inner)]
        return data[(*i[:place], *at)]

    dims = (*data.shape[:place], *numbers, *map(number, window_shape))
    return injective(dims, element, "T_sliding_window")


# ---------------------------------------------------------------- what a slice is replaced by


@topi_function
def strided_set(
    a: Tensor, v: Tensor, begin: Tensor, end: Tensor, strides: Tensor | None = None
) -> Tensor:
    """A tensor with `v` in the place of its slice `begin:end:strides`, along the first axes.

    The bounds are tensors of rank 1.
    """
    count = begin.shape[0]
    if not isinstance(count, IntImm):
        raise OperandError(
            "begin", "has an unknown number of bounds", code="RX0203",
            message="`topi.strided_set` needs the number of axes that are sliced",
        )  # fmt: skip

    def element(*i: Any) -> Any:
        inside: PrimExpr = prim.const(True)
        at: list[Any] = []
        for axis, index in enumerate(i):
            if axis >= count.value:
                at.append(index)
                continue
            size = prim.cast(a.shape[axis], prim.INT64)
            step = number(1)
            if strides is not None:
                step = prim.cast(strides[axis], prim.INT64)
            low, high = (_bound(prim.cast(t[axis], prim.INT64), size, step) for t in (begin, end))
            offset = prim.cast(index, prim.INT64) - low
            ahead = prim.Select.make(
                step > 0, prim.And(index >= low, index < high), prim.And(index <= low, index > high)
            )
            inside = prim.And(prim.And(inside, ahead), equal(offset % step, 0))
            at.append(offset // step)
        return if_then_else(inside, v[tuple(at)], a[i])

    return injective(a.shape, element, "T_strided_set")


def _bound(bound: PrimExpr, size: PrimExpr, step: PrimExpr) -> PrimExpr:
    there = prim.Select.make(bound < 0, bound + size, bound)
    return prim.Select.make(
        step > 0, maximum(minimum(there, size), 0), maximum(minimum(there, size - 1), -1)
    )


@topi_function
def slice_scatter(
    input_tensor: Tensor, src: Tensor, start: Any, end: Any, step: int, axis: int
) -> Tensor:
    """A tensor with `src` in the place of its slice `start:end:step` along an axis."""
    place = axis_in("topi.slice_scatter", axis, input_tensor.ndim)
    if int(step) < 1:
        raise OperandError(
            "step", f"is {int(step)}", message="the step goes forward", code="RX0204"
        )
    size = prim.cast(input_tensor.shape[place], prim.INT64)
    low, high = (_clamped(size, _plain(bound), 1) for bound in (start, end))

    def element(*i: Any) -> Any:
        offset = simplify(prim.cast(i[place], prim.INT64) - low)
        inside = prim.And.make(i[place] >= low, i[place] < high)
        if int(step) > 1:
            inside = prim.And.make(inside, equal(offset % int(step), 0))
        there = src[(*i[:place], simplify(offset // int(step)), *i[place + 1 :])]
        return if_then_else(inside, there, input_tensor[i])

    return injective(input_tensor.shape, element, "T_slice_scatter")

"""Buffers of the evaluator: numpy arrays for parameters, new memory, views, regions.

Every buffer in scope has a slot in the frame that holds an array of its shape. The pointer behind a
buffer (`Buffer.data`) has a slot as well, which holds an array over the same memory. Buffers that
are declared over it are views of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Span, VMError
from relaxscript.ir import prim, tir
from relaxscript.semantics import scalar, tir_errors
from relaxscript.semantics.elements import reader
from relaxscript.semantics.expression import compile_expr
from relaxscript.semantics.expression_context import ExpressionContext, Frame, Run
from relaxscript.semantics.prim_func_abi import (
    Array,
    BufferParam,
    Param,
    element_type,
    flatten_compact,
)

__all__ = [
    "address_in_variable",
    "address_of_element",
    "allocate_memory",
    "declare_buffer",
    "has_memory",
    "match_region",
    "new_buffer",
    "share_pointers",
    "slot_of",
]


def share_pointers(cx: ExpressionContext, params: Iterable[Param]) -> list[Run]:
    """The steps that let the pointers of parameters stand for the arrays of their buffers."""
    return [
        share_memory(cx, param.buffer, param.buffer.data)
        for param in params
        if isinstance(param, BufferParam)
    ]


def share_memory(cx: ExpressionContext, buffer: tir.Buffer, data: prim.Var) -> Run:
    """Let the pointer of a buffer stand for its array."""
    source, target = cx.layout.define(buffer), cx.layout.define(data)

    def run(f: Frame) -> None:
        f[target] = f[source]

    return run


def has_memory(cx: ExpressionContext, buffer: tir.Buffer) -> bool:
    """True if there is memory for a buffer, be it that of its pointer."""
    return any(cx.layout.find(v) is not None for v in (buffer.data, buffer))


def slot_of(cx: ExpressionContext, buffer: tir.Buffer, span: Span | None) -> int:
    """The slot of a buffer, which is a view of the memory of its pointer where nothing makes it."""
    slot, data = cx.layout.find(buffer), buffer.data
    if slot is not None:
        return slot
    if cx.layout.find(data) is None:
        raise tir_errors.undefined("buffer", buffer.name, span)
    cx.views.setdefault(data, []).append(view_of(cx, buffer, data, span))
    return cx.layout.define(buffer)


def address_of_element(cx: ExpressionContext, e: prim.BufferLoad) -> Run:
    tir_errors.check_rank(e.buffer, e.indices, e.span)
    slot, read = slot_of(cx, e.buffer, e.span), reader(e.buffer, e.span)
    indices = [compile_expr(cx, i) for i in e.indices]

    def run(f: Frame) -> int:
        array = f[slot]
        places = [i(f) for i in indices]
        place = tuple(i[0] if isinstance(i, list) else i for i in places)
        read(array, place)  # which checks that it lies in the buffer
        address: int = array.__array_interface__["data"][0]
        for i, step in zip(place, array.strides, strict=True):
            address += i * step
        return address

    return run


def address_in_variable(cx: ExpressionContext, e: prim.Var, span: Span | None) -> Run:
    slot = cx.layout.find(e)
    if slot is None:
        raise tir_errors.undefined("variable", e.name, span)

    def run(f: Frame) -> int:
        held: Any = f[slot]
        address: int = held if isinstance(held, int) else held.__array_interface__["data"][0]
        return address

    return run


def compile_extents(
    cx: ExpressionContext, shape: Sequence[prim.PrimExpr], wraps: Callable[[], VMError]
) -> Run:
    """Dimensions, strides or offsets; those that do not fit their dtype fail."""
    outer, cx.wraps = cx.wraps, wraps
    runs = [compile_expr(cx, e) for e in shape]
    cx.wraps = outer
    return lambda f: tuple([run(f) for run in runs])


def new_buffer(cx: ExpressionContext, buffer: tir.Buffer, span: Span | None) -> Run:
    """New memory for a buffer; strides are only a matter of layout."""
    name = buffer.name
    slot = cx.layout.define(buffer)
    shape = compile_extents(cx, buffer.shape, lambda: tir_errors.out_of_memory(name, span))
    data = cx.layout.define(buffer.data)
    dtype = element_type(buffer)
    views = cx.views.setdefault(buffer.data, [])

    def run(f: Frame) -> None:
        f[slot] = f[data] = new_array(name, shape(f), dtype, span)
        for view in views:
            view(f)

    return run


def allocate_memory(cx: ExpressionContext, s: tir.Allocate | tir.AllocateConst) -> Run:
    name, span = s.buffer_var.name, s.span
    slot = cx.layout.define(s.buffer_var)
    shape = compile_extents(cx, s.extents, lambda: tir_errors.out_of_memory(name, span))
    views = cx.views.setdefault(s.buffer_var, [])
    given = None
    if isinstance(s, tir.AllocateConst):
        given = np.array(s.data, s.dtype.numpy).reshape(-1)

    def run(f: Frame) -> None:
        f[slot] = new_array(name, shape(f), s.dtype.numpy, span) if given is None else given.copy()
        for view in views:
            view(f)

    return run


def declare_buffer(cx: ExpressionContext, buffer: tir.Buffer, span: Span | None) -> Run:
    """A view of the memory of its pointer; where there is none, each time new memory."""
    data = buffer.data
    if cx.layout.find(data) is None or cx.declared_memory.get(data) is buffer:
        cx.declared_memory[data] = buffer
        return new_buffer(cx, buffer, span)
    return view_of(cx, buffer, data, span)


def view_of(cx: ExpressionContext, buffer: tir.Buffer, data: prim.Var, span: Span | None) -> Run:
    """A buffer over memory that exists."""
    source, slot = cx.layout.define(data), cx.layout.define(buffer)
    name = buffer.name

    def wraps() -> VMError:
        return tir_errors.does_not_fit(name, span)

    shape = compile_extents(cx, buffer.shape, wraps)
    start = prim.const(0, "int64") if buffer.elem_offset is None else buffer.elem_offset
    offset = compile_extents(cx, [start], wraps)
    strides = compile_extents(cx, buffer.strides, wraps) if buffer.strides else None
    dtype = element_type(buffer)

    def run(f: Frame) -> None:
        cells = cells_of(flatten_compact(f[source], name), dtype)
        dims, (start,) = shape(f), offset(f)
        steps = compact_strides(dims) if strides is None else strides(f)
        reach = [(n - 1) * step for n, step in zip(dims, steps, strict=True)]
        first = start + sum(r for r in reach if r < 0)
        last = start + sum(r for r in reach if r > 0)
        empty, negative = 0 in dims, min(dims, default=1) < 0
        if negative or (not empty and (first < 0 or last >= cells.size)):
            raise tir_errors.does_not_fit(name, span)
        if empty:
            f[slot] = np.empty(dims, dtype)
            return
        itemsize = dtype.itemsize
        # By bytes, since arrays of small floats are no buffers to Python.
        bytes_, places = cells.view("uint8"), [step * itemsize for step in steps]
        f[slot] = np.ndarray(dims, dtype, bytes_, start * itemsize, places)

    return run


# ------------------------------------------------------------ regions


def match_region(cx: ExpressionContext, m: tir.MatchBufferRegion) -> Run:
    """A name for a region of a buffer; variables in its shape take their values."""
    source, buffer, span = m.source, m.buffer, m.span or m.buffer.span
    tir_errors.check_region(m)
    slot = slot_of(cx, source.buffer, span)
    ranges = [(compile_expr(cx, r.min), compile_expr(cx, r.extent)) for r in source.region]
    fit = bind_region(cx, buffer, span)
    outer = source.buffer.name

    def run(f: Frame) -> None:
        array = f[slot]
        cut = []
        for axis, (low, extent) in enumerate(ranges):
            start, count, size = low(f), extent(f), array.shape[axis]
            if start < 0 or start + count > size:
                last = start if start < 0 else start + count - 1
                raise tir_errors.out_of_bounds(outer, axis, last, size, span)
            cut.append(slice(start, start + max(count, 0)))
        fit(f, array[tuple(cut)], array)

    return run


def bind_region(cx: ExpressionContext, buffer: tir.Buffer, span: Span | None) -> Any:
    """Bind a buffer to a part of an array, and the variables of its layout to that part."""
    slot = cx.layout.define(buffer)
    data = cx.layout.define(buffer.data)
    layout = [*buffer.shape, *buffer.strides]
    if buffer.elem_offset is not None:
        layout.append(buffer.elem_offset)
    free = [isinstance(e, prim.Var) and cx.layout.find(e) is None for e in layout]
    binds = [
        (i, cx.layout.define(e)) for i, (e, new) in enumerate(zip(layout, free, strict=True)) if new
    ]
    checks = [
        (i, compile_expr(cx, e))
        for i, (e, new) in enumerate(zip(layout, free, strict=True))
        if not new and i < buffer.ndim
    ]

    def run(f: Frame, part: Array, whole: Array) -> None:
        dropped = part.ndim - buffer.ndim
        if part.shape[:dropped] != (1,) * dropped:
            raise tir_errors.region_mismatch(buffer.name, part.shape, span)
        part = part[(0,) * dropped]
        start = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        strides = (stride // part.itemsize for stride in part.strides)
        actual = [*part.shape, *strides, start // part.itemsize]
        if not buffer.strides:
            actual = [*part.shape, start // part.itemsize]
        for i, place in binds:
            f[place] = actual[i]
        if any(actual[i] != check(f) for i, check in checks):
            raise tir_errors.region_mismatch(buffer.name, part.shape, span)
        f[slot] = f[data] = part

    return run


def cells_of(array: Array, dtype: np.dtype[Any]) -> Array:
    """The memory of an array as so many whole elements of a dtype as it holds."""
    if array.dtype == dtype:
        return array
    count = array.nbytes // dtype.itemsize
    return array.view("uint8")[: count * dtype.itemsize].view(dtype)


def compact_strides(shape: Sequence[int]) -> list[int]:
    """The strides, in elements, of a compact row-major buffer."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return strides[::-1]


def new_array(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], span: Span | None) -> Array:
    """Memory whose use before its first store shows: NaN, the least integer, True."""
    if min(shape, default=0) < 0:
        raise tir_errors.does_not_fit(name, span)
    kind = DataType(dtype)
    unset: Any = True if kind.is_bool else float("nan")
    if kind.is_integer:
        low, high = scalar.limits(kind)
        unset = low or high
    try:
        return np.full(shape, unset, dtype)
    except (MemoryError, ValueError):
        raise tir_errors.out_of_memory(name, span) from None

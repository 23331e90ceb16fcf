"""Buffers of the evaluator: numpy arrays for parameters, new memory, views, regions.

Every buffer in scope has a place in the frame that holds an array of its shape. The pointer behind
a buffer (`Buffer.data`) has a place as well, which holds an array over the same memory; buffers
that are declared over it are views of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Span, VMError
from relaxscript.ir import prim, tir
from relaxscript.semantics import scalar, tir_errors
from relaxscript.semantics.expression import Frame, Run, reader
from relaxscript.semantics.prim_func_abi import Array, BufferParam, Signature, element_type, memory

from .external_calls import External

__all__ = ["Memory"]


class Memory(External):
    """Compiles what makes buffers; `preparation` has to run before the body of the function."""

    def __init__(self, signature: Signature) -> None:
        super().__init__(signature.scope)
        self.preparation: list[Run] = []
        # Buffers that are used over some memory without being declared, by its pointer.
        self.views: dict[prim.Var, list[Run]] = {}
        for param in signature.params:
            if isinstance(param, BufferParam) and param.buffer.data is not None:
                self.preparation.append(self.share(param.buffer, param.buffer.data))

    def share(self, buffer: tir.Buffer, data: prim.Var) -> Run:
        """Let the pointer of a buffer stand for its array."""
        source, target = self.scope.define(buffer), self.scope.define(data)

        def run(f: Frame) -> None:
            f[target] = f[source]

        return run

    def has_memory(self, buffer: tir.Buffer) -> bool:
        """Whether there is memory for a buffer, be it that of its pointer."""
        data = buffer.data
        known = data is not None and self.scope.find(data) is not None
        return known or self.scope.find(buffer) is not None

    def buffer(self, buffer: tir.Buffer, span: Span | None) -> int:
        data = buffer.data
        if self.scope.find(buffer) is None and data is not None:
            if self.scope.find(data) is None:
                raise tir_errors.undefined("buffer", buffer.name, span)
            self.views.setdefault(data, []).append(self.view(buffer, data, span))
        return super().buffer(buffer, span)

    def element_address(self, e: prim.BufferLoad) -> Run:
        tir_errors.check_rank(e.buffer, e.indices, e.span)
        slot, read = self.buffer(e.buffer, e.span), reader(e.buffer, e.span)
        indices = [self.compile(i) for i in e.indices]

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

    def held_address(self, e: prim.Var, span: Span | None) -> Run:
        slot = self.scope.find(e)
        if slot is None:
            raise tir_errors.undefined("variable", e.name, span)

        def run(f: Frame) -> int:
            held: Any = f[slot]
            address: int = held if isinstance(held, int) else held.__array_interface__["data"][0]
            return address

        return run

    def extents(self, shape: Sequence[prim.PrimExpr], wraps: Callable[[], VMError]) -> Run:
        """Dimensions, strides or offsets; those that do not fit their data type fail."""
        outer, self.wraps = self.wraps, wraps
        runs = [self.compile(e) for e in shape]
        self.wraps = outer
        return lambda f: tuple([run(f) for run in runs])

    def allocation(self, buffer: tir.Buffer, span: Span | None) -> Run:
        """New memory for a buffer; strides are only a matter of layout."""
        name = buffer.name
        slot = self.scope.define(buffer)
        shape = self.extents(buffer.shape, lambda: tir_errors.out_of_memory(name, span))
        data = None if buffer.data is None else self.scope.define(buffer.data)
        dtype = element_type(buffer)
        views = [] if buffer.data is None else self.views.setdefault(buffer.data, [])

        def run(f: Frame) -> None:
            f[slot] = new_array(name, shape(f), dtype, span)
            if data is not None:
                f[data] = f[slot]
                for view in views:
                    view(f)

        return run

    def allocate(self, s: tir.Allocate | tir.AllocateConst) -> Run:
        name, span = s.buffer_var.name, s.span
        slot = self.scope.define(s.buffer_var)
        shape = self.extents(s.extents, lambda: tir_errors.out_of_memory(name, span))
        views = self.views.setdefault(s.buffer_var, [])
        given = None
        if isinstance(s, tir.AllocateConst):
            given = np.array(s.data, s.dtype.numpy).reshape(-1)

        def run(f: Frame) -> None:
            f[slot] = (
                new_array(name, shape(f), s.dtype.numpy, span) if given is None else given.copy()
            )
            for view in views:
                view(f)

        return run

    def declare(self, buffer: tir.Buffer, span: Span | None) -> Run:
        data = buffer.data
        if data is None or self.scope.find(data) is None:
            return self.allocation(buffer, span)
        return self.view(buffer, data, span)

    def view(self, buffer: tir.Buffer, data: prim.Var, span: Span | None) -> Run:
        """A buffer over memory that exists."""
        source, slot = self.scope.define(data), self.scope.define(buffer)
        name = buffer.name

        def wraps() -> VMError:
            return tir_errors.does_not_fit(name, span)

        shape = self.extents(buffer.shape, wraps)
        start = prim.const(0, "int64") if buffer.elem_offset is None else buffer.elem_offset
        offset = self.extents([start], wraps)
        strides = self.extents(buffer.strides, wraps) if buffer.strides else None
        dtype = element_type(buffer)

        def run(f: Frame) -> None:
            cells = cells_of(memory(f[source], name), dtype)
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
            f[slot] = np.lib.stride_tricks.as_strided(
                cells[start:], dims, [step * itemsize for step in steps]
            )

        return run

    # ------------------------------------------------------------ regions

    def match(self, m: tir.MatchBufferRegion) -> Run:
        """A name for a region of a buffer; variables in its shape take their values."""
        source, buffer, span = m.source, m.buffer, m.span or m.buffer.span
        tir_errors.check_region(m)
        slot = self.buffer(source.buffer, span)
        ranges = [(self.compile(r.min), self.compile(r.extent)) for r in source.region]
        fit = self.fitting(buffer, span)
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

    def fitting(self, buffer: tir.Buffer, span: Span | None) -> Any:
        """Bind a buffer to a part of an array, and the variables of its layout to that part."""
        slot = self.scope.define(buffer)
        data = None if buffer.data is None else self.scope.define(buffer.data)
        layout = [*buffer.shape, *buffer.strides]
        if buffer.elem_offset is not None:
            layout.append(buffer.elem_offset)
        free = [isinstance(e, prim.Var) and self.scope.find(e) is None for e in layout]
        binds = [
            (i, self.scope.define(e))
            for i, (e, new) in enumerate(zip(layout, free, strict=True))
            if new
        ]
        checks = [
            (i, self.compile(e))
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
            f[slot] = part
            if data is not None:
                f[data] = part

        return run


def cells_of(array: Array, dtype: np.dtype[Any]) -> Array:
    """The memory of an array as so many whole elements of a data type as it holds."""
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

"""Code for buffers: where an element lies, loads and stores, new memory, views and regions.

A buffer in scope is a `Place`: the address of its first element, its dimensions and its strides in
elements (None where it is compact). Small memory of constant size lives on the stack, other memory
on the heap until the function ends; it is not initialised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.interpreter import failure
from relaxscript.ir import prim, tir

from .assembler import Sites, Value
from .reductions import Reductions
from .types import register, storage

__all__ = ["Memory", "Options", "Place"]

STACK_BYTES = 16 * 1024


@dataclass(frozen=True)
class Options:
    """How code is made: `check` tests every index, `level` is LLVM's level of optimisation."""

    check: bool = False
    level: int = 3


@dataclass(frozen=True)
class Place:
    """Where a buffer lies."""

    pointer: Value
    dtype: DataType
    shape: tuple[Value, ...]
    strides: tuple[Value, ...] | None = None


class Memory(Reductions):
    """Writes accesses to buffers."""

    def __init__(self, sites: Sites, options: Options) -> None:
        super().__init__(sites)
        self.options = options
        self.places: dict[tir.Buffer, Place] = {}
        # The first buffer over each pointer, and where the memory behind a pointer begins.
        self.owners: dict[prim.Var, Place] = {}
        self._stack = 0

    def define(self, buffer: tir.Buffer, place: Place) -> None:
        """Let a buffer, and its pointer, stand for a place."""
        self.places[buffer] = place
        if buffer.data is not None:
            self.owners[buffer.data] = place

    def place(self, buffer: tir.Buffer, span: Span | None) -> Place:
        """The place of a buffer; one that is not declared lies over the memory of its pointer."""
        if buffer not in self.places:
            if buffer.data is None or buffer.data not in self.owners:
                raise failure.undefined("buffer", buffer.name, span)
            return self.view(buffer, self.owners[buffer.data], span)
        return self.places[buffer]

    # ------------------------------------------------------------ numbers of 64 bits

    def wide(self, e: prim.PrimExpr) -> Value:
        """An integer expression as i64, in all lanes."""
        return self.asm.to_i64(self.emit(e), e.dtype)

    def i64(self, value: int) -> Value:
        return Value("i64", str(value))

    def times(self, a: Value, b: Value) -> Value:
        """A product that is known to fit."""
        if "0" in (a.text, b.text):
            return self.i64(0)
        if "1" in (a.text, b.text):
            return b if a.text == "1" else a
        if _is_number(a) and _is_number(b):
            return self.i64(int(a.text) * int(b.text))
        return self.asm.operation("mul nsw", a, b)

    def plus(self, a: Value, b: Value) -> Value:
        """A sum that is known to fit."""
        if "0" in (a.text, b.text):
            return b if a.text == "0" else a
        return self.asm.operation("add nsw", a, b)

    def strides_of(self, place: Place) -> list[Value]:
        """The strides in elements; those of a compact buffer follow from its dimensions."""
        if place.strides is not None:
            return list(place.strides)
        strides = [self.i64(1)]
        for extent in place.shape[:0:-1]:
            strides.append(self.times(strides[-1], extent))
        return strides[::-1][: len(place.shape)] if place.shape else []

    # ------------------------------------------------------------ elements

    def check(self, buffer: tir.Buffer, place: Place, axis: int, index: Value, span: Any) -> None:
        """Fail unless an index, of 64 bits, lies in the buffer."""
        extent, name = place.shape[axis], buffer.name
        beyond = self.asm.compare("icmp uge", index, extent)
        self.asm.fail_if(
            beyond,
            lambda details: failure.out_of_bounds(name, axis, details[0], details[1], span),
            [index, extent],
        )

    def element(
        self, buffer: tir.Buffer, place: Place, indices: Sequence[Value], span: Span | None
    ) -> Value:
        """The address of the element at some indices of 64 bits."""
        if self.options.check:
            for axis, index in enumerate(indices):
                self.check(buffer, place, axis, index, span)
        offset = self.i64(0)
        if place.strides is None:
            for index, extent in zip(indices, place.shape, strict=True):
                offset = self.plus(
                    self.times(offset, extent) if offset.text != "0" else offset, index
                )
        else:
            for index, stride in zip(indices, place.strides, strict=True):
                offset = self.plus(offset, self.times(index, stride))
        return self.offset(place, offset)

    def offset(self, place: Place, offset: Value) -> Value:
        """The address that lies a number of elements from a place."""
        if offset.text == "0":
            return place.pointer
        type_ = storage(place.dtype)
        return self.asm.value("ptr", f"getelementptr inbounds {type_}, {place.pointer}, {offset}")

    def load(self, e: prim.BufferLoad) -> Value:
        failure.check_rank(e.buffer, e.indices, e.span)
        place = self.place(e.buffer, e.span)
        lanes = e.dtype.lanes
        dtype, asm = place.dtype, self.asm
        indices = [self.wide(i) for i in e.indices]
        if lanes == 1:
            return self._read(self.element(e.buffer, place, indices, e.span), dtype)
        if e.predicate is None and self._is_run(e.indices, place):
            first = [asm.extract(i, 0) for i in indices]
            address = self.element(e.buffer, place, first, e.span)
            return self._read(address, dtype.with_lanes(lanes))
        mask = None if e.predicate is None else self.emit(e.predicate)
        numbers = []
        for lane in range(lanes):
            at = [asm.extract(i, lane) for i in indices]
            if mask is None:
                numbers.append(self._read(self.element(e.buffer, place, at, e.span), dtype))
            else:
                numbers.append(self._masked(e, place, at, asm.extract(mask, lane)))
        return asm.join(numbers)

    def _masked(self, e: prim.BufferLoad, place: Place, at: list[Value], on: Value) -> Value:
        """An element, or zero where it is masked."""
        asm = self.asm
        before, inside, after = asm.current, asm.name(), asm.name()
        asm.branch(on, inside, after)
        asm.begin(inside)
        number = self._read(self.element(e.buffer, place, at, e.span), place.dtype)
        last = asm.current
        asm.jump(after)
        asm.begin(after)
        zero = asm.number(number.type, 0).text
        return asm.value(
            number.type, f"phi {number.type} [{number.text}, %{last}], [{zero}, %{before}]"
        )

    def store(self, s: tir.BufferStore) -> None:
        lanes = max((i.dtype.lanes for i in s.indices), default=1)
        failure.check_store(s, s.buffer.dtype.with_lanes(lanes))
        place, asm = self.place(s.buffer, s.span), self.asm
        indices = [self.wide(i) for i in s.indices]
        value = self.emit(s.value)
        mask = None if s.predicate is None else self.emit(s.predicate)
        if lanes > 1 and mask is None and self._is_run(s.indices, place):
            first = [asm.extract(i, 0) for i in indices]
            address = self.element(s.buffer, place, first, s.span)
            self._write(address, value, s.value.dtype)
            return
        for lane in range(lanes):
            ahead = asm.name()
            if mask is not None:
                inside = asm.name()
                asm.branch(asm.extract(mask, lane), inside, ahead)
                asm.begin(inside)
            at = [asm.extract(i, lane) for i in indices]
            address = self.element(s.buffer, place, at, s.span)
            self._write(address, asm.extract(value, lane), place.dtype)
            if mask is not None:
                asm.jump(ahead)
                asm.begin(ahead)

    def _is_run(self, indices: Sequence[prim.PrimExpr], place: Place) -> bool:
        """Whether the lanes of an access lie beside each other and need no checks one by one."""
        last = indices[-1]
        return (
            not self.options.check
            and isinstance(last, prim.Ramp)
            and isinstance(last.stride, prim.IntImm)
            and last.stride.value == 1
            and (place.strides is None or place.strides[-1].text == "1")
        )

    def _read(self, address: Value, dtype: DataType) -> Value:
        type_, align = storage(dtype), dtype.element.itemsize
        return self.asm.from_memory(
            self.asm.value(type_, f"load {type_}, {address}, align {align}"), dtype
        )

    def _write(self, address: Value, value: Value, dtype: DataType) -> None:
        stored = self.asm.to_memory(value, dtype)
        self.asm.do(f"store {stored}, {address}, align {dtype.element.itemsize}")

    # ------------------------------------------------------------ memory

    def allocate(self, name: str, dtype: DataType, shape: Sequence[Value], span: Any) -> Place:
        """New memory for so many elements, and a place at its start."""
        type_ = storage(dtype, span)
        if all(_is_number(extent) and int(extent.text) >= 0 for extent in shape):
            size = prod(int(extent.text) for extent in shape)
            bytes_ = max(size, 1) * dtype.itemsize
            if self._stack + bytes_ <= STACK_BYTES:
                self._stack += bytes_
                pointer = Value("ptr", f"%{self.asm.name()}")
                self.asm.entry.append(
                    f"{pointer.text} = alloca {type_}, i64 {max(size, 1)}, align 64"
                )
                return Place(pointer, dtype, tuple(shape))
        return Place(self._heap(name, dtype, shape, span), dtype, tuple(shape))

    def _heap(self, name: str, dtype: DataType, shape: Sequence[Value], span: Any) -> Value:
        """Memory that is released when the function ends, or when this is run again."""
        asm = self.asm
        asm.sites.declare("malloc", "declare noalias ptr @malloc(i64)")
        asm.sites.declare("free", "declare void @free(ptr)")
        slot = f"%{asm.name()}"
        asm.entry += [f"{slot} = alloca ptr", f"store ptr null, ptr {slot}"]
        held = f"{slot}.held"
        asm.leave += [f"{held} = load ptr, ptr {slot}", f"call void @free(ptr {held})"]
        bytes_ = self.i64(dtype.itemsize)
        for extent in shape:
            negative = asm.compare("icmp slt", extent, self.i64(0))
            asm.fail_if(negative, lambda details: failure.does_not_fit(name, span))
        for extent in shape:
            bytes_ = self._size(name, bytes_, extent, span)
        old = asm.value("ptr", f"load ptr, ptr {slot}")
        asm.do(f"call void @free({old})")
        asm.do(f"store ptr null, ptr {slot}")
        bytes_ = asm.intrinsic("umax", [bytes_, self.i64(1)])
        new = asm.value("ptr", f"call noalias ptr @malloc({bytes_})")
        asm.do(f"store {new}, ptr {slot}")
        none = asm.value("i1", f"icmp eq {new}, null")
        asm.fail_if(none, lambda details: failure.out_of_memory(name, span))
        return new

    def _size(self, name: str, bytes_: Value, extent: Value, span: Any) -> Value:
        """A product that fails where there cannot be so much memory."""
        asm, pair = self.asm, "{i64, i1}"
        both = asm.call("llvm.umul.with.overflow.i64", pair, [bytes_, extent])
        beyond = asm.value("i1", f"extractvalue {both}, 1")
        asm.fail_if(beyond, lambda details: failure.out_of_memory(name, span))
        return asm.value("i64", f"extractvalue {both}, 0")

    def constant_data(self, s: tir.AllocateConst) -> Place:
        """A private copy of constant data."""
        array = np.ascontiguousarray(np.array(s.data, s.dtype.numpy).reshape(-1))
        raw = array.tobytes()
        text = "".join(f"\\{byte:02X}" for byte in raw)
        name = f"relaxscript.data.{len(self.asm.sites.declarations)}"
        self.asm.sites.declare(
            name, f'@{name} = private constant [{len(raw)} x i8] c"{text}", align 64'
        )
        place = self.allocate(s.buffer_var.name, s.dtype, [self.i64(array.size)], s.span)
        self.asm.sites.declare(
            "llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        )
        self.asm.do(
            f"call void @llvm.memcpy.p0.p0.i64({place.pointer}, ptr @{name}, i64 {len(raw)}, i1 0)"
        )
        return place

    def new_buffer(self, buffer: tir.Buffer, span: Span | None) -> None:
        """Compact memory of its own for a buffer."""
        shape = [self.extent(e) for e in buffer.shape]
        self.define(buffer, self.allocate(buffer.name, buffer.dtype, shape, span))

    def extent(self, e: prim.PrimExpr) -> Value:
        """A dimension as i64."""
        return self.i64(e.value) if isinstance(e, prim.IntImm) else self.wide(e)

    def view(self, buffer: tir.Buffer, owner: Place, span: Span | None) -> Place:
        """A buffer over the memory behind a pointer."""
        storage(buffer.dtype, span)
        if owner.strides is not None:
            raise failure.invalid(
                "RX0505", f"buffer `{buffer.name}` is declared over memory with strides", span
            )
        shape = tuple(self.extent(e) for e in buffer.shape)
        strides = tuple(self.extent(e) for e in buffer.strides) if buffer.strides else None
        place = Place(owner.pointer, buffer.dtype, shape, strides)
        if buffer.elem_offset is not None:
            pointer = self.offset(place, self.extent(buffer.elem_offset))
            place = Place(pointer, buffer.dtype, shape, strides)
        self.places[buffer] = place
        return place

    # ------------------------------------------------------------ regions

    def match(self, m: tir.MatchBufferRegion) -> None:
        """A name for a region of a buffer; variables in its layout take their values."""
        source, buffer, span = m.source, m.buffer, m.span or m.buffer.span
        outer = self.place(source.buffer, span)
        starts = [self.wide(r.min) for r in source.region]
        extents = [self.extent(r.extent) for r in source.region]
        strides = self.strides_of(outer)
        offset = self.i64(0)
        for axis, (start, extent) in enumerate(zip(starts, extents, strict=True)):
            offset = self.plus(offset, self.times(start, strides[axis]))
            if self.options.check:
                self.check(source.buffer, outer, axis, start, span)
                last = self.plus(self.plus(start, extent), self.i64(-1))
                self.check(source.buffer, outer, axis, last, span)
        dropped = len(extents) - buffer.ndim
        if dropped < 0:
            raise failure.invalid(
                "RX0503", f"buffer `{buffer.name}` has more dimensions than its region", span
            )
        expected = [*[prim.const(1, "int64")] * dropped, *buffer.shape]
        for e, extent in zip(expected, extents, strict=True):
            self.unify(buffer, e, extent, span)
        for e, stride in zip(buffer.strides, strides[dropped:], strict=False):
            self.unify(buffer, e, stride, None, only_bind=True)
        if buffer.elem_offset is not None:
            self.unify(buffer, buffer.elem_offset, offset, None, only_bind=True)
        pointer = self.offset(outer, offset)
        compact = outer.strides is None and len(extents) == 1
        place = Place(
            pointer,
            buffer.dtype,
            tuple(extents[dropped:]),
            None if compact else tuple(strides[dropped:]),
        )
        self.define(buffer, place)

    def unify(
        self,
        buffer: tir.Buffer,
        e: prim.PrimExpr,
        actual: Value,
        span: Span | None,
        only_bind: bool = False,
    ) -> None:
        """Bind a new variable to a number, or fail at run time unless an expression equals it."""
        asm = self.asm
        if isinstance(e, prim.Var) and e not in self.values:
            self.values[e] = asm.convert("trunc", actual, register(e.dtype))
            return
        if only_bind or (isinstance(e, prim.IntImm) and str(e.value) == actual.text):
            return
        name = buffer.name
        differs = asm.compare("icmp ne", self.wide(e), actual)
        asm.fail_if(
            differs, lambda details: failure.region_mismatch(name, [details[0]], span), [actual]
        )


def _is_number(value: Value) -> bool:
    return not value.text.startswith("%")

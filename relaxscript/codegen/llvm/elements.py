"""Code for elements of buffers: where one lies, whether it lies in its buffer, loads and stores.

A buffer in scope is a `Place`: the address of its first element, its dimensions and its strides in
elements (None where it is compact). An index is compared with its dimension where the code runs,
unless `proofs.py` finds that it always fits. No dimension of a place is negative.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.interpreter import failure
from relaxscript.ir import prim, tir

from .assembler import Sites, Value
from .proofs import Term
from .reductions import Reductions
from .types import storage

__all__ = ["Access", "Elements", "Options", "Place", "is_number"]


@dataclass(frozen=True)
class Options:
    """How code is made: with `check`s of indices, at a `level` of optimisation by LLVM.

    With `zero_memory`, new memory begins as zeros.
    """

    check: bool = True
    level: int = 3
    zero_memory: bool = False


@dataclass(frozen=True)
class Place:
    """Where a buffer lies; `extents` are its dimensions as they are known."""

    pointer: Value
    dtype: DataType
    shape: tuple[Value, ...]
    extents: tuple[Term, ...]
    strides: tuple[Value, ...] | None = None


@dataclass(frozen=True)
class Site:
    """Where an index of some data type may leave a buffer."""

    buffer: str
    axis: int
    dtype: DataType
    span: Span | None

    def explain(self, details: Sequence[int]) -> BaseException:
        """The error for the words of an index and of the dimension."""
        index, extent = details[:2]
        if self.dtype.kind == "uint":
            index %= 1 << 64
        return failure.out_of_bounds(self.buffer, self.axis, index, extent, self.span)


class Elements(Reductions):
    """Writes accesses to buffers."""

    def __init__(self, sites: Sites, options: Options) -> None:
        super().__init__(sites)
        self.options = options
        self.places: dict[tir.Buffer, Place] = {}
        # The views that were declared so far, and what their buffers stood for before.
        self._declared: list[tuple[tir.Buffer, Place | None]] = []

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
        if is_number(a) and is_number(b):
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

    # ------------------------------------------------------------ scopes

    @contextmanager
    def scope(self, *conditions: prim.PrimExpr, unless: bool = False) -> Iterator[None]:
        """Where some conditions hold, or `unless`, does not; views of the inside end with it."""
        before = len(self._declared)
        with self.proofs.scope(*conditions, unless=unless):
            yield
        while len(self._declared) > before:
            buffer, outer = self._declared.pop()
            del self.places[buffer]
            if outer is not None:
                self.places[buffer] = outer

    def declare(self, buffer: tir.Buffer, place: Place) -> None:
        """Let a buffer stand for a place until the scope ends."""
        self._declared.append((buffer, self.places.get(buffer)))
        self.places[buffer] = place

    def size_of(self, place: Place) -> Value:
        """How many bytes there are behind a compact place."""
        size = self.i64(place.dtype.itemsize)
        for extent in place.shape:
            size = self.times(size, extent)
        return size

    @abstractmethod
    def place(self, buffer: tir.Buffer, span: Span | None) -> Place:
        """The place of a buffer."""

    # ------------------------------------------------------------ checks

    def unproved(self, place: Place, indices: Sequence[prim.PrimExpr]) -> list[int]:
        """The axes along which an access has to be checked."""
        if not self.options.check:
            return []
        pairs = zip(indices, place.extents, strict=True)
        return [k for k, (i, n) in enumerate(pairs) if not self.proofs.is_inside(i, n)]

    def check(self, site: Site, index: Value, extent: Value) -> None:
        """Fail unless an index, of 64 bits, is one of so many."""
        beyond = self.asm.compare("icmp uge", index, extent)
        self.asm.fail_if(beyond, site.explain, [index, extent])

    def check_run(self, site: Site, index: Value, extent: Value) -> None:
        """Fail unless all lanes of an index, which follow one another, are some of so many."""
        asm = self.asm
        first, last = asm.extract(index, 0), asm.extract(index, _lanes(index) - 1)
        below = asm.compare("icmp uge", first, extent)
        beyond = asm.operation("or", below, asm.compare("icmp uge", last, extent))
        # Of lanes that leave the buffer at its end, the first is one too many.
        asm.fail_if(beyond, site.explain, [asm.choose(below, first, extent), extent])

    # ------------------------------------------------------------ elements

    def element(self, place: Place, indices: Sequence[Value]) -> Value:
        """The address of the element at some indices of 64 bits that lie in the buffer."""
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
        access = Access(self, e.buffer, place, e.indices, e.span)
        lanes, dtype = e.dtype.lanes, place.dtype
        if lanes == 1:
            access.check(0)
            return self._read(access.address(0), dtype)
        if e.predicate is None and access.is_run:
            access.check_run()
            return self._read(access.address(0), dtype.with_lanes(lanes))
        mask = None if e.predicate is None else self.emit(e.predicate)
        numbers = []
        for lane in range(lanes):
            if mask is None:
                access.check(lane)
                numbers.append(self._read(access.address(lane), dtype))
            else:
                numbers.append(self._masked(access, lane, mask))
        return self.asm.join(numbers)

    def _masked(self, access: Access, lane: int, mask: Value) -> Value:
        """An element, or zero where it is masked."""
        asm = self.asm
        on, before = asm.extract(mask, lane), asm.current
        inside, after = asm.name(), asm.name()
        asm.branch(on, inside, after)
        asm.begin(inside)
        access.check(lane)
        number = self._read(access.address(lane), access.place.dtype)
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
        if lanes == 1 and s.predicate is not None:
            with self.where(self.emit(s.predicate)), self.scope(s.predicate):
                self._store(s, lanes, None)
        else:
            self._store(s, lanes, s.predicate)

    def _store(self, s: tir.BufferStore, lanes: int, predicate: prim.PrimExpr | None) -> None:
        """Store all lanes, or those that are not masked, once all of them are checked."""
        place, asm = self.place(s.buffer, s.span), self.asm
        access = Access(self, s.buffer, place, s.indices, s.span)
        value = self.emit(s.value)
        mask = None if predicate is None else self.emit(predicate)
        if lanes > 1 and mask is None and access.is_run:
            access.check_run()
            self._write(access.address(0), value, s.value.dtype)
            return
        for lane in range(lanes if access.open else 0):
            with self.where(None if mask is None else asm.extract(mask, lane)):
                access.check(lane)
        for lane in range(lanes):
            with self.where(None if mask is None else asm.extract(mask, lane)):
                self._write(access.address(lane), asm.extract(value, lane), place.dtype)

    @contextmanager
    def where(self, condition: Value | None) -> Iterator[None]:
        """What is done only where a condition, if there is one, holds."""
        if condition is None:
            yield
            return
        inside, ahead = self.asm.name(), self.asm.name()
        self.asm.branch(condition, inside, ahead)
        self.asm.begin(inside)
        yield
        self.asm.jump(ahead)
        self.asm.begin(ahead)

    def _read(self, address: Value, dtype: DataType) -> Value:
        type_, align = storage(dtype), dtype.element.itemsize
        return self.asm.from_memory(
            self.asm.value(type_, f"load {type_}, {address}, align {align}"), dtype
        )

    def _write(self, address: Value, value: Value, dtype: DataType) -> None:
        stored = self.asm.to_memory(value, dtype)
        self.asm.do(f"store {stored}, {address}, align {dtype.element.itemsize}")


class Access:
    """The indices of a load or store, as numbers and as what is proved of them."""

    def __init__(
        self,
        writer: Elements,
        buffer: tir.Buffer,
        place: Place,
        indices: Sequence[prim.PrimExpr],
        span: Span | None,
    ) -> None:
        self.writer, self.buffer, self.place, self.span = writer, buffer, place, span
        self.indices = indices
        self.numbers = [writer.wide(i) for i in indices]
        self.open = writer.unproved(place, indices)
        last = indices[-1] if indices else None
        # Whether the lanes lie beside each other.
        self.is_run = (
            isinstance(last, prim.Ramp)
            and isinstance(last.stride, prim.IntImm)
            and last.stride.value == 1
            and (place.strides is None or place.strides[-1].text == "1")
        )

    def _at(self, lane: int) -> list[Value]:
        return [self.writer.asm.extract(i, lane) for i in self.numbers]

    def address(self, lane: int) -> Value:
        """Where a lane lies."""
        return self.writer.element(self.place, self._at(lane))

    def check(self, lane: int) -> None:
        """Fail unless a lane lies in the buffer."""
        at = self._at(lane) if self.open else []
        for k in self.open:
            self.writer.check(self._site(k), at[k], self.place.shape[k])

    def check_run(self) -> None:
        """Fail unless all lanes of a run lie in the buffer."""
        for k in self.open:
            check = self.writer.check if _lanes(self.numbers[k]) == 1 else self.writer.check_run
            check(self._site(k), self.numbers[k], self.place.shape[k])

    def _site(self, axis: int) -> Site:
        return Site(self.buffer.name, axis, self.indices[axis].dtype, self.span)


def _lanes(value: Value) -> int:
    return int(value.type[1:].split()[0]) if value.type.startswith("<") else 1


def is_number(value: Value) -> bool:
    """Whether a value is a literal."""
    return not value.text.startswith("%")

"""Code for elements of buffers: where one lies, whether it lies in its buffer, loads and stores.

A buffer in scope is a `BufferAddress`: the address of its first element, its dimensions, and its
strides in elements (None where it is compact). An index is compared with its dimension where the
code runs, unless `proofs.py` finds that it always fits. No dimension is negative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.ir import prim, tir
from relaxscript.semantics import tir_errors

from .buffer_address import BufferAddress
from .context import FunctionContext
from .expression import emit, emit_branches, emit_sum
from .index_sum import IndexSum, address_of_sum, is_number, sum_of
from .ir_writer import Value
from .types import register, storage

__all__ = [
    "Access",
    "add",
    "address_at",
    "emit_load",
    "emit_store",
    "emit_wide",
    "i64",
    "is_number",
    "multiply",
    "runs_of",
    "size_of",
    "strides_of",
]


@dataclass(frozen=True)
class IndexSite:
    """An index of some dtype that may be outside of its buffer."""

    buffer: str
    axis: int
    dtype: DataType
    span: Span | None

    def explain(self, details: Sequence[int]) -> BaseException:
        """The error for the words of an index and of the dimension."""
        index, extent = details[:2]
        if self.dtype.kind == "uint":
            index %= 1 << 64
        return tir_errors.out_of_bounds(self.buffer, self.axis, index, extent, self.span)


def emit_wide(cx: FunctionContext, e: prim.PrimExpr) -> Value:
    """An integer expression as i64, in all lanes."""
    return cx.asm.to_i64(emit(cx, e), e.dtype)


def i64(cx: FunctionContext, value: int) -> Value:
    return Value("i64", str(value))


def multiply(cx: FunctionContext, a: Value, b: Value) -> Value:
    """A product that is known to fit."""
    if "0" in (a.text, b.text):
        return i64(cx, 0)
    if "1" in (a.text, b.text):
        return b if a.text == "1" else a
    if is_number(a) and is_number(b):
        return i64(cx, int(a.text) * int(b.text))
    return cx.asm.operation("mul nsw", a, b)


def add(cx: FunctionContext, a: Value, b: Value) -> Value:
    """A sum that is known to fit."""
    if "0" in (a.text, b.text):
        return b if a.text == "0" else a
    return cx.asm.operation("add nsw", a, b)


def sum_of_element(
    cx: FunctionContext, place: BufferAddress, indices: Sequence[IndexSum]
) -> IndexSum:
    """The place of an element, in elements."""
    asm, offset = cx.asm, IndexSum((), 0)
    if place.strides is not None:
        for index, stride in zip(indices, place.strides, strict=True):
            offset = offset.plus(asm, index.times(asm, stride))
        return offset
    if place.literal_strides is not None:
        literal = 0
        for index, step in zip(reversed(indices), reversed(place.literal_strides), strict=True):
            literal += index.literal * step
            if index.terms:
                offset = IndexSum(index.terms, 0).scaled(asm, step).plus(asm, offset)
        return IndexSum(offset.terms, literal)
    step_sum = sum_of(i64(cx, 1))
    for index, extent in zip(reversed(indices), reversed(place.shape), strict=True):
        offset = index.times(asm, step_sum.written(asm)).plus(asm, offset)
        step_sum = step_sum.times(asm, extent)
    return offset


def strides_of(cx: FunctionContext, place: BufferAddress) -> list[Value]:
    """The strides in elements; those of a compact buffer follow from its dimensions."""
    if place.strides is not None:
        return list(place.strides)
    strides = [i64(cx, 1)]
    for extent in place.shape[:0:-1]:
        strides.append(multiply(cx, strides[-1], extent))
    return strides[::-1][: len(place.shape)] if place.shape else []


def size_of(cx: FunctionContext, place: BufferAddress) -> Value:
    """The size of a compact buffer in bytes."""
    size = i64(cx, place.dtype.itemsize)
    for extent in place.shape:
        size = multiply(cx, size, extent)
    return size


def unproved_axes(
    cx: FunctionContext, place: BufferAddress, indices: Sequence[prim.PrimExpr]
) -> list[int]:
    """The axes along which an access has to be checked."""
    if not cx.options.check:
        return []
    pairs = zip(indices, place.extents, strict=True)
    return [k for k, (i, n) in enumerate(pairs) if not cx.proofs.is_inside(i, n)]


def check_index(cx: FunctionContext, site: IndexSite, index: Value, extent: Value) -> None:
    """Fail unless an index, of 64 bits, is one of so many."""
    beyond = cx.asm.compare("icmp uge", index, extent)
    cx.asm.fail_if(beyond, site.explain, [index, extent])


def check_run(
    cx: FunctionContext, site: IndexSite, ends: tuple[Value, Value], extent: Value
) -> None:
    """Fail unless indices that follow one another, of which these are the ends, are so many."""
    asm, (first, last) = cx.asm, ends
    below = asm.compare("icmp uge", first, extent)
    beyond = asm.operation("or", below, asm.compare("icmp uge", last, extent))
    # Of lanes that leave the buffer at its end, the first is one too many.
    asm.fail_if(beyond, site.explain, [asm.choose(below, first, extent), extent])


def address_of_element(
    cx: FunctionContext, place: BufferAddress, sums: Sequence[IndexSum]
) -> Value:
    """The address of the element at some indices of 64 bits that lie in the buffer."""
    if cx.asm.as_written:
        offset_sum = sum_of_element(cx, place, sums)
        return address_of_sum(cx.asm, storage(place.dtype), place.pointer, offset_sum)
    indices = [index.written(cx.asm) for index in sums]
    offset = i64(cx, 0)
    if place.strides is None:
        for index, extent in zip(indices, place.shape, strict=True):
            offset = add(cx, multiply(cx, offset, extent) if offset.text != "0" else offset, index)
    else:
        for index, stride in zip(indices, place.strides, strict=True):
            offset = add(cx, offset, multiply(cx, index, stride))
    return address_at(cx, place, offset)


def address_at(cx: FunctionContext, place: BufferAddress, offset: Value) -> Value:
    """The address that lies a number of elements from a place."""
    if offset.text == "0":
        return place.pointer
    type_ = storage(place.dtype)
    return cx.asm.value("ptr", f"getelementptr inbounds {type_}, {place.pointer}, {offset}")


def emit_load(cx: FunctionContext, e: prim.BufferLoad) -> Value:
    tir_errors.check_rank(e.buffer, e.indices, e.span)
    place = cx.rules.place(cx, e.buffer, e.span)
    if e.dtype.lanes == 1:
        return load_scalar(cx, e, place)
    access = Access(cx, e.buffer, place, e.indices, e.span, e.predicate is not None)
    lanes, dtype = e.dtype.lanes, place.dtype
    if access.is_run:
        access.check_run()
        return read_number(cx, access.address(0), dtype.with_lanes(lanes))
    runs = None if access.open else runs_of(e, place)
    if runs is not None:
        first, second, places = runs
        return cx.asm.shuffle(emit_load(cx, first), emit_load(cx, second), places)
    mask = None if e.predicate is None else emit(cx, e.predicate)
    numbers = []
    for lane in range(lanes):
        if mask is None:
            access.check(lane)
            numbers.append(read_number(cx, access.address(lane), dtype))
        else:
            numbers.append(load_masked(cx, access, lane, mask))
    return cx.asm.join(numbers)


def runs_of(
    e: prim.BufferLoad, place: BufferAddress
) -> tuple[prim.BufferLoad, prim.BufferLoad, list[int]] | None:
    """Two runs that have every second element, or all of them backwards, and where each is."""
    *outer, last = e.indices
    if e.predicate is not None or place.strides is not None or not isinstance(last, prim.Ramp):
        return None
    lanes, step = last.lanes, getattr(last.stride, "value", 0)
    if any(index.dtype.lanes > 1 for index in outer) or step not in (2, -1):
        return None

    def run(ahead: int) -> prim.BufferLoad:
        base = last.base + prim.const(ahead, last.base.dtype)
        ramp = prim.Ramp(base, prim.const(1, base.dtype), lanes)
        return prim.BufferLoad(e.buffer, (*outer, ramp))

    if step < 0:
        backwards = run(1 - lanes)
        return backwards, backwards, list(range(lanes))[::-1]
    # The second one ends with the last element that is asked for.
    places = [2 * k if 2 * k < lanes else 2 * k + 1 for k in range(lanes)]
    return run(0), run(lanes - 1), places


def load_scalar(cx: FunctionContext, e: prim.BufferLoad, place: BufferAddress) -> Value:
    """An element, or zero where its predicate does not hold: then its indices do not count."""

    def element() -> Value:
        access = Access(cx, e.buffer, place, e.indices, e.span)
        access.check(0)
        return read_number(cx, access.address(0), place.dtype)

    if e.predicate is None:
        return element()
    zero = cx.asm.number(register(place.dtype), 0)
    return emit_branches(cx, e.predicate, emit(cx, e.predicate), element, lambda: zero)


def load_masked(cx: FunctionContext, access: Access, lane: int, mask: Value) -> Value:
    """An element, or zero where it is masked."""
    asm = cx.asm
    on, before = asm.extract(mask, lane), asm.current
    inside, after = asm.name(), asm.name()
    asm.branch(on, inside, after)
    asm.begin(inside)
    access.check(lane)
    number = read_number(cx, access.address(lane), access.place.dtype)
    last = asm.current
    asm.jump(after)
    asm.begin(after)
    zero = asm.number(number.type, 0).text
    return asm.value(
        number.type, f"phi {number.type} [{number.text}, %{last}], [{zero}, %{before}]"
    )


def emit_store(cx: FunctionContext, s: tir.BufferStore) -> None:
    lanes = max((i.dtype.lanes for i in s.indices), default=1)
    if lanes == 1 and s.predicate is not None:
        with where_holds(cx, emit(cx, s.predicate)), cx.scope(s.predicate):
            store_lanes(cx, s, lanes, None)
    else:
        store_lanes(cx, s, lanes, s.predicate)


def store_lanes(
    cx: FunctionContext, s: tir.BufferStore, lanes: int, predicate: prim.PrimExpr | None
) -> None:
    """Store all lanes, or those that are not masked, once all of them are checked."""
    place, asm = cx.rules.place(cx, s.buffer, s.span), cx.asm
    access = Access(cx, s.buffer, place, s.indices, s.span, predicate is not None)
    value = emit(cx, s.value)
    mask = None if predicate is None else emit(cx, predicate)
    if lanes > 1 and access.is_run:
        access.check_run()
        write_number(cx, access.address(0), value, s.value.dtype)
        return
    for lane in range(lanes if access.open else 0):
        with where_holds(cx, None if mask is None else asm.extract(mask, lane)):
            access.check(lane)
    for lane in range(lanes):
        with where_holds(cx, None if mask is None else asm.extract(mask, lane)):
            write_number(cx, access.address(lane), asm.extract(value, lane), place.dtype)


@contextmanager
def where_holds(cx: FunctionContext, condition: Value | None) -> Iterator[None]:
    """Code that runs only where a condition, if there is one, holds."""
    if condition is None:
        yield
        return
    inside, ahead = cx.asm.name(), cx.asm.name()
    cx.asm.branch(condition, inside, ahead)
    cx.asm.begin(inside)
    yield
    cx.asm.jump(ahead)
    cx.asm.begin(ahead)


def read_number(cx: FunctionContext, address: Value, dtype: DataType) -> Value:
    type_, align = storage(dtype), dtype.element.itemsize
    return cx.asm.from_memory(cx.asm.value(type_, f"load {type_}, {address}, align {align}"), dtype)


def write_number(cx: FunctionContext, address: Value, value: Value, dtype: DataType) -> None:
    stored = cx.asm.to_memory(value, dtype)
    cx.asm.do(f"store {stored}, {address}, align {dtype.element.itemsize}")


class Access:
    """The indices of a load or store, as numbers and as what is proved of them."""

    def __init__(
        self,
        cx: FunctionContext,
        buffer: tir.Buffer,
        place: BufferAddress,
        indices: Sequence[prim.PrimExpr],
        span: Span | None,
        masked: bool = False,
    ) -> None:
        self.cx, self.buffer, self.place, self.span = cx, buffer, place, span
        self.indices = indices
        last = indices[-1] if indices else None
        # Whether the lanes lie beside each other: then the first of them is enough.
        self.is_run = (
            not masked
            and isinstance(last, prim.Ramp)
            and isinstance(last.stride, prim.IntImm)
            and last.stride.value == 1
            and (place.strides is None or place.strides[-1].text == "1")
        )
        firsts = [last.base] if isinstance(last, prim.Ramp) and self.is_run else indices[-1:]
        self.sums = [index_of(cx, i) for i in (*indices[:-1], *firsts)]
        self.open = unproved_axes(cx, place, indices)

    def _at(self, lane: int) -> list[IndexSum]:
        asm = self.cx.asm
        return [
            sum_of(asm.extract(index.terms[0], lane)) if is_vector(index) else index
            for index in self.sums
        ]

    def address(self, lane: int) -> Value:
        """The address of a lane."""
        return address_of_element(self.cx, self.place, self._at(lane))

    def check(self, lane: int) -> None:
        """Fail unless a lane lies in the buffer."""
        at = self._at(lane) if self.open else []
        for k in self.open:
            check_index(self.cx, self._site(k), at[k].written(self.cx.asm), self.place.shape[k])

    def check_run(self) -> None:
        """Fail unless all lanes of a run lie in the buffer."""
        for k in self.open:
            site, number, extent = self._site(k), self._number(k), self.place.shape[k]
            if k < len(self.sums) - 1:
                check_index(self.cx, site, number, extent)
            else:
                check_run(self.cx, site, (number, self._last_of_run()), extent)

    def _number(self, axis: int) -> Value:
        return self.sums[axis].written(self.cx.asm)

    def _last_of_run(self) -> Value:
        """The last index of a run, which may have wrapped around in its dtype."""
        ramp = self.indices[-1]
        assert isinstance(ramp, prim.Ramp)
        dtype, asm = ramp.base.dtype, self.cx.asm
        first = asm.convert("trunc", self._number(-1), register(dtype))
        count = asm.number(first.type, ramp.lanes - 1)
        return asm.to_i64(asm.operation("add", first, count), dtype)

    def _site(self, axis: int) -> IndexSite:
        return IndexSite(self.buffer.name, axis, self.indices[axis].dtype, self.span)


def index_of(cx: FunctionContext, e: prim.PrimExpr) -> IndexSum:
    """An integer expression of 64 bits, in all lanes."""
    if e.__class__ is prim.IntImm and e.dtype.kind == "int":
        return IndexSum((), e.value)
    if cx.asm.as_written and e.dtype.kind == "int" and e.dtype.lanes == 1:
        return emit_sum(cx, e)
    value = emit_wide(cx, e)
    return IndexSum((value,), 0) if e.dtype.lanes > 1 else sum_of(value)


def is_vector(index: IndexSum) -> bool:
    """True for the indices of several lanes."""
    return len(index.terms) == 1 and index.terms[0].type.startswith("<")


def _lanes(value: Value) -> int:
    return int(value.type[1:].split()[0]) if value.type.startswith("<") else 1

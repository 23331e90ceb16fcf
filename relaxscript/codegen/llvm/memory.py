"""Code for memory: new memory, views, regions.

Small memory of constant size is on the stack, other memory on the heap until the function ends.
It begins as zeros where `CodegenOptions.zero_memory` wants it: then a program of somebody else's
does not read what the process kept there before. Otherwise it is not initialised. A view is
compared with the memory behind it where it is declared: what lies in the view then lies in the
memory.
Dimensions that do not fit their dtype are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.ir import prim, tir
from relaxscript.semantics import tir_errors

from .buffer_address import BufferAddress
from .context import FunctionContext
from .elements import add, address_at, emit_wide, i64, is_number, multiply, size_of, strides_of
from .ir_writer import Explain, Value
from .proofs import BoundedInteger
from .types import register, storage
from .value_ranges import limits

__all__ = [
    "allocate_memory",
    "constant_data",
    "declare_buffer",
    "emit_extent",
    "match_region",
    "new_buffer",
    "place_of",
    "terms_of",
    "view_of",
    "without_wrapping",
]

STACK_BYTES = 16 * 1024


def place_of(cx: FunctionContext, buffer: tir.Buffer, span: Span | None) -> BufferAddress:
    """The place of a buffer; one that is not declared lies over the memory of its pointer."""
    if buffer not in cx.places:
        if buffer.data not in cx.owners:
            raise tir_errors.undefined("buffer", buffer.name, span)
        return view_of(cx, buffer, cx.owners[buffer.data], span)
    return cx.places[buffer]


def allocate_memory(
    cx: FunctionContext, name: str, dtype: DataType, dims: Sequence[prim.PrimExpr], span: Any
) -> BufferAddress:
    """New memory for so many elements, and a place at its start."""
    type_, extents = storage(dtype, span), terms_of(cx, dims)
    with without_wrapping(cx, lambda details: tir_errors.out_of_memory(name, span)):
        shape = [emit_extent(cx, e) for e in dims]
    if all(is_number(extent) and int(extent.text) >= 0 for extent in shape):
        size = prod(int(extent.text) for extent in shape)
        bytes_ = max(size, 1) * dtype.itemsize
        if cx.stack_bytes + bytes_ <= STACK_BYTES:
            cx.stack_bytes += bytes_
            name_ = cx.asm.name()
            cx.asm.types[name_] = "ptr"
            pointer = Value("ptr", f"%{name_}")
            # An array type, not a count: only then may LLVM keep the elements in registers.
            cx.asm.entry.append(f"{pointer.text} = alloca [{max(size, 1)} x {type_}], align 64")
            if cx.options.zero_memory:
                clear_memory(cx, pointer, bytes_)
            return BufferAddress(pointer, dtype, tuple(shape), extents)
    return BufferAddress(heap_memory(cx, name, dtype, shape, span), dtype, tuple(shape), extents)


def clear_memory(cx: FunctionContext, pointer: Value, bytes_: int) -> None:
    """Write zeros each time that the memory is new; LLVM drops those that nobody reads."""
    cx.asm.sites.declare("llvm.memset", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    cx.asm.do(
        f"call void @llvm.memset.p0.i64(ptr align 64 {pointer.text}, i8 0, i64 {bytes_}, i1 0)"
    )


def heap_memory(
    cx: FunctionContext, name: str, dtype: DataType, shape: Sequence[Value], span: Any
) -> Value:
    """Memory that is released when the function ends, or when this is run again."""
    asm = cx.asm
    if cx.options.zero_memory:
        asm.sites.declare("calloc", "declare noalias ptr @calloc(i64, i64)")
    else:
        asm.sites.declare("malloc", "declare noalias ptr @malloc(i64)")
    asm.sites.declare("free", "declare void @free(ptr)")
    slot = f"%{asm.name()}"
    asm.entry += [f"{slot} = alloca ptr", f"store ptr null, ptr {slot}"]
    held = f"{slot}.held"
    asm.leave += [f"{held} = load ptr, ptr {slot}", f"call void @free(ptr {held})"]
    bytes_ = i64(cx, dtype.itemsize)
    for extent in shape:
        negative = asm.compare("icmp slt", extent, i64(cx, 0))
        asm.fail_if(negative, lambda details: tir_errors.does_not_fit(name, span))
    for extent in shape:
        bytes_ = size_in_bytes(cx, name, bytes_, extent, span)
    old = asm.value("ptr", f"load ptr, ptr {slot}")
    asm.do(f"call void @free({old})")
    asm.do(f"store ptr null, ptr {slot}")
    bytes_ = asm.intrinsic("umax", [bytes_, i64(cx, 1)])
    call = f"@calloc(i64 1, {bytes_})" if cx.options.zero_memory else f"@malloc({bytes_})"
    new = asm.value("ptr", f"call noalias ptr {call}")
    asm.do(f"store {new}, ptr {slot}")
    none = asm.value("i1", f"icmp eq {new}, null")
    asm.fail_if(none, lambda details: tir_errors.out_of_memory(name, span))
    return new


def size_in_bytes(cx: FunctionContext, name: str, bytes_: Value, extent: Value, span: Any) -> Value:
    """A product that fails where there cannot be so much memory."""
    size, beyond = cx.asm.overflowing("umul", bytes_, extent)
    cx.asm.fail_if(beyond, lambda details: tir_errors.out_of_memory(name, span))
    return size


def constant_data(cx: FunctionContext, s: tir.AllocateConst) -> BufferAddress:
    """A private copy of constant data."""
    array = np.ascontiguousarray(np.array(s.data, s.dtype.numpy).reshape(-1))
    raw = array.tobytes()
    text = "".join(f"\\{byte:02X}" for byte in raw)
    name = f"relaxscript.data.{len(cx.asm.sites.declarations)}"
    cx.asm.sites.declare(name, f'@{name} = private constant [{len(raw)} x i8] c"{text}", align 64')
    size = prim.const(array.size, "int64")
    place = allocate_memory(cx, s.buffer_var.name, s.dtype, [size], s.span)
    cx.asm.sites.declare("llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    cx.asm.do(
        f"call void @llvm.memcpy.p0.p0.i64({place.pointer}, ptr @{name}, i64 {len(raw)}, i1 0)"
    )
    return place


def declare_buffer(cx: FunctionContext, buffer: tir.Buffer, span: Span | None) -> None:
    """A view of the memory of its pointer; where there is none, each time new memory."""
    data = buffer.data
    if data not in cx.owners or cx.declared_memory.get(data) is buffer:
        cx.declared_memory[data] = buffer
        new_buffer(cx, buffer, span)
    else:
        view_of(cx, buffer, cx.owners[data], span)


def new_buffer(cx: FunctionContext, buffer: tir.Buffer, span: Span | None) -> None:
    """Compact memory of its own for a buffer."""
    cx.define(buffer, allocate_memory(cx, buffer.name, buffer.dtype, buffer.shape, span))


def emit_extent(cx: FunctionContext, e: prim.PrimExpr) -> Value:
    """A dimension as i64."""
    return i64(cx, e.value) if isinstance(e, prim.IntImm) else emit_wide(cx, e)


def terms_of(cx: FunctionContext, dims: Sequence[prim.PrimExpr]) -> tuple[BoundedInteger, ...]:
    """Dimensions as they are known."""
    return tuple([cx.proofs.read(e) for e in dims])


@contextmanager
def without_wrapping(cx: FunctionContext, explain: Explain) -> Iterator[None]:
    """A scope in which sums and products fail instead of wrapping."""
    outer, cx.wraps = cx.wraps, explain
    yield
    cx.wraps = outer


def view_of(
    cx: FunctionContext, buffer: tir.Buffer, owner: BufferAddress, span: Span | None
) -> BufferAddress:
    """A buffer over the memory behind a pointer."""
    storage(buffer.dtype, span)
    if owner.strides is not None:
        raise tir_errors.invalid(
            "RX0505", f"buffer `{buffer.name}` is declared over memory with strides", span
        )
    name, start = buffer.name, buffer.elem_offset
    if start is None:
        start = prim.const(0, "int64")
    with without_wrapping(cx, lambda details: tir_errors.does_not_fit(name, span)):
        shape = tuple([emit_extent(cx, e) for e in buffer.shape])
        offset = emit_extent(cx, start)
        strides = tuple([emit_extent(cx, e) for e in buffer.strides]) or None
    place = BufferAddress(owner.pointer, buffer.dtype, shape, terms_of(cx, buffer.shape), strides)
    if cx.options.check and not surely_fits(cx, buffer, start, place, owner):
        require_fit(cx, name, offset, place, owner, span)
    place = replace(place, pointer=address_at(cx, place, offset))
    cx.declare(buffer, place)
    return place


def surely_fits(
    cx: FunctionContext,
    buffer: tir.Buffer,
    start: prim.PrimExpr,
    place: BufferAddress,
    owner: BufferAddress,
) -> bool:
    """True if it is proved that a view lies in the memory behind it."""
    proofs = cx.proofs
    end, sizes = proofs.read(start), place.extents
    strides = terms_of(cx, buffer.strides)
    if any(term.low < 0 for term in (end, *strides)) or any(n.low < 0 for n in sizes):
        return False
    if place.strides is None:
        end = proofs.sum(end, proofs.product(sizes))
    else:
        if any(n.low < 1 for n in sizes):
            return False
        for n, stride in zip(sizes, strides, strict=True):
            reach = proofs.product((proofs.sum(n, proofs.number(-1)), stride))
            end = proofs.sum(end, reach)
        end = proofs.sum(end, proofs.number(1))
    itemsizes = [proofs.number(p.dtype.itemsize) for p in (place, owner)]
    have = proofs.product((*owner.extents, itemsizes[1]))
    return proofs.is_below(proofs.product((end, itemsizes[0])), have, equal=True)


def require_fit(
    cx: FunctionContext,
    name: str,
    start: Value,
    place: BufferAddress,
    owner: BufferAddress,
    span: Span | None,
) -> None:
    """Fail unless a view lies in the memory behind it; one without elements lies anywhere."""
    asm, none = cx.asm, i64(cx, 0)
    for n in place.shape:
        negative = asm.compare("icmp slt", n, none)
        asm.fail_if(negative, lambda details: tir_errors.does_not_fit(name, span))
    have = asm.operation("udiv", size_of(cx, owner), i64(cx, place.dtype.itemsize))
    beyond, empty = [], Value("i1", "false")
    for n in place.shape:
        empty = asm.operation("or", empty, asm.compare("icmp eq", n, none))

    def exact(name: str, a: Value, b: Value) -> Value:
        value, wraps = asm.overflowing(f"s{name}", a, b)
        beyond.append(wraps)
        return value

    first = last = start
    step = i64(cx, 1)
    for k in range(len(place.shape) - 1, -1, -1):
        n = place.shape[k]
        at = step if place.strides is None else place.strides[k]
        reach = exact("mul", asm.operation("sub", n, i64(cx, 1)), at)
        first = exact("add", first, asm.intrinsic("smin", [reach, none]))
        last = exact("add", last, asm.intrinsic("smax", [reach, none]))
        if place.strides is None and k:
            step = exact("mul", step, n)
    beyond.append(asm.compare("icmp slt", first, none))
    beyond.append(asm.compare("icmp sge", last, have))
    outside = Value("i1", "false")
    for condition in beyond:
        outside = asm.operation("or", outside, condition)
    some = asm.operation("xor", empty, asm.number("i1", 1))
    asm.fail_if(
        asm.operation("and", outside, some), lambda details: tir_errors.does_not_fit(name, span)
    )


def match_region(cx: FunctionContext, m: tir.MatchBufferRegion) -> None:
    """A name for a region of a buffer; variables in its layout take their values."""
    source, buffer, span = m.source, m.buffer, m.span or m.buffer.span
    tir_errors.check_region(m)
    outer = place_of(cx, source.buffer, span)
    strides = strides_of(cx, outer)
    offset, cut = i64(cx, 0), []
    for axis, r in enumerate(source.region):
        start, extent, term = cut_region(cx, source.buffer.name, outer, axis, r, span)
        offset = add(cx, offset, multiply(cx, start, strides[axis]))
        cut.append((extent, term))
    dropped = len(cut) - buffer.ndim
    sizes = [extent for extent, _ in cut]
    for extent in sizes[:dropped]:
        require_equal(cx, buffer.name, extent, i64(cx, 1), sizes, span)
    kept = cut[dropped:]
    layout = list(zip(buffer.strides, strides[dropped:], strict=False))
    if buffer.elem_offset is not None:
        layout.append((buffer.elem_offset, offset))
    pairs = list(zip(buffer.shape, kept, strict=True))
    fixed = [(e, extent) for e, (extent, term) in pairs if not bind_dimension(cx, e, extent, term)]
    for e, value in layout:
        bind_dimension(cx, e, value, cx.proofs.unknown(limits(prim.INT64)))
    for e, extent in fixed:
        require_equal(cx, buffer.name, emit_extent(cx, e), extent, sizes[dropped:], span)
    place = BufferAddress(
        address_at(cx, outer, offset),
        buffer.dtype,
        tuple([extent for extent, _ in kept]),
        tuple([term for _, term in kept]),
        None if outer.strides is None and len(cut) == 1 else tuple(strides[dropped:]),
    )
    cx.define(buffer, place)


def cut_region(
    cx: FunctionContext, name: str, outer: BufferAddress, axis: int, r: tir.Range, span: Span | None
) -> tuple[Value, Value, BoundedInteger]:
    """The begin of a region along an axis, and its number of elements, at least 0."""
    asm, proofs = cx.asm, cx.proofs
    start, extent, size = emit_wide(cx, r.min), emit_extent(cx, r.extent), outer.shape[axis]
    term = proofs.read(r.extent)
    known = proofs.is_region(r.min, r.extent, outer.extents[axis])
    if cx.options.check and not known:
        below = asm.compare("icmp slt", start, i64(cx, 0))
        # No sum wraps: `size - start` is computed of two numbers that are not negative.
        room = asm.operation("sub", size, start)
        beyond = asm.operation("or", below, asm.compare("icmp sgt", extent, room))
        last = asm.operation("sub", asm.operation("add", start, extent), i64(cx, 1))
        asm.fail_if(
            beyond,
            lambda details: tir_errors.out_of_bounds(name, axis, details[0], details[1], span),
            [asm.choose(below, start, last), size],
        )
    if term.low < 0:
        extent = asm.intrinsic("smax", [extent, i64(cx, 0)])
        term = proofs.unknown((0, max(term.high, 0)))
    return start, extent, term


def bind_dimension(
    cx: FunctionContext, e: prim.PrimExpr, actual: Value, term: BoundedInteger
) -> bool:
    """True if an expression is a new variable, which then has a value from here on."""
    if not isinstance(e, prim.Var) or e in cx.values:
        return False
    cx.values[e] = cx.asm.convert("trunc", actual, register(e.dtype))
    cx.proofs.let(e, term)
    return True


def require_equal(
    cx: FunctionContext, name: str, a: Value, b: Value, shape: Sequence[Value], span: Span | None
) -> None:
    """Fail where a dimension is not that of the region, whose shape this is."""
    if a.text == b.text:
        return
    differs = cx.asm.compare("icmp ne", a, b)
    count = len(shape)
    cx.asm.fail_if(
        differs, lambda details: tir_errors.region_mismatch(name, details[:count], span), shape
    )

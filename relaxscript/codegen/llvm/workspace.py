"""One memory for all buffers of a row of calls, which share it where they do not live together.

    t0 = T.alloc_buffer((n, 64))        # slot 0
    t1 = T.alloc_buffer((n, 10))        # slot 1
    t2 = T.alloc_buffer((n, 64))        # slot 0 again: t0 is dead
    cls.matmul(x.data, w.data, t0.data)
    cls.matmul1(t0.data, v.data, t1.data)
    cls.softmax(t1.data, t2.data)

A buffer lives from the first call that is given it to the last. It takes a slot that is free, of
its own size if there is one. A slot is as large as the largest of its buffers, which the run shows
where sizes are variables. The whole is asked for once in a call, or is on the stack if it is small:
that is what an allocation of each buffer would cost many times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir import prim, tir
from relaxscript.ir.relax import GlobalVar
from relaxscript.semantics import tir_errors

from .buffer_address import BufferAddress
from .context import FunctionContext
from .elements import i64, is_number
from .ir_writer import Value
from .memory import (
    STACK_BYTES,
    emit_extent,
    heap_memory,
    size_in_bytes,
    terms_of,
    without_wrapping,
)

__all__ = ["allocate_workspace", "is_row_of_calls", "plan_slots"]

# Each buffer begins where vectors and lines of a cache do.
_ALIGNMENT = 64


class _Slot(NamedTuple):
    """A part of the memory: its buffers, and the last call that uses one of them."""

    buffers: list[tir.Buffer]
    last: int


def is_row_of_calls(block: tir.Block) -> bool:
    """True if a block does nothing but call PrimFuncs, on memory of its own among others."""
    return bool(block.alloc_buffers) and all(
        isinstance(s, tir.Evaluate)
        and isinstance(s.value, prim.Call)
        and isinstance(s.value.op, GlobalVar)
        for s in _statements(block)
    )


def _statements(block: tir.Block) -> Sequence[tir.Stmt]:
    return block.body.seq if isinstance(block.body, tir.SeqStmt) else (block.body,)


def plan_slots(block: tir.Block) -> list[list[tir.Buffer]]:
    """The buffers of a row of calls, those together that have one slot."""
    own = {buffer.data: buffer for buffer in block.alloc_buffers}
    first: dict[tir.Buffer, int] = {}
    last: dict[tir.Buffer, int] = {}
    for number, s in enumerate(_statements(block)):
        assert isinstance(s, tir.Evaluate)
        assert isinstance(s.value, prim.Call)
        for arg in s.value.args:
            buffer = own.get(arg) if isinstance(arg, prim.Var) else None
            if buffer is not None:
                first.setdefault(buffer, number)
                last[buffer] = number
    slots: list[_Slot] = []
    for buffer in sorted(first, key=first.__getitem__):
        free = [k for k, slot in enumerate(slots) if slot.last < first[buffer]]
        best = min(free, key=lambda k: _distance(slots[k].buffers[0], buffer), default=None)
        if best is None:
            slots.append(_Slot([buffer], last[buffer]))
        else:
            slots[best] = _Slot([*slots[best].buffers, buffer], last[buffer])
    return [slot.buffers for slot in slots]


def _distance(one: tir.Buffer, other: tir.Buffer) -> tuple[bool, int]:
    """The difference between the sizes of two buffers, as far as it is known."""
    sizes = []
    variables = []
    for buffer in (one, other):
        size, unknown = buffer.dtype.itemsize, []
        for dim in buffer.shape:
            if isinstance(dim, prim.IntImm):
                size *= dim.value
            else:
                unknown.append(str(dim))
        sizes.append(size)
        variables.append(sorted(unknown))
    return variables[0] != variables[1], abs(sizes[0] - sizes[1])


def allocate_workspace(cx: FunctionContext, block: tir.Block) -> None:
    """Memory for all buffers of a row of calls."""
    offset, starts = i64(cx, 0), []
    slots = plan_slots(block)
    shapes = {buffer: _shape(cx, buffer) for slot in slots for buffer in slot}
    for slot in slots:
        starts.append(offset)
        largest = i64(cx, 0)
        for buffer in slot:
            bytes_ = _bytes(cx, buffer, shapes[buffer], block)
            largest = _maximum(cx, largest, bytes_)
        offset = _sum(cx, offset, largest, block)
    memory = _memory(cx, offset, block)
    for slot, start in zip(slots, starts, strict=True):
        place = cx.asm.value("ptr", f"getelementptr i8, {memory}, {start}")
        for buffer in slot:
            extents = terms_of(cx, buffer.shape)
            cx.define(buffer, BufferAddress(place, buffer.dtype, shapes[buffer], extents))


def _shape(cx: FunctionContext, buffer: tir.Buffer) -> tuple[Value, ...]:
    with without_wrapping(cx, lambda details: tir_errors.out_of_memory(buffer.name, None)):
        return tuple([emit_extent(cx, e) for e in buffer.shape])


def _bytes(
    cx: FunctionContext, buffer: tir.Buffer, shape: Sequence[Value], block: tir.Block
) -> Value:
    """The size of a buffer, a multiple of the alignment."""
    asm, bytes_, span = cx.asm, i64(cx, buffer.dtype.itemsize), block.span
    name = buffer.name
    for extent in shape:
        if is_number(extent) and is_number(bytes_):
            bytes_ = i64(cx, int(bytes_.text) * max(int(extent.text), 0))
            continue
        negative = asm.compare("icmp slt", extent, i64(cx, 0))
        asm.fail_if(negative, lambda details: tir_errors.does_not_fit(name, span))
        bytes_ = size_in_bytes(cx, name, bytes_, extent, span)
    if is_number(bytes_):
        return i64(cx, -(-int(bytes_.text) // _ALIGNMENT) * _ALIGNMENT)
    above = _sum(cx, bytes_, i64(cx, _ALIGNMENT - 1), block)
    return asm.operation("and", above, i64(cx, -_ALIGNMENT))


def _maximum(cx: FunctionContext, a: Value, b: Value) -> Value:
    if is_number(a) and is_number(b):
        return i64(cx, max(int(a.text), int(b.text)))
    return cx.asm.intrinsic("umax", [a, b])


def _sum(cx: FunctionContext, a: Value, b: Value, block: tir.Block) -> Value:
    """A sum that fails where there cannot be so much memory."""
    if is_number(a) and is_number(b):
        return i64(cx, int(a.text) + int(b.text))
    total, beyond = cx.asm.overflowing("uadd", a, b)
    cx.asm.fail_if(beyond, lambda details: tir_errors.out_of_memory("workspace", block.span))
    return total


def _memory(cx: FunctionContext, size: Value, block: tir.Block) -> Value:
    """So many bytes, aligned."""
    asm = cx.asm
    if is_number(size) and cx.stack_bytes + int(size.text) <= STACK_BYTES:
        bytes_ = max(int(size.text), 1)
        cx.stack_bytes += bytes_
        pointer = f"%{asm.name()}"
        asm.entry.append(f"{pointer} = alloca [{bytes_} x i8], align {_ALIGNMENT}")
        return Value("ptr", pointer)
    total = _sum(cx, size, i64(cx, _ALIGNMENT), block)
    held = heap_memory(cx, "workspace", DataType("uint8"), [total], block.span)
    number = asm.value("i64", f"ptrtoint {held} to i64")
    gap = asm.operation("and", asm.operation("sub", i64(cx, 0), number), i64(cx, _ALIGNMENT - 1))
    return asm.value("ptr", f"getelementptr i8, {held}, {gap}")
